! SPDX-License-Identifier: BSD-3-Clause
! The fragments in Fortran of docs/, word for word, in a program that runs.
!   mpirun -n 2 page_fragments_f90
program fragments
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: nx = 4, ny = 2, n = 4, mine = 2
  type(iocomp_session) :: io
  type(iocomp_file) :: fields, checkpoints, middles
  type(iocomp_input) :: input
  type(iocomp_var) :: u_var
  type(iocomp_ticket) :: ticket
  type(MPI_Comm) :: comm
  real(real64) :: time
  integer :: rank, ranks, first, step, ierr

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io, "files.default.existing = 'continue'")
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  first = rank*ny + 1

  call iocomp_open(io, "fields", IOCOMP_SERIES, fields, ierr=ierr)
  if (ierr /= IOCOMP_OK) print '(3a)', iocomp_code_name(ierr), ": ", iocomp_error()

  call iocomp_define(fields, "u", IOCOMP_FLOAT64, [nx, ny*ranks], u_var)
  call put_with_halos()
  call put_from_own_memory()
  call iocomp_close(fields)
  call restart()
  call iocomp_close(checkpoints)
  call iocomp_close(middles)
  call restart()
  call iocomp_finalize(io)
  call MPI_Finalize()

contains

  subroutine put_with_halos()
    real(real64), asynchronous :: u(0:nx+1, 0:ny+1)

    u = rank + 1
    call iocomp_put(u_var, u(1:nx, 1:ny), start=[1, first], ticket=ticket)
    call iocomp_end_step(fields)
    ! compute here, with other arrays
    call iocomp_wait(ticket)
    u = 0
  end subroutine

  subroutine put_from_own_memory()
    real(real64), pointer, asynchronous :: u(:, :)
    call iocomp_alloc(io, u, [nx, ny])        ! zeroed; iocomp_free(io, u) or finalize frees it
    call iocomp_put(u_var, u, start=[1, first])
    call iocomp_end_step(fields)
  end subroutine

  subroutine restart()
    real(real64), asynchronous :: u(0:n+1, 0:mine+1)
    u = rank
    call iocomp_latest(io, "restart", step, time, input)        ! step: -1 where there is none
    if (step >= 0) then
      call iocomp_read(input, "u", step, u(1:n, 1:mine), start=[1, first])
      call iocomp_close_input(input)
    end if
    call iocomp_open(io, "restart", IOCOMP_CHECKPOINT, checkpoints, after=step)
    call iocomp_open(io, "middle", IOCOMP_SERIES, middles, after=step)
    call iocomp_after(checkpoints, "middle")                    ! no checkpoint is ahead of the series
    call iocomp_define(middles, "m", IOCOMP_INT32, [ranks], u_var)
    call iocomp_begin_step(middles, step + 1, 0.5_real64)
    call iocomp_put_buffered(u_var, [rank], start=[rank + 1])
    call iocomp_end_step(middles)
    call iocomp_define(checkpoints, "u", IOCOMP_FLOAT64, [n, mine*ranks], u_var)
    call iocomp_begin_step(checkpoints, step + 1, 0.5_real64)
    call iocomp_put_buffered(u_var, u(1:n, 1:mine), start=[1, first])
    call iocomp_end_step(checkpoints)
  end subroutine
end program
