! SPDX-License-Identifier: BSD-3-Clause
!> The C interface for Fortran 2018. iocomp.h tells, at the function of the same name, what a call
!> does and which ranks must call it; docs/fortran.md is the guide.
!>
!> - Shapes, starts and counts are in Fortran's order, indices count from 1, integers may be of any
!>   kind: they are declared type(*), and a call with another type fails with IOCOMP_INVALID_ARGUMENT.
!> - Arrays have any rank to 8 and any type that a variable can have; sections travel as they are.
!> - Without `ierr` a failure prints its story and ends the job.
module iocomp
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit
  use mpi_f08, only: MPI_Comm
  implicit none
  private

  public :: iocomp_session, iocomp_file, iocomp_var, iocomp_input, iocomp_decomp, iocomp_ticket
  public :: iocomp_init, iocomp_comm, iocomp_role, iocomp_should_stop, iocomp_finalize
  public :: iocomp_open, iocomp_define, iocomp_set_shape, iocomp_set_rows
  public :: iocomp_set_attribute, iocomp_set_fill
  public :: iocomp_begin_step, iocomp_put, iocomp_put_buffered
  public :: iocomp_decompose, iocomp_decomp_free
  public :: iocomp_after, iocomp_end_step, iocomp_current_step
  public :: iocomp_test, iocomp_wait, iocomp_wait_puts, iocomp_wait_step
  public :: iocomp_alloc, iocomp_free, iocomp_progress, iocomp_close, iocomp_close_later
  public :: iocomp_open_input, iocomp_latest
  public :: iocomp_input_steps, iocomp_input_left_out, iocomp_input_time
  public :: iocomp_input_variables, iocomp_input_variable
  public :: iocomp_input_attributes, iocomp_input_attribute, iocomp_read, iocomp_close_input
  public :: iocomp_error, iocomp_code_name, iocomp_type_size, iocomp_settings
  public :: iocomp_version

  integer(c_int), parameter, public :: & ! why a call failed
    IOCOMP_OK = 0, IOCOMP_INVALID_ARGUMENT = 1, IOCOMP_OUT_OF_STAGING = 2, &
    IOCOMP_STORAGE_FAILURE = 3, IOCOMP_MPI_FAILURE = 4, IOCOMP_INVALID_SETTING = 5, &
    IOCOMP_TARGET_EXISTS = 6, IOCOMP_INCONSISTENT_CALLS = 7, IOCOMP_TIMED_OUT = 8, &
    IOCOMP_UNSUPPORTED = 9, IOCOMP_NOT_FOUND = 10, IOCOMP_OVERLAPPING_PUTS = 11, &
    IOCOMP_INTERNAL = 99
  integer(c_int), parameter, public :: & ! what a rank is
    IOCOMP_COMPUTE = 1, IOCOMP_SERVER = 2, IOCOMP_BOTH = 3
  integer(c_int), parameter, public :: & ! what a file is
    IOCOMP_SERIES = 1, IOCOMP_CHECKPOINT = 2
  integer(c_int), parameter, public :: & ! how far a put has come
    IOCOMP_REUSABLE = 1, IOCOMP_WRITTEN = 2, IOCOMP_DURABLE = 3
  integer(c_int), parameter, public :: & ! element types
    IOCOMP_INT8 = 1, IOCOMP_INT16 = 2, IOCOMP_INT32 = 3, IOCOMP_INT64 = 4, IOCOMP_UINT8 = 5, &
    IOCOMP_UINT16 = 6, IOCOMP_UINT32 = 7, IOCOMP_UINT64 = 8, IOCOMP_FLOAT16 = 9, &
    IOCOMP_FLOAT32 = 10, IOCOMP_FLOAT64 = 11, IOCOMP_COMPLEX64 = 12, IOCOMP_COMPLEX128 = 13, &
    IOCOMP_CHAR = 14, IOCOMP_BOOL = 15, IOCOMP_STRING = 16
  integer(c_int), parameter, public :: IOCOMP_MAX_DIMS = 8
  integer(c_int64_t), parameter, public :: & ! a number of iocomp_begin_step
    IOCOMP_DROP_STEP = -huge(0_c_int64_t) - 1

  type, bind(c) :: iocomp_session
    private
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: iocomp_file
    private
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: iocomp_input
    private
    type(c_ptr) :: handle = c_null_ptr
  end type
  !> The definition goes with the handle, so that each put can be checked against it.
  type, bind(c) :: iocomp_var
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int) :: type = 0, ndims = 0, element = 0
    character(kind=c_char) :: name(60) = c_null_char ! for stories; longer ones are cut
  end type
  type, bind(c) :: iocomp_decomp
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int64_t) :: elements = 0 ! that a put by it reads
  end type
  type, bind(c) :: iocomp_ticket
    private
    type(c_ptr) :: session = c_null_ptr
    integer(c_int64_t) :: number = 0
  end type

  ! A communicator is type(MPI_Comm) or, in programs that use the module mpi, an integer.
  interface iocomp_init
    subroutine iocomp_init_f08(comm, session, settings, ierr) bind(c, name="iocomp_f_init")
      import
      type(MPI_Comm), intent(in) :: comm
      type(iocomp_session), intent(out) :: session
      character(kind=c_char, len=*), intent(in), optional :: settings
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_init_mpi(comm, session, settings, ierr) bind(c, name="iocomp_f_init")
      import
      integer(c_int), intent(in) :: comm
      type(iocomp_session), intent(out) :: session
      character(kind=c_char, len=*), intent(in), optional :: settings
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  interface iocomp_comm
    subroutine iocomp_comm_f08(session, comm) bind(c, name="iocomp_f_comm")
      import
      type(iocomp_session), intent(in) :: session
      type(MPI_Comm), intent(out) :: comm
    end subroutine
    subroutine iocomp_comm_mpi(session, comm) bind(c, name="iocomp_f_comm")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int), intent(out) :: comm
    end subroutine
  end interface
  !> An attribute of a file, or of a variable. It is text where `values` is a character, and a list
  !> of texts where it is an array of them; blanks at the end of a text go.
  interface iocomp_set_attribute
    subroutine iocomp_set_file_attribute(file, name, values, ierr) &
      bind(c, name="iocomp_f_set_file_attribute")
      import
      type(iocomp_file), intent(in) :: file
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(in) :: values
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_set_var_attribute(var, name, values, ierr) &
      bind(c, name="iocomp_f_set_var_attribute")
      import
      type(iocomp_var), intent(in) :: var
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..), intent(in) :: values
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  !> A pointer to `shape` elements, from 1 in each dimension.
  interface iocomp_alloc
    subroutine iocomp_alloc_int8(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int8_t), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_int16(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int16_t), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_int32(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int32_t), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_int64(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int64_t), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_real32(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      real(c_float), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_real64(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      real(c_double), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_complex64(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      complex(c_float_complex), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_alloc_complex128(session, array, shape, ierr) bind(c, name="iocomp_f_alloc")
      import
      type(iocomp_session), intent(in) :: session
      complex(c_double_complex), pointer, dimension(..), intent(out) :: array
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  interface
    integer(c_int) function iocomp_role(session) bind(c, name="iocomp_f_role")
      import
      type(iocomp_session), intent(in) :: session
    end function
    subroutine iocomp_finalize(session, ierr) bind(c, name="iocomp_f_finalize")
      import
      type(iocomp_session), intent(inout) :: session
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_progress(session, ierr) bind(c, name="iocomp_f_progress")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_free(session, array, ierr) bind(c, name="iocomp_f_free")
      import
      type(iocomp_session), intent(in) :: session
      type(*), dimension(..), intent(in), asynchronous :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    !> @param settings  of this file for this open, as TOML text
    !> @param after     the step that the program restarts from: iocomp_open_options of iocomp.h
    !> @param comm      type(MPI_Comm) or integer; absent: all compute ranks
    subroutine iocomp_open(session, name, kind, file, settings, after, comm, ierr) &
      bind(c, name="iocomp_f_open")
      import
      type(iocomp_session), intent(in) :: session
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(in) :: kind
      type(iocomp_file), intent(out) :: file
      character(kind=c_char, len=*), intent(in), optional :: settings
      type(*), dimension(..), intent(in), optional :: after, comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param shape  without elements: a scalar
    !> @param dims   names of the dimensions, in the order of `shape`; blanks at their ends go. A
    !> variable that has values in each step of a series has "time" behind them.
    !> @param file_type  what the file has of it, where that is another type: IOCOMP_FLOAT32 of
    !> values that are computed in IOCOMP_FLOAT64
    subroutine iocomp_define(file, name, type, shape, var, dims, file_type, ierr) &
      bind(c, name="iocomp_f_define")
      import
      type(iocomp_file), intent(in) :: file
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(in) :: type
      type(*), dimension(:), intent(in) :: shape
      type(iocomp_var), intent(out) :: var
      character(kind=c_char, len=*), dimension(:), intent(in), optional :: dims
      integer(c_int), intent(in), optional :: file_type
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_set_shape(var, shape, ierr) bind(c, name="iocomp_f_set_shape")
      import
      type(iocomp_var), intent(in) :: var
      type(*), dimension(:), intent(in) :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> A row is one index along the last dimension, which is slowest.
    !> @param first  of this rank, from 1
    subroutine iocomp_set_rows(vars, rows, first, total, ierr) bind(c, name="iocomp_f_set_rows")
      import
      type(iocomp_var), dimension(:), intent(in) :: vars
      type(*), dimension(:), intent(in) :: rows
      type(*), dimension(:), optional :: first, total
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_set_fill(var, value, ierr) bind(c, name="iocomp_f_set_fill")
      import
      type(iocomp_var), intent(in) :: var
      type(*), dimension(..), intent(in) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine iocomp_begin_step(file, number, time, ierr) bind(c, name="iocomp_f_begin_step")
      import
      type(iocomp_file), intent(in) :: file
      type(*), dimension(..), intent(in) :: number
      real(c_double), intent(in), optional :: time
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param values  the block. A scalar is copied; an array stays unchanged until the ticket is
    !> IOCOMP_REUSABLE. Sections are put from where they lie, if their elements have no gaps in
    !> the first dimension; others are copied. An expression is a temporary, and so is an array that
    !> a contiguous dummy argument has got: then the file gets wrong values, or the program crashes.
    !> Use iocomp_put_buffered for those.
    !> @param start   of its first element; without it the variable's first.
    !> @param count   extents of the block; without it the shape of `values`. With it `values` may
    !> have another rank and must have as many elements.
    !> @param memory_start  where the block begins in `values`, from 1 whatever its lower bounds
    !> are. Then `count` says how large it is.
    !> @param decomp  `values` are in its order; there is no start, count or memory_start then.
    subroutine iocomp_put(var, values, start, count, memory_start, decomp, ticket, ierr) &
      bind(c, name="iocomp_f_put")
      import
      type(iocomp_var), intent(in) :: var
      type(*), dimension(..), intent(in), asynchronous :: values
      type(*), dimension(:), intent(in), optional :: start, count, memory_start
      type(iocomp_decomp), intent(in), optional :: decomp
      type(iocomp_ticket), intent(out), optional :: ticket
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> The same with a copy: `values` may be any expression, and changes at once.
    subroutine iocomp_put_buffered(var, values, start, count, memory_start, decomp, ticket, ierr) &
      bind(c, name="iocomp_f_put_buffered")
      import
      type(iocomp_var), intent(in) :: var
      type(*), dimension(..), intent(in) :: values
      type(*), dimension(:), intent(in), optional :: start, count, memory_start
      type(iocomp_decomp), intent(in), optional :: decomp
      type(iocomp_ticket), intent(out), optional :: ticket
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param first  of each element, its index in array element order, from 1; below 1: not written
    !> @param count  with it, `first` is that of runs of so many elements
    subroutine iocomp_decompose(session, shape, first, decomp, count, ierr) &
      bind(c, name="iocomp_f_decompose")
      import
      type(iocomp_session), intent(in) :: session
      type(*), dimension(:), intent(in) :: shape, first
      type(iocomp_decomp), intent(out) :: decomp
      type(*), dimension(:), intent(in), optional :: count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_decomp_free(decomp, ierr) bind(c, name="iocomp_f_decomp_free")
      import
      type(iocomp_decomp), intent(inout) :: decomp
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> Steps of this file are committed after those of the files called `name`.
    subroutine iocomp_after(file, name, ierr) bind(c, name="iocomp_f_after")
      import
      type(iocomp_file), intent(in) :: file
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_end_step(file, ierr) bind(c, name="iocomp_f_end_step")
      import
      type(iocomp_file), intent(in) :: file
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    integer(c_int64_t) function iocomp_current_step(file) bind(c, name="iocomp_f_current_step")
      import
      type(iocomp_file), intent(in) :: file
    end function
    !> @param state  IOCOMP_REUSABLE where it is absent
    subroutine iocomp_wait(ticket, state, ierr) bind(c, name="iocomp_f_wait")
      import
      type(iocomp_ticket), intent(in) :: ticket
      integer(c_int), intent(in), optional :: state
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> All puts of this rank since the last such call with this state.
    !> @param state  IOCOMP_REUSABLE where it is absent
    subroutine iocomp_wait_puts(file, state, ierr) bind(c, name="iocomp_f_wait_puts")
      import
      type(iocomp_file), intent(in) :: file
      integer(c_int), intent(in), optional :: state
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_wait_step(file, step, ierr) bind(c, name="iocomp_f_wait_step")
      import
      type(iocomp_file), intent(in) :: file
      type(*), dimension(..), intent(in) :: step
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_close(file, ierr) bind(c, name="iocomp_f_close")
      import
      type(iocomp_file), intent(inout) :: file
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    subroutine iocomp_close_later(file, ticket, ierr) bind(c, name="iocomp_f_close_later")
      import
      type(iocomp_file), intent(inout) :: file
      type(iocomp_ticket), intent(out), optional :: ticket
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    !> settings and comm as of iocomp_open
    subroutine iocomp_open_input(session, name, input, settings, comm, ierr) &
      bind(c, name="iocomp_f_open_input")
      import
      type(iocomp_session), intent(in) :: session
      character(kind=c_char, len=*), intent(in) :: name
      type(iocomp_input), intent(out) :: input
      character(kind=c_char, len=*), intent(in), optional :: settings
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param step  integer of any kind; -1 where nothing is committed. Then there is no input.
    subroutine iocomp_latest(session, name, step, time, input, settings, comm, ierr) &
      bind(c, name="iocomp_f_latest")
      import
      type(iocomp_session), intent(in) :: session
      character(kind=c_char, len=*), intent(in) :: name
      type(*), dimension(..) :: step
      real(c_double), intent(out) :: time
      type(iocomp_input), intent(out) :: input
      character(kind=c_char, len=*), intent(in), optional :: settings
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_input_steps(input, steps, ierr) bind(c, name="iocomp_f_input_steps")
      import
      type(iocomp_input), intent(in) :: input
      integer(c_int64_t), allocatable, intent(out) :: steps(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param causes  gfortran 12 prints each by itself, `causes(i)`, and misreads them as a whole
    subroutine iocomp_input_left_out(input, steps, causes, ierr) &
      bind(c, name="iocomp_f_input_left_out")
      import
      type(iocomp_input), intent(in) :: input
      integer(c_int64_t), allocatable, intent(out) :: steps(:)
      character(kind=c_char, len=:), allocatable, intent(out), optional :: causes(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_input_time(input, step, time, ierr) bind(c, name="iocomp_f_input_time")
      import
      type(iocomp_input), intent(in) :: input
      type(*), dimension(..), intent(in) :: step
      real(c_double), intent(out) :: time
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param step   absent: the newest that has the variable
    !> @param shape  integers of any kind, as many as the variable has dimensions
    subroutine iocomp_input_variable(input, variable, step, type, ndims, shape, ierr) &
      bind(c, name="iocomp_f_input_variable")
      import
      type(iocomp_input), intent(in) :: input
      character(kind=c_char, len=*), intent(in) :: variable
      type(*), dimension(..), intent(in), optional :: step
      integer(c_int), intent(out), optional :: type, ndims
      type(*), dimension(:), optional :: shape
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> @param variable  absent: an attribute of the file
    !> @param type      IOCOMP_CHAR for text, whose `count` is its length; IOCOMP_STRING for a list
    !>                  of texts
    !> @param values    as many elements as the attribute has
    !> @param text      what an attribute says that is text
    !> @param texts     those of one that is a list, as long as the longest. gfortran 12 prints each
    !>                  by itself, `texts(i)`, and misreads them as a whole
    subroutine iocomp_input_attribute(input, name, variable, type, count, values, text, texts, &
                                      ierr) &
      bind(c, name="iocomp_f_input_attribute")
      import
      type(iocomp_input), intent(in) :: input
      character(kind=c_char, len=*), intent(in) :: name
      character(kind=c_char, len=*), intent(in), optional :: variable
      integer(c_int), intent(out), optional :: type
      integer(c_int64_t), intent(out), optional :: count
      type(*), dimension(..), optional :: values
      character(kind=c_char, len=:), allocatable, intent(out), optional :: text
      character(kind=c_char, len=:), allocatable, intent(out), optional :: texts(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> start, count and memory_start as in iocomp_put. Values of another kind are converted.
    subroutine iocomp_read(input, variable, step, values, start, count, memory_start, ierr) &
      bind(c, name="iocomp_f_read")
      import
      type(iocomp_input), intent(in) :: input
      character(kind=c_char, len=*), intent(in) :: variable
      type(*), dimension(..), intent(in) :: step
      type(*), dimension(..) :: values
      type(*), dimension(:), intent(in), optional :: start, count, memory_start
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine iocomp_close_input(input, ierr) bind(c, name="iocomp_f_close_input")
      import
      type(iocomp_input), intent(inout) :: input
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    !> 1002003 is 1.2.3
    !> @param text  the same as text
    integer(c_int) function iocomp_version(text) bind(c, name="iocomp_f_version")
      import
      character(kind=c_char, len=:), allocatable, intent(out), optional :: text
    end function
    integer(c_size_t) function iocomp_type_size(type) bind(c, name="iocomp_f_type_size")
      import
      integer(c_int), intent(in) :: type
    end function

    ! A call whose result is a default logical, a text, or a list of texts goes through a procedure
    ! below.
    subroutine c_input_variables(input, names, ierr) bind(c, name="iocomp_f_input_variables")
      import
      type(iocomp_input), intent(in) :: input
      character(kind=c_char, len=:), allocatable, intent(out) :: names(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_input_attributes(input, names, variable, ierr) &
      bind(c, name="iocomp_f_input_attributes")
      import
      type(iocomp_input), intent(in) :: input
      character(kind=c_char, len=:), allocatable, intent(out) :: names(:)
      character(kind=c_char, len=*), intent(in), optional :: variable
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_should_stop(session, stop, ierr) bind(c, name="iocomp_f_should_stop")
      import
      type(iocomp_session), intent(in) :: session
      integer(c_int), intent(out) :: stop
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_test(ticket, reached, state, ierr) bind(c, name="iocomp_f_test")
      import
      type(iocomp_ticket), intent(in) :: ticket
      integer(c_int), intent(out) :: reached
      integer(c_int), intent(in), optional :: state
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_error(text) bind(c, name="iocomp_f_error")
      import
      character(kind=c_char, len=:), allocatable, intent(out) :: text
    end subroutine
    subroutine c_code_name(code, text) bind(c, name="iocomp_f_code_name")
      import
      integer(c_int), intent(in) :: code
      character(kind=c_char, len=:), allocatable, intent(out) :: text
    end subroutine
    subroutine c_settings(session, text) bind(c, name="iocomp_f_settings")
      import
      type(iocomp_session), intent(in) :: session
      character(kind=c_char, len=:), allocatable, intent(out) :: text
    end subroutine
  end interface

contains

  subroutine iocomp_should_stop(session, stop, ierr)
    type(iocomp_session), intent(in) :: session
    logical, intent(out) :: stop
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: answer
    call c_should_stop(session, answer, ierr)
    stop = answer /= 0
  end subroutine

  !> @param state  IOCOMP_REUSABLE where it is absent
  subroutine iocomp_test(ticket, reached, state, ierr)
    type(iocomp_ticket), intent(in) :: ticket
    logical, intent(out) :: reached
    integer(c_int), intent(in), optional :: state
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: answer
    call c_test(ticket, answer, state, ierr)
    reached = answer /= 0
  end subroutine

  !> @param names  as long as the longest
  subroutine iocomp_input_variables(input, names, ierr)
    type(iocomp_input), intent(in) :: input
    character(kind=c_char, len=:), allocatable, intent(out) :: names(:)
    integer(c_int), intent(out), optional :: ierr
    call c_input_variables(input, names, ierr)
    if (allocated(names)) call describe(names)
  end subroutine

  !> @param names     as long as the longest
  !> @param variable  absent: attributes of the file
  subroutine iocomp_input_attributes(input, names, variable, ierr)
    type(iocomp_input), intent(in) :: input
    character(kind=c_char, len=:), allocatable, intent(out) :: names(:)
    character(kind=c_char, len=*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: ierr
    if (present(variable)) then
      call c_input_attributes(input, names, variable // "", ierr) ! gfortran 12 crashes without // ""
    else
      call c_input_attributes(input, names, ierr=ierr)
    end if
    if (allocated(names)) call describe(names)
  end subroutine

  ! gfortran 12 forgets how long each text is that C has allocated: `print *, names` would read
  ! elsewhere. Texts that Fortran allocates are described as they are.
  subroutine describe(texts)
    character(kind=c_char, len=:), allocatable, intent(inout) :: texts(:)
    character(kind=c_char, len=len(texts)) :: same(size(texts))
    integer :: i, count, length
    count = size(same)
    length = len(same)
    do i = 1, count
      same(i) = texts(i)
    end do
    deallocate (texts)
    allocate (character(kind=c_char, len=length) :: texts(count))
    texts = same
  end subroutine

  function iocomp_error() result(text)
    character(kind=c_char, len=:), allocatable :: text
    call c_error(text)
  end function

  function iocomp_code_name(code) result(text)
    integer(c_int), intent(in) :: code
    character(kind=c_char, len=:), allocatable :: text
    call c_code_name(code, text)
  end function

  function iocomp_settings(session) result(text)
    type(iocomp_session), intent(in) :: session
    character(kind=c_char, len=:), allocatable :: text
    call c_settings(session, text)
  end function

  !> So that a job that ends by MPI_Abort has shown what it printed.
  subroutine flush_output() bind(c, name="iocomp_f_flush_output")
    flush(output_unit)
  end subroutine
end module
