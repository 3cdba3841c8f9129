# SPDX-License-Identifier: BSD-3-Clause
"""Poisson's equation by FEniCSx (dolfinx): the values of the solution go out through iocomp.

The nodes of a function are numbered over all ranks, and each rank owns a range of them.

    mpirun -n 4 python3 dolfinx_poisson.py
"""

import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem import petsc
from mpi4py import MPI

import iocomp

# PETSc works on MPI_COMM_WORLD until the end of the program: servers, if any, return for that.
with iocomp.Session(settings={"server": {"end": "return"}}) as io:
    if io.comm != MPI.COMM_NULL:
        domain = mesh.create_unit_square(io.comm, 32, 32)
        space = fem.FunctionSpace(domain, ("Lagrange", 1))
        exact = fem.Function(space)
        exact.interpolate(lambda x: 1 + x[0] ** 2 + 2 * x[1] ** 2)
        trial, test = ufl.TrialFunction(space), ufl.TestFunction(space)
        inner = domain.topology.dim - 1
        domain.topology.create_connectivity(inner, inner + 1)
        border = mesh.exterior_facet_indices(domain.topology)
        dofs = fem.locate_dofs_topological(space, inner, border)
        problem = petsc.LinearProblem(
            ufl.dot(ufl.grad(trial), ufl.grad(test)) * ufl.dx,
            fem.Constant(domain, -6.0) * test * ufl.dx,
            bcs=[fem.dirichletbc(exact, dofs)],
            petsc_options={"ksp_type": "cg", "ksp_rtol": 1e-12},
        )
        solution = problem.solve()

        owned = space.dofmap.index_map.size_local  # halos (ghosts) come behind
        with io.open("solution") as out:
            u = out.define("u", "f8", (0,))
            x = out.define("x", "f8", (0, 3))
            rows = out.set_rows({u: owned, x: owned})  # ranges follow one another by rank
            u.put(solution.x.array[:owned], (rows[0].first,))
            x.put(
                np.ascontiguousarray(space.tabulate_dof_coordinates()[:owned]), (rows[1].first, 0)
            )
            out.end_step()
