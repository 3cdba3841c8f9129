! SPDX-License-Identifier: BSD-3-Clause
! An array with a halo, one slice of it on each rank, into the file fields.bin.
!   mpirun -n 4 first_array
program first_array
  use mpi_f08
  use iocomp
  implicit none
  integer, parameter :: nx = 100, ny = 50
  real(8), asynchronous :: u(0:nx+1, 0:ny+1)
  type(iocomp_session) :: io
  type(iocomp_file) :: fields
  type(iocomp_var) :: u_var
  type(MPI_Comm) :: comm
  integer :: rank, ranks

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, io)              ! servers, if any, serve in here
  call iocomp_comm(io, comm)                        ! use this where MPI_COMM_WORLD stood
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  u = -1
  u(1:nx, 1:ny) = rank

  call iocomp_open(io, "fields", IOCOMP_SERIES, fields)
  call iocomp_define(fields, "u", IOCOMP_FLOAT64, [nx, ny*ranks], u_var)
  call iocomp_put(u_var, u(1:nx, 1:ny), start=[1, rank*ny + 1])
  call iocomp_end_step(fields)                      ! u must not change before close, or a wait
  call iocomp_close(fields)
  call iocomp_finalize(io)
  call MPI_Finalize()
end program
