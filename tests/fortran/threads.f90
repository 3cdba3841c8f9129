! SPDX-License-Identifier: BSD-3-Clause
!> Each call comes from whichever thread of an OpenMP team is there first, and the block of a put is too large to
!> be written in the call.
program threads
  use mpi_f08
  use iocomp
  use expectations
  implicit none
  integer, parameter :: columns = 65536, rows = 8, steps = 3
  real(8), asynchronous, allocatable :: u(:, :)
  real(8), allocatable :: found(:, :)
  type(iocomp_session) :: io
  type(iocomp_file) :: file
  type(iocomp_input) :: input
  type(iocomp_var) :: var
  type(iocomp_ticket) :: ticket
  type(MPI_Comm) :: comm
  integer :: level, rank, ranks, step, first

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, level)
  call expect(level >= MPI_THREAD_SERIALIZED, "an MPI that one thread at a time may call")
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  first = rank*rows + 1
  allocate (u(columns, rows), found(columns, rows))
  !$omp parallel num_threads(4) default(shared)
  !$omp single
  call iocomp_open(io, "u", IOCOMP_SERIES, file)
  !$omp end single
  !$omp single
  call iocomp_define(file, "u", IOCOMP_FLOAT64, [columns, ranks*rows], var)
  !$omp end single
  !$omp end parallel
  do step = 0, steps - 1
    u = rank + 100*step
    !$omp parallel num_threads(4) default(shared)
    !$omp single
    call iocomp_put(var, u, start=[1, first], ticket=ticket)
    !$omp end single
    !$omp single
    call iocomp_end_step(file)
    !$omp end single
    !$omp single
    call iocomp_wait(ticket, IOCOMP_REUSABLE)
    !$omp end single
    !$omp end parallel
  end do
  !$omp parallel num_threads(4) default(shared)
  !$omp single
  call iocomp_wait_step(file, steps - 1)
  !$omp end single
  !$omp single
  call iocomp_close(file)
  !$omp end single
  !$omp single
  call iocomp_open_input(io, "u", input)
  !$omp end single
  !$omp end parallel
  do step = 0, steps - 1
    !$omp parallel num_threads(4) default(shared)
    !$omp single
    call iocomp_read(input, "u", step, found, [1, first], [columns, rows])
    !$omp end single
    !$omp end parallel
    call expect(all(found == rank + 100*step), "what was put")
  end do
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
