! SPDX-License-Identifier: BSD-3-Clause
! Sections of local arrays go out as the program sees them, and blocks are read into sections.
!   sections          all of them, checked
!   sections <which>  one of them, so that the trace tells what was copied: whole, columns, gaps
program sections
  use, intrinsic :: iso_fortran_env
  use mpi_f08
  use iocomp
  use expectations
  implicit none
  type(iocomp_session) :: session
  type(iocomp_file) :: file
  type(iocomp_input) :: input
  type(MPI_Comm) :: comm
  integer :: rank, i, cases = 0
  real(real64), asynchronous :: a(0:9, 8), b(2:5, 4, 3:7)
  real(real64), allocatable, asynchronous :: large(:, :)
  real(real64), pointer :: p(:, :)
  character(6), asynchronous :: words(4) = ["first ", "second", "third ", "fourth"]
  character(20) :: which

  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, session)
  call iocomp_comm(session, comm)
  call MPI_Comm_rank(comm, rank)
  a = reshape([(100*rank + i, i=1, size(a))], shape(a))
  b = reshape([(1000*rank + i, i=1, size(b))], shape(b))
  allocate (large(0:999, 800), source=1.0_real64)
  call get_command_argument(1, which)
  call iocomp_open(session, "sections", IOCOMP_SERIES, file)
  select case (which)
  case ("whole")
    call put_alone(large)
  case ("columns")
    call put_alone(large(:, 3:600))
  case ("gaps")
    call put_alone(large(0:999:3, :))
  case default
    call all_of_them()
  end select
  call iocomp_finalize(session)
  call MPI_Finalize()

