! SPDX-License-Identifier: BSD-3-Clause
!> What the test programs have in common; nothing of it knows MPI's modules.
module expectations
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
contains
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    write (error_unit, '(2a)') "not as expected: ", what
    error stop 1
  end subroutine
end module
