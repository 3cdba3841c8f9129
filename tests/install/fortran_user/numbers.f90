! SPDX-License-Identifier: BSD-3-Clause
! Writes the numbers 0 to 999 into numbers.bin, each compute rank its part of them.
program numbers
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: total = 1000
  integer(int64), allocatable, asynchronous :: values(:)
  type(iocomp_session) :: io
  type(iocomp_file) :: file
  type(iocomp_var) :: var
  type(iocomp_ticket) :: ticket
  type(MPI_Comm) :: comm
  integer :: rank, ranks, first, i

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  first = total*rank/ranks
  values = [(int(i, int64), i=first, total*(rank + 1)/ranks - 1)]
  call iocomp_open(io, "numbers", IOCOMP_SERIES, file)
  call iocomp_define(file, "numbers", IOCOMP_INT64, [total], var)
  call iocomp_put(var, values, start=[first + 1], ticket=ticket)
  call iocomp_end_step(file)
  call iocomp_wait(ticket)
  call iocomp_close(file)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
