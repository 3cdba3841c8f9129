! SPDX-License-Identifier: BSD-3-Clause
! Particles: each rank has some, and their number changes in each step. Each step is a file of its
! own, which the program names, and which is closed while the program goes on.
program particles
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use iocomp
  implicit none
  type(iocomp_session) :: io
  type(iocomp_file) :: out
  type(iocomp_var) :: vars(2)
  type(iocomp_ticket) :: closed
  type(MPI_Comm) :: comm
  real(real64), allocatable, asynchronous :: x(:, :)
  integer(int64), allocatable, asynchronous :: id(:)
  integer(int64) :: first(2)
  integer :: rank, step, n, i
  character(40) :: settings

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  do step = 0, 3
    n = 1 + mod(rank + step, 4)
    write (settings, "('path = ""particles', i0, '.out""')") step
    call iocomp_open(io, "particles", IOCOMP_SERIES, out, settings)
    call iocomp_define(out, "x", IOCOMP_FLOAT64, [3, 0], vars(1)) ! the file has it as [particles, 3]
    call iocomp_define(out, "id", IOCOMP_INT64, [0], vars(2))
    call iocomp_set_rows(vars, [n, n], first) ! waits for the others; first counts from 1
    x = spread([real(rank, real64), 0.0_real64, real(step, real64)], 2, n)
    x(2, :) = [(i - 1, i=1, n)]
    id = [(1000*step + first(2) - 1 + i - 1, i=1, n)]
    call iocomp_put(vars(1), x, [1_int64, first(1)])
    call iocomp_put(vars(2), id, first(2:2))
    call iocomp_close_later(out, closed)
    ! Compute here, with other arrays.
    call iocomp_wait(closed) ! x and id may change from here on
  end do
  call iocomp_finalize(io) ! when all is on the disk, or tells what is not
  call MPI_Finalize()
end program
