/* no_parallel_files.c: what the serial HDF5 library lacks. A simulated run reads and writes no file by several ranks.
 */
#include <hdf5.h>

herr_t H5Pset_fapl_mpio(hid_t access, MPI_Comm comm, MPI_Info info)
{
    (void)access, (void)comm, (void)info;
    return -1;
}

herr_t H5Pset_dxpl_mpio(hid_t transfer, H5FD_mpio_xfer_t mode)
{
    (void)transfer, (void)mode;
    return -1;
}
