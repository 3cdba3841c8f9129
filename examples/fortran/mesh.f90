! SPDX-License-Identifier: BSD-3-Clause
! An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
! neighbours (halos), which it does not write. The first rank puts the mesh, so that
! `iocomp describe mesh.bin` can make a file of it that ParaView opens.
program mesh
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: nodes = 60, cells = nodes/2 - 1, corners = 4
  type(iocomp_session) :: io
  type(iocomp_file) :: out
  type(iocomp_var) :: pressure, points, connectivity, offsets, types
  type(iocomp_decomp) :: part
  type(MPI_Comm) :: comm
  integer, allocatable :: mine(:)
  ! Two rows of nodes, and squares between them. Nodes are counted from 0 here, as VTK does.
  real(real64), asynchronous :: xyz(3, nodes)
  integer(int64), asynchronous :: around(corners*cells), ends(0:cells)
  integer(int8), asynchronous :: kinds(cells)
  integer :: rank, ranks, step, i

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  ! Nodes, counted from 1, are dealt like cards, the last first. A halo node, 0 here, comes before.
  mine = [0, pack([(i, i=nodes, 1, -1)], mod([(i, i=nodes, 1, -1)] - 1, ranks) == rank)]
  call iocomp_decompose(io, [nodes], mine, part) ! said once, used for each variable and step
  call iocomp_open(io, "mesh", IOCOMP_SERIES, out)
  call iocomp_define(out, "points", IOCOMP_FLOAT64, [3, nodes], points, dims=["xyz ", "node"])
  call iocomp_define(out, "connectivity", IOCOMP_INT64, [corners*cells], connectivity, dims=["corner"])
  call iocomp_define(out, "offsets", IOCOMP_INT64, [cells + 1], offsets, dims=["cell_end"])
  call iocomp_define(out, "types", IOCOMP_UINT8, [cells], types, dims=["cell"])
  call iocomp_set_attribute(out, "mesh_points", "points") ! each names the variable
  call iocomp_set_attribute(out, "mesh_connectivity", "connectivity")
  call iocomp_set_attribute(out, "mesh_offsets", "offsets")
  call iocomp_set_attribute(out, "mesh_types", "types")
  call iocomp_define(out, "pressure", IOCOMP_FLOAT64, [nodes], pressure, dims=["node", "time"])
  if (rank == 0) then ! once
    xyz = reshape([(real([(i - 1)/2, mod(i - 1, 2), 0], real64), i=1, nodes)], [3, nodes])
    around = [(2*(i - 1) + [0, 2, 3, 1], i=1, cells)]
    ends = [(corners*i, i=0, cells)]
    kinds = 9 ! VTK's number of a quadrilateral
    call iocomp_put(points, xyz)
    call iocomp_put(connectivity, around)
    call iocomp_put(offsets, ends)
    call iocomp_put(types, kinds)
  end if
  do step = 0, 2
    call iocomp_put_buffered(pressure, real((mine - 1)**2 + step, real64), decomp=part)
    call iocomp_end_step(out)
  end do
  call iocomp_close(out)
  call iocomp_decomp_free(part)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
