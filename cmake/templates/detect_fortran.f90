! SPDX-License-Identifier: BSD-3-Clause
! Uses all that bindings/fortran needs of a compiler and its MPI.
module detect
  use, intrinsic :: iso_c_binding
  use mpi_f08, only: MPI_Comm
  implicit none
  interface
    subroutine take(comm, name, values, text) bind(c, name="take")
      import
      type(MPI_Comm), intent(in) :: comm
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(in), asynchronous, optional :: values
      character(kind=c_char, len=:), allocatable, intent(out) :: text
    end subroutine
  end interface
end module
program main
  use detect
end program
