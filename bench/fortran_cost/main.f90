! SPDX-License-Identifier: BSD-3-Clause
! The same block is put from Fortran and from C in turn: how long is each inside the call?
!   fortran_cost --file <path> --json <path> [--repeats <puts of 4 KiB>]
program fortran_cost
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use iocomp
  implicit none
  interface
    real(c_double) function c_now_seconds() bind(c)
      import
    end function
    integer(c_int) function c_put(var, values, count, ticket, seconds) bind(c)
      import
      type(iocomp_var), intent(in) :: var
      real(c_double), intent(in), asynchronous :: values(*)
      integer(c_int64_t), value :: count
      type(iocomp_ticket), intent(out) :: ticket
      real(c_double), intent(out) :: seconds
    end function
  end interface
  integer, parameter :: sizes(2) = [4096, 67108864]
  character(200) :: path = "fortran_cost.dat", json = "", word
  type(iocomp_session) :: session
  real(c_double), pointer, contiguous, asynchronous :: values(:)
  integer :: repeats = 4000, i, unit
  real(c_double) :: medians(2, 2)

  do i = 1, command_argument_count() - 1, 2
    call get_command_argument(i, word)
    select case (word)
    case ("--file")
      call get_command_argument(i + 1, path)
    case ("--json")
      call get_command_argument(i + 1, json)
    case ("--repeats")
      call get_command_argument(i + 1, word)
      read (word, *) repeats
    case default
      error stop "fortran_cost --file <path> --json <path> [--repeats <puts>]"
    end select
  end do
  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, session, "files.s1.path = '"//trim(path)//".1'"//new_line("a")// &
                   "files.s2.path = '"//trim(path)//".2'")
  call iocomp_alloc(session, values, [sizes(2)/8])
  values = 1
  medians(:, 1) = measure("s1", sizes(1)/8, repeats)
  medians(:, 2) = measure("s2", sizes(2)/8, max(2, repeats/130))
  call iocomp_finalize(session)
  if (json == "") json = "/dev/stdout"
  open (newunit=unit, file=json, action="write")
  write (unit, '(a)') '{"program": "fortran_cost", "sizes": {'
  do i = 1, 2
    write (unit, '(a, i0, a, es14.6, a, es14.6, a)') '"', sizes(i), '": {"fortran_seconds":', &
      medians(1, i), ', "c_seconds":', medians(2, i), merge("},", "}}", i == 1)
  end do
  write (unit, '(a)') "}"
  close (unit)
  call MPI_Finalize()

contains

  !> Medians of the seconds inside a put of `count` elements, from Fortran and from C.
  function measure(name, count, puts) result(found)
    character(*), intent(in) :: name
    integer, intent(in) :: count, puts
    real(c_double) :: found(2), begin, seconds(puts, 2)
    type(iocomp_file) :: file
    type(iocomp_var) :: var
    type(iocomp_ticket) :: ticket
    integer :: put, turn, from
    call iocomp_open(session, name, IOCOMP_SERIES, file)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [count], var)
    do put = 0, puts                               ! the first makes buffers
      do turn = 1, 2
        from = merge(turn, 3 - turn, mod(put, 2) == 0)
        begin = c_now_seconds()
        if (from == 1) then
          call iocomp_put(var, values(1:count), start=[1], ticket=ticket)
          begin = c_now_seconds() - begin
        else if (c_put(var, values, int(count, c_int64_t), ticket, begin) /= IOCOMP_OK) then
          error stop "iocomp_put"
        end if
        if (put > 0) seconds(put, from) = begin
        call iocomp_end_step(file)
        call iocomp_wait(ticket, IOCOMP_WRITTEN)
      end do
    end do
    call iocomp_close(file)
    found = [median(seconds(:, 1)), median(seconds(:, 2))]
  end function

  real(c_double) function median(samples)
    real(c_double), intent(in) :: samples(:)
    integer :: i
    do i = 1, size(samples)
      if (count(samples < samples(i)) <= size(samples)/2 .and. &
          count(samples > samples(i)) <= size(samples)/2) median = samples(i)
    end do
  end function
end program
