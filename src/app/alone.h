/* alone.h: sets up a process that was started without mpirun.
 *
 * Open MPI gives all such processes of a user the same session folder, and each process removes it when it ends. Of two
 * runs that were started side by side, one may find that the folder is gone. So each process gets a folder of its own,
 * tactus-mpi-XXXXXX in $TMPDIR or /tmp. A killed process leaves its folder; the next process of the same user on the
 * machine removes it. */
#ifndef TACTUS_APP_ALONE_H
#define TACTUS_APP_ALONE_H

/* Makes the folder; call it before MPI_Init in a process that was started alone. Does nothing if the user chose a
 * folder (OMPI_MCA_orte_tmpdir_base).
 */
void tac_alone_begin(void);
/* Removes the folder; call it after MPI_Finalize. */
void tac_alone_end(void);

#endif
