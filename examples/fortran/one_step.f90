! SPDX-License-Identifier: BSD-3-Clause
! One step of an array; each rank has one column of it.   mpirun -n 4 one_step
program one_step
  use mpi_f08
  use iocomp
  type(iocomp_session) :: io
  type(iocomp_file) :: out
  type(iocomp_var) :: u
  type(MPI_Comm) :: comm
  real(8), asynchronous :: column(1000) = 1
  integer :: rank, ranks
  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)
  call iocomp_comm(io, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  call iocomp_open(io, "fields", IOCOMP_SERIES, out)
  call iocomp_define(out, "u", IOCOMP_FLOAT64, [1000, ranks], u)
  call iocomp_put(u, column, start=[1, rank + 1], count=[1000, 1])
  call iocomp_end_step(out)
  call iocomp_close(out)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
