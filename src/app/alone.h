/* alone.h: a process started without mpirun.
 *
 * Open MPI gives every such process of a user the same session folder, and each removes it when it ends: of two runs
 * started side by side one may find it gone.  So each gets a folder of its own, tactus-mpi-XXXXXX in $TMPDIR or /tmp. A
 * killed process leaves it; the next one that starts on the machine removes it, if it is the same user's. */
#ifndef TACTUS_APP_ALONE_H
#define TACTUS_APP_ALONE_H

/* Before MPI_Init of a process that was started alone.  No folder where the user chose one (OMPI_MCA_orte_tmpdir_base).
 */
void tac_alone_begin(void);
/* After MPI_Finalize: removes the folder. */
void tac_alone_end(void);

#endif