contains

  subroutine put_alone(values)
    real(real64), intent(in), asynchronous :: values(:, :)
    type(iocomp_var) :: var
    call iocomp_define(file, "u", IOCOMP_FLOAT64, shape(values), var)
    call iocomp_put(var, values)
    call iocomp_close(file)
  end subroutine

  subroutine all_of_them()
    call iocomp_alloc(session, p, [10, 8])
    call expect(all(shape(p) == [10, 8]) .and. all(lbound(p) == 1) .and. all(p == 0), "alloc")
    p = a
    call put2(a, a)
    call put2(a(1:8, 2:7), a(1:8, 2:7))               ! a box
    call put2(a(:, 1:8:2), a(:, 1:8:2))               ! also one
    call put2(a(3:4, 5:5), a(3:4, 5:5))
    call put2(a(5:5, :), a(5:5, :))
    call put2(a(1:9:2, :), a(1:9:2, :))               ! gaps
    call put2(a(9:0:-1, 8:1:-2), a(9:0:-1, 8:1:-2))
    call put2(b(:, 2, :), b(:, 2, :))
    call put2(b(3, :, :), b(3, :, :))
    call put2(b(2:4, 2:3, 5), b(2:4, 2:3, 5))
    call put2(p, a)
    call put2(p(2:9, 2:7), a(1:8, 2:7))
    call put2(a(1:0, :), a(1:0, :))                   ! nothing
    call more()
    call iocomp_close(file)
    call read_back()
    call iocomp_free(session, p)
  end subroutine

  function next_name() result(name)
    character(4) :: name
    cases = cases + 1
    write (name, '(a, i2.2)') "v", cases
  end function

  !> Put `section` behind those of other ranks, and remember what must be there.
  subroutine put2(section, same)
    real(real64), intent(in), asynchronous :: section(:, :)
    real(real64), intent(in) :: same(:, :)
    integer :: ranks
    type(iocomp_var) :: var, expected
    character(4) :: name
    call MPI_Comm_size(comm, ranks)
    name = next_name()
    call iocomp_define(file, name, IOCOMP_FLOAT64, [size(section, 1), ranks*size(section, 2)], var)
    call iocomp_define(file, trim(name)//"e", IOCOMP_FLOAT64, &
                       [size(section, 1), ranks*size(section, 2)], expected)
    call iocomp_put(var, section, [1, rank*size(section, 2) + 1])
    call iocomp_put_buffered(expected, reshape(same, shape(same)), [1, rank*size(section, 2) + 1])
  end subroutine

  !> Other shapes of memory, from rank 0.
  subroutine more()
    type(iocomp_var) :: flat, halo, assumed, text, one_text, row, single
    integer :: whole(8) = [(i, i=1, 8)]
    call iocomp_define(file, "flat", IOCOMP_FLOAT64, [5, 4, 4], flat)
    call iocomp_define(file, "halo", IOCOMP_FLOAT64, [8, 6], halo)
    call iocomp_define(file, "assumed", IOCOMP_FLOAT64, [4, 3], assumed)
    call iocomp_define(file, "text", IOCOMP_CHAR, [6, 4], text)
    call iocomp_define(file, "one_text", IOCOMP_CHAR, [11], one_text)
    call iocomp_define(file, "row", IOCOMP_FLOAT64, [8_int64], row)
    call iocomp_define(file, "single", IOCOMP_FLOAT64, [8, 2], single, file_type=IOCOMP_FLOAT32)
    if (rank > 0) return
    call iocomp_put(single, a(1:8, 1:1))                                ! converted
    call iocomp_put_buffered(single, whole, [1, 2], [8, 1])             ! of another kind
    call iocomp_put(flat, a, count=[5, 4, 4])                           ! another rank
    call iocomp_put(halo, a, [1, 1], [8, 6], memory_start=[2, 2])  ! without a halo of one
    call put_assumed(a, assumed)
    call iocomp_put(text, words(4:1:-1))
    call iocomp_put(one_text, "an expressi")
    call iocomp_put(row, a(2, :))
  end subroutine

  subroutine put_assumed(values, var)
    real(real64), intent(in), asynchronous :: values(*)
    type(iocomp_var), intent(in) :: var
    integer :: ierr
    call iocomp_put(var, values, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "say count") > 0, &
                iocomp_error())
    call iocomp_put(var, values, count=[4, 3])
  end subroutine

  subroutine read_back()
    real(real64), allocatable :: found(:, :), expected(:, :)
    real(real64) :: field(0:21, -1:20), flat(5, 4, 4), row(8), work(48)
    real(real32) :: singles(8, 2)
    character(6) :: some(0:9)
    character(11) :: text
    character(4) :: name
    integer :: extents(2), n
    call iocomp_open_input(session, "sections", input)
    do n = 1, cases
      write (name, '(a, i2.2)') "v", n
      call iocomp_input_variable(input, name, 0, shape=extents)
      allocate (found(extents(1), extents(2)), expected(extents(1), extents(2)))
      call iocomp_read(input, name, 0, found)
      call iocomp_read(input, trim(name)//"e", 0, expected)
      call expect(all(found == expected), name)
      deallocate (found, expected)
    end do

    field = -1
    call iocomp_read(input, "halo", 0, field(2:18:2, 3:8), count=[8, 6], ierr=n)
    call expect(n == IOCOMP_INVALID_ARGUMENT, "9 elements for 8")
    call iocomp_read(input, "halo", 0, field(2:16:2, 3:8))              ! gaps
    call expect(all(field(2:16:2, 3:8) == first_a(1, 2)), "a section with gaps")
    call expect(count(field /= -1) == 48, "the rest stays")
    field = -1
    call iocomp_read(input, "halo", 0, field(4:11, 8:3:-1))
    call expect(all(field(4:11, 8:3:-1) == first_a(1, 2)), "backwards")
    field = -1
    call iocomp_read(input, "halo", 0, field(1:8, 0:5))                 ! a box
    call expect(all(field(1:8, 0:5) == first_a(1, 2)) .and. count(field /= -1) == 48, "a box")
    field = -1
    call iocomp_read(input, "halo", 0, field, [1, 1], [8, 6], memory_start=[3, 4])
    call expect(all(field(2:9, 2:7) == first_a(1, 2)) .and. count(field /= -1) == 48, "read into a box")
    call iocomp_read(input, "halo", 0, work, count=[8, 6])
    call expect(all(reshape(work, [8, 6]) == first_a(1, 2)), "another rank")
    call iocomp_read(input, "flat", 0, flat)
    call expect(all(reshape(flat, [80]) == [(i, i=1, 80)]), "flat")
    call iocomp_read(input, "assumed", 0, flat(:, 1, :), count=[4, 3], ierr=n)
    call expect(n == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "20 elements") > 0, &
                iocomp_error())
    call iocomp_read(input, "single", 0, singles)
    call expect(all(singles(:, 1) == [(i, i=2, 9)]) .and. all(singles(:, 2) == [(i, i=1, 8)]), &
                "single")
    call iocomp_read(input, "single", 0, field(1:8, 1:2))               ! of another kind
    call expect(all(field(1:8, 1:2) == singles), "single as double")
    call iocomp_read(input, "row", 0, row)
    call expect(all(row == [(10*i + 3, i=0, 7)]), "row")
    some = "."
    call iocomp_read(input, "text", 0, some(1:7:2))
    call expect(all(some(1:7:2) == words(4:1:-1)) .and. all(some(0:8:2) == "."), "texts")
    call iocomp_read(input, "one_text", 0, text)
    call expect(text == "an expressi", "a text: "//text)
    call iocomp_close_input(input)
  end subroutine

  !> What rank 0 has in a, without the halo that "halo" was put without.
  function first_a(from, from2) result(part)
    integer, intent(in) :: from, from2
    real(real64) :: whole(0:9, 8), part(8, 6)
    whole = reshape([(i, i=1, size(whole))], shape(whole))
    part = whole(from:from + 7, from2:from2 + 5)
  end function
end program
