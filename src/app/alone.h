/* alone.h: a process started without mpirun.
 *
 * Open MPI gives every such process of a user the same session folder, and each removes it when it ends: of two runs
 * started side by side one may find it gone.  So each gets a folder of its own. */
#ifndef TACTUS_APP_ALONE_H
#define TACTUS_APP_ALONE_H

/* Before MPI_Init. Does nothing under mpirun or srun, or where the user chose a folder (OMPI_MCA_orte_tmpdir_base). */
void tac_alone_begin(void);
/* After MPI_Finalize: removes the folder. */
void tac_alone_end(void);

#endif
