/* petsc.h: declares the kind of solver "petsc" (solver.h), in builds that have PETSc (docs/how-to/use-petsc.md). */
#ifndef TACTUS_SOLVE_PETSC_H
#define TACTUS_SOLVE_PETSC_H

#include "solve/solver.h"

extern const struct tac_solver_kind tac_solver_petsc;

#endif
