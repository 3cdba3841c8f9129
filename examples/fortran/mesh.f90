! SPDX-License-Identifier: BSD-3-Clause
! An unstructured mesh: each rank has some of its nodes, in any order, and copies of nodes of its
! neighbours (halos), which it does not write.
program mesh
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: nodes = 60
  type(iocomp_session) :: io
  type(iocomp_file) :: out
  type(iocomp_var) :: pressure
  type(iocomp_decomp) :: part
  type(MPI_Comm) :: comm
  integer, allocatable :: mine(:)
  integer :: rank, ranks, step, i

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  ! Nodes, counted from 1, are dealt like cards, the last first. A halo node, 0 here, comes before.
  mine = [0, pack([(i, i=nodes, 1, -1)], mod([(i, i=nodes, 1, -1)] - 1, ranks) == rank)]
  call iocomp_decomp_map(io, [nodes], mine, part) ! said once, used for each variable and step
  call iocomp_open(io, "mesh", IOCOMP_SERIES, out)
  call iocomp_define(out, "pressure", IOCOMP_FLOAT64, [nodes], pressure)
  do step = 0, 2
    call iocomp_put_buffered(pressure, real((mine - 1)**2 + step, real64), decomp=part)
    call iocomp_end_step(out)
  end do
  call iocomp_close(out)
  call iocomp_decomp_free(part)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
