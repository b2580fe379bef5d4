"""A Spack recipe: put this file into a repository of yours as packages/tactus/package.py, then spack install tactus."""
from spack.package import *


class Tactus(CMakePackage):
    """Simulates thin deformable bodies in contact over MPI; the same scene gives the same bits on any number of processes."""

    git = "file:///path/to/tactus"  # where your clone is

    license("Apache-2.0")
    version("main", branch="main")

    variant("python", default=True, description="the Python package tactus")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10.7: +mpi")
    depends_on("metis@5")
    depends_on("jansson@2.13:")
    depends_on("openssl@1.1.1:")
    depends_on("zlib-api")
    depends_on("expat")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type="run", when="+python")
    depends_on("py-h5py", type="run", when="+python")

    def cmake_args(self):
        return [self.define("BUILD_TESTING", self.run_tests), self.define("TACTUS_WERROR", False)]
