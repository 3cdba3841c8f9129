! SPDX-License-Identifier: BSD-3-Clause
! Heat in a square that is cut into columns, one part with halos on each rank.
!   mpirun -n 4 heat 1000
! Started again, on any number of ranks, it goes on behind its newest checkpoint and ends with the
! same values as a run that was not interrupted. It exits with 3 where it was told to stop before.
program heat
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: n = 64, every = 100
  character(*), parameter :: settings = "files.default.existing = 'continue'"
  real(real64), allocatable, asynchronous :: u(:, :)
  real(real64), allocatable :: next(:, :)
  real(real64) :: time
  type(iocomp_session) :: io
  type(iocomp_input) :: input
  type(iocomp_file) :: checkpoints, middles
  type(iocomp_var) :: u_var, middle_var
  type(iocomp_ticket) :: ticket
  type(MPI_Comm) :: comm
  integer :: rank, ranks, first, mine, step, steps, left, right
  logical :: stop, lent
  character(20) :: word

  steps = 1000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io, settings)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  first = n*rank/ranks + 1                                  ! of my columns
  mine = n*(rank + 1)/ranks - first + 1
  allocate (u(0:n+1, 0:mine+1), next(n, mine), source=0.0_real64)

  call iocomp_latest(io, "restart", step, time, input)      ! step: -1 where there is none
  if (step >= 0) then
    call iocomp_read(input, "u", step, u(1:n, 1:mine), start=[1, first])
    call iocomp_close_input(input)
  else
    u(1:n/2, 1:mine) = 1                                    ! one half is warm
  end if

  call iocomp_open(io, "restart", IOCOMP_CHECKPOINT, checkpoints, after=step)
  call iocomp_open(io, "middle", IOCOMP_SERIES, middles, after=step)
  call iocomp_after(checkpoints, "middle")                  ! none is ahead of it
  call iocomp_define(checkpoints, "u", IOCOMP_FLOAT64, [n, n], u_var)
  call iocomp_define(middles, "u", IOCOMP_FLOAT64, [n], middle_var)

  stop = .false.
  lent = .false.
  do while (step + 1 < steps .and. .not. stop)
    step = step + 1
    call exchange_halos()
    next = u(1:n, 1:mine) + 0.1_real64*(u(0:n-1, 1:mine) + u(2:n+1, 1:mine) &
                                        + u(1:n, 0:mine-1) + u(1:n, 2:mine+1) - 4*u(1:n, 1:mine))
    if (lent) call iocomp_wait(ticket)                      ! then u may change
    lent = .false.
    u(1:n, 1:mine) = next
    call iocomp_should_stop(io, stop)
    if (stop .or. mod(step + 1, every) == 0 .or. step + 1 == steps) then
      call iocomp_begin_step(middles, step, 0.1_real64*step)
      call iocomp_put_buffered(middle_var, u(n/2, 1:mine), start=[first])
      call iocomp_end_step(middles)
      call iocomp_begin_step(checkpoints, step, 0.1_real64*step)
      call iocomp_put(u_var, u(1:n, 1:mine), start=[1, first], ticket=ticket)
      call iocomp_end_step(checkpoints)
      lent = .true.
    end if
  end do
  call iocomp_close(middles)
  call iocomp_close(checkpoints)
  if (rank == 0) print '(a, i0, a)', "heat: ", step + 1, " steps are done"
  call iocomp_finalize(io)
  call MPI_Finalize()
  if (step + 1 < steps) stop 3, quiet=.true.

contains

  subroutine exchange_halos()
    call MPI_Sendrecv(u(1:n, 1), n, MPI_DOUBLE_PRECISION, left, 0, &
                      u(1:n, mine+1), n, MPI_DOUBLE_PRECISION, right, 0, comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(1:n, mine), n, MPI_DOUBLE_PRECISION, right, 1, &
                      u(1:n, 0), n, MPI_DOUBLE_PRECISION, left, 1, comm, MPI_STATUS_IGNORE)
  end subroutine
end program
