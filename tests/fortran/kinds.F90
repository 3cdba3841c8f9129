! SPDX-License-Identifier: BSD-3-Clause
! Every kind and rank goes out and comes back.
program kinds
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use iocomp
  use expectations
  implicit none
  type(iocomp_session) :: session
  type(MPI_Comm) :: comm
  integer :: rank, ranks

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, session)
  call iocomp_comm(session, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  call try_int8(session)
  call try_int16(session)
  call try_int32(session)
  call try_int64(session)
  call try_uint8(session)
  call try_uint16(session)
  call try_uint32(session)
  call try_uint64(session)
  call try_float16(session)
  call try_real32(session)
  call try_real64(session)
  call try_complex64(session)
  call try_complex128(session)
  call try_character(session)
  call iocomp_finalize(session)
  call MPI_Finalize()

contains

  !> Each rank's part behind that of the rank before, along the last dimension; a scalar from rank 0.
  subroutine place(of_array, part, whole, start)
    integer, intent(in) :: of_array(:), part(:)
    integer, allocatable, intent(out) :: whole(:), start(:)
    whole = part
    allocate (start(size(part)), source=1)
    if (size(of_array) == 0) return
    whole(size(part)) = ranks*part(size(part))
    start(size(part)) = rank*part(size(part)) + 1
  end subroutine

  !> The extents of the variable: texts have their length in front.
  function extents(of_array, type) result(part)
    integer, intent(in) :: of_array(:)
    integer, intent(in) :: type
    integer, allocatable :: part(:)
    part = of_array
    if (type == IOCOMP_CHAR) part = [5, of_array]
  end function

  function name_of(of_array) result(name)
    integer, intent(in) :: of_array(:)
    character(2) :: name
    write (name, '(a, i0)') "r", size(of_array)
  end function

  subroutine put_one(file, type, values)
    type(iocomp_file), intent(in) :: file
    integer, intent(in) :: type
    type(*), dimension(..), intent(in), asynchronous :: values
    type(iocomp_var) :: var
    integer, allocatable :: whole(:), start(:)
    call place(shape(values), extents(shape(values), type), whole, start)
    call iocomp_define(file, name_of(shape(values)), type, whole, var)
    if (size(shape(values)) == 0 .and. rank > 0) return
    call iocomp_put(var, values, start)
  end subroutine

  subroutine read_one(input, type, values)
    type(iocomp_input), intent(in) :: input
    integer, intent(in) :: type
    type(*), dimension(..) :: values
    integer, allocatable :: whole(:), start(:), found(:)
    call place(shape(values), extents(shape(values), type), whole, start)
    allocate (found(size(whole)))
    call iocomp_input_variable(input, name_of(shape(values)), 0, shape=found)
    call expect(all(found == whole), "the shape of "//name_of(shape(values)))
    call iocomp_read(input, name_of(shape(values)), 0, values, start)
  end subroutine

#define NAME try_int8
#define LABEL "int8"
#define TYPE_AND_KIND integer(int8)
#define IOCOMP_TYPE IOCOMP_INT8
#define VALUE(i) int(mod((i), 128), int8)
#include "kind.inc"
#define NAME try_int16
#define LABEL "int16"
#define TYPE_AND_KIND integer(int16)
#define IOCOMP_TYPE IOCOMP_INT16
#define VALUE(i) int(-(i), int16)
#include "kind.inc"
#define NAME try_int32
#define LABEL "int32"
#define TYPE_AND_KIND integer(int32)
#define IOCOMP_TYPE IOCOMP_INT32
#define VALUE(i) int(-(i), int32)
#include "kind.inc"
#define NAME try_int64
#define LABEL "int64"
#define TYPE_AND_KIND integer(int64)
#define IOCOMP_TYPE IOCOMP_INT64
#define VALUE(i) (3000000000_int64*(i))
#include "kind.inc"
#define NAME try_uint8
#define LABEL "uint8"
#define TYPE_AND_KIND integer(int8)
#define IOCOMP_TYPE IOCOMP_UINT8
#define VALUE(i) int(mod((i), 128), int8)
#include "kind.inc"
#define NAME try_uint16
#define LABEL "uint16"
#define TYPE_AND_KIND integer(int16)
#define IOCOMP_TYPE IOCOMP_UINT16
#define VALUE(i) int(i, int16)
#include "kind.inc"
#define NAME try_uint32
#define LABEL "uint32"
#define TYPE_AND_KIND integer(int32)
#define IOCOMP_TYPE IOCOMP_UINT32
#define VALUE(i) int(i, int32)
#include "kind.inc"
#define NAME try_uint64
#define LABEL "uint64"
#define TYPE_AND_KIND integer(int64)
#define IOCOMP_TYPE IOCOMP_UINT64
#define VALUE(i) int(i, int64)
#include "kind.inc"
#define NAME try_float16
#define LABEL "float16"
#define TYPE_AND_KIND integer(int16)
#define IOCOMP_TYPE IOCOMP_FLOAT16
#define VALUE(i) int(15360 + (i), int16)
#include "kind.inc"
#define NAME try_real32
#define LABEL "real32"
#define TYPE_AND_KIND real(real32)
#define IOCOMP_TYPE IOCOMP_FLOAT32
#define VALUE(i) (0.5_real32*(i))
#include "kind.inc"
#define NAME try_real64
#define LABEL "real64"
#define TYPE_AND_KIND real(real64)
#define IOCOMP_TYPE IOCOMP_FLOAT64
#define VALUE(i) (0.1_real64*(i))
#include "kind.inc"
#define NAME try_complex64
#define LABEL "complex64"
#define TYPE_AND_KIND complex(real32)
#define IOCOMP_TYPE IOCOMP_COMPLEX64
#define VALUE(i) cmplx((i), -(i), real32)
#include "kind.inc"
#define NAME try_complex128
#define LABEL "complex128"
#define TYPE_AND_KIND complex(real64)
#define IOCOMP_TYPE IOCOMP_COMPLEX128
#define VALUE(i) cmplx((i), -(i), real64)
#include "kind.inc"
#define NAME try_character
#define LABEL "character"
#define TYPE_AND_KIND character(5)
#define IOCOMP_TYPE IOCOMP_CHAR
#define VALUE(i) (achar(97 + mod((i), 26))//"bcd"//achar(65 + mod((i), 26)))
#include "kind.inc"
end program
