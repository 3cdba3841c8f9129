! SPDX-License-Identifier: BSD-3-Clause
! Sub-communicators: two groups of ranks compute different things, and each writes its own file.
!   mpirun -n 4 groups
program groups
  use, intrinsic :: iso_fortran_env, only: int32
  use mpi_f08
  use iocomp
  implicit none
  type(iocomp_session) :: io
  type(iocomp_file) :: out
  type(iocomp_var) :: u
  type(MPI_Comm) :: comm, members
  integer :: rank, group, member, step
  integer :: first(1)
  character(40) :: settings

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  group = mod(rank, 2)
  call MPI_Comm_split(comm, group, rank, members)
  call MPI_Comm_rank(members, member)

  write (settings, "('path = ""group', i0, '.out""')") group
  call iocomp_open(io, "groups", IOCOMP_SERIES, out, settings, comm=members)
  call iocomp_define(out, "u", IOCOMP_INT32, [0], u)
  do step = 0, 1 + group                            ! a group has its own steps
    call iocomp_set_rows([u], [2], first)           ! behind the rows of the members before
    call iocomp_put_buffered(u, int([100*group + member, step], int32), start=first)
    call iocomp_end_step(out)
  end do
  call iocomp_close(out)
  call MPI_Comm_free(members)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
