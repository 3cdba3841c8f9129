! SPDX-License-Identifier: BSD-3-Clause
! A program of before MPI-3: communicators are integers.
program uses_mpi
  use mpi
  use iocomp
  implicit none
  type(iocomp_session) :: session
  type(iocomp_file) :: file
  type(iocomp_input) :: input
  type(iocomp_var) :: var
  integer :: comm, rank, ranks, ierr, found

  call MPI_Init(ierr)
  call iocomp_init(MPI_COMM_WORLD, session)
  call iocomp_comm(session, comm)
  call MPI_Comm_rank(comm, rank, ierr)
  call MPI_Comm_size(comm, ranks, ierr)
  call iocomp_open(session, "numbers", IOCOMP_SERIES, file, comm=comm)
  call iocomp_define(file, "numbers", IOCOMP_INT32, [ranks], var)
  call iocomp_put(var, [rank], [rank + 1])
  call iocomp_close(file)
  call iocomp_open_input(session, "numbers", input, comm=comm)
  call iocomp_read(input, "numbers", 0, found, [rank + 1], [1])
  if (found /= rank) error stop 1
  call iocomp_finalize(session)
  call MPI_Finalize(ierr)
end program
