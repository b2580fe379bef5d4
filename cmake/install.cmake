# Installing: the program, the library, its headers, find_package(tactus) and pkg-config's tactus.pc.
# Everything is relative to the prefix, so a folder that was installed can be moved or packed.

set_target_properties(tactus PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(TACTUS_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tactus)
file(RELATIVE_PATH TACTUS_BIN_TO_LIB /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(tactus-program PROPERTIES INSTALL_RPATH "$ORIGIN/${TACTUS_BIN_TO_LIB}")

install(TARGETS tactus EXPORT tactus-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(NOT TACTUS_SHARED STREQUAL tactus) # for Python; without the name that -ltactus would prefer to the static one
  set_target_properties(${TACTUS_SHARED} PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  install(TARGETS ${TACTUS_SHARED} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
install(TARGETS tactus-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/tactus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL PATTERN site EXCLUDE)
install(DIRECTORY jobs/scenes/ jobs/experiments DESTINATION ${CMAKE_INSTALL_DOCDIR}/scenes FILES_MATCHING PATTERN "*.json")

# find_package(tactus)
install(EXPORT tactus-targets NAMESPACE tactus:: DESTINATION ${TACTUS_CONFIG_DIR})
configure_package_config_file(cmake/tactus-config.cmake.in ${CMAKE_BINARY_DIR}/tactus-config.cmake
  INSTALL_DESTINATION ${TACTUS_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tactus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tactus-config.cmake ${CMAKE_BINARY_DIR}/tactus-config-version.cmake
  DESTINATION ${TACTUS_CONFIG_DIR})

# pkg-config tactus. The public headers include mpi.h and jansson.h. MPI and HDF5 go by different names on different
# systems; where they have none, their flags are written out. A static library passes on what it was built with.
pkg_search_module(TACTUS_PC_MPI QUIET ompi-c mpich mpi-c)
pkg_search_module(TACTUS_PC_HDF5 QUIET hdf5-openmpi hdf5-mpich hdf5)
set(TACTUS_PC_REQUIRES "jansson >= 2.13")
set(TACTUS_PC_CFLAGS "")
set(TACTUS_PC_LIBS "")
set(TACTUS_PC_LIBS_PRIVATE "")
if(TACTUS_PC_MPI_FOUND)
  string(APPEND TACTUS_PC_REQUIRES ", ${TACTUS_PC_MPI_MODULE_NAME}")
else()
  foreach(dir ${MPI_C_INCLUDE_DIRS})
    string(APPEND TACTUS_PC_CFLAGS " -I${dir}")
  endforeach()
  string(JOIN " " libraries ${MPI_C_LIBRARIES})
  string(APPEND TACTUS_PC_LIBS " ${libraries}")
endif()
set(private_requires "libcrypto >= 1.1.1, zlib, expat")
if(TACTUS_PC_HDF5_FOUND)
  string(APPEND private_requires ", ${TACTUS_PC_HDF5_MODULE_NAME}")
else()
  string(JOIN " " TACTUS_PC_LIBS_PRIVATE ${HDF5_LIBRARIES})
endif()
if(PETSC_FOUND)
  string(APPEND private_requires ", PETSc >= 3.18")
endif()
string(APPEND TACTUS_PC_LIBS_PRIVATE " ${METIS_LIBRARY} -lm")
if(BUILD_SHARED_LIBS)
  set(TACTUS_PC_REQUIRES_PRIVATE ${private_requires})
else()
  string(APPEND TACTUS_PC_REQUIRES ", ${private_requires}")
  string(APPEND TACTUS_PC_LIBS " ${TACTUS_PC_LIBS_PRIVATE}")
  set(TACTUS_PC_LIBS_PRIVATE "")
endif()
file(RELATIVE_PATH TACTUS_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TACTUS_PC_TO_PREFIX "${TACTUS_PC_TO_PREFIX}")
configure_file(cmake/tactus.pc.in ${CMAKE_BINARY_DIR}/tactus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tactus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package.  Where it goes depends on the prefix, which is known when it is installed: below ~/.local and other
# prefixes Python looks in site-packages, below /usr and /usr/local Debian's looks in dist-packages.
find_package(Python3 COMPONENTS Interpreter)
set(TACTUS_PYTHON_DIR "" CACHE STRING "Where the Python package goes, relative to the prefix; empty: where python3 looks")
if(Python3_FOUND)
  file(GLOB TACTUS_PYTHON_FILES CONFIGURE_DEPENDS src/python/tactus/*.py)
  list(FILTER TACTUS_PYTHON_FILES EXCLUDE REGEX "/_where.py$")
  set(TACTUS_PYTHON_SONAME libtactus.so.${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  configure_file(cmake/python.cmake.in ${CMAKE_BINARY_DIR}/python.cmake @ONLY)
  install(SCRIPT ${CMAKE_BINARY_DIR}/python.cmake)
endif()
