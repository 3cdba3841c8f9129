! SPDX-License-Identifier: BSD-3-Clause
! The calls that are not about arrays in memory: calls <case>, on any number of ranks.
program calls
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use mpi_f08
  use iocomp
  use expectations
  implicit none
  type(iocomp_session) :: session
  type(iocomp_file) :: file
  type(iocomp_input) :: input
  type(iocomp_var) :: var
  type(MPI_Comm) :: comm
  integer :: rank, ranks, i, ierr
  character(20) :: which

  call get_command_argument(1, which)
  call MPI_Init()
  call iocomp_init(MPI_COMM_WORLD, session, settings="files.default.existing = 'continue'   ")
  call iocomp_comm(session, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  select case (which)
  case ("maps")
    call maps()
  case ("steps")
    call steps()
  case ("overwrite")
    call overwrite()
  case ("rows")
    call rows()
  case ("options")
    call options()
  case ("attributes")
    call attributes()
  case ("logicals")
    call logicals()
  case ("odd reads")
    call odd_reads()
  case ("stop")
    call stop_when_told()
  case ("session")
    call about_the_session()
  case ("mistakes")
    call mistakes()
  case ("no ierr")
    call iocomp_open(session, "one/two", IOCOMP_SERIES, file)
  case default
    error stop "which case?"
  end select
  call iocomp_finalize(session)
  call MPI_Finalize()

contains

  !> Elements dealt out like cards, 3 x 8 of them; each rank has a halo element besides.
  subroutine maps()
    integer, parameter :: shape(2) = [3, 8]
    type(iocomp_decomp) :: by_map, by_runs
    type(iocomp_var) :: scattered, columns
    integer, allocatable :: mine(:)
    integer(int64), allocatable :: first(:)
    real(real64), allocatable, asynchronous :: values(:)
    real(real64) :: all_of_it(3, 8), wide(2, 24)
    type(iocomp_ticket) :: ticket

    mine = [-1, (i, i=24 - rank, 1, -ranks)]          ! downwards, so in no ascending order
    values = mine
    call iocomp_decompose(session, shape, mine, by_map)
    first = [(3*int(i - 1, int64) + 1, i=rank + 1, 8, ranks)]
    call iocomp_decompose(session, shape, first, by_runs, 0*first + 3)
    call iocomp_open(session, "maps", IOCOMP_SERIES, file)
    call iocomp_define(file, "scattered", IOCOMP_FLOAT64, shape, scattered)
    call iocomp_define(file, "columns", IOCOMP_FLOAT64, shape, columns)
    call iocomp_put(scattered, values, decomp=by_map, ticket=ticket)
    call iocomp_wait(ticket)
    values = -5
    wide = 0
    wide(1, 1:3*size(first)) = [((first(i) + ierr, ierr=0, 2), i=1, size(first))]
    call iocomp_put_buffered(columns, wide(1, 1:3*size(first)), decomp=by_runs)
    wide = -7
    call iocomp_put(columns, values, [1, 1], decomp=by_runs, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "a decomposition and a start")
    call iocomp_put(columns, values(1:1), decomp=by_runs, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .or. size(first)*3 == 1, "one value for a part")
    call iocomp_decompose(session, shape, [25], by_runs, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "element 25 of 24")
    call iocomp_decomp_free(by_map)
    call iocomp_close(file)

    call iocomp_open_input(session, "maps", input)
    call iocomp_read(input, "scattered", 0, all_of_it)
    call expect(all(reshape(all_of_it, [24]) == [(i, i=1, 24)]), "by map")
    call iocomp_read(input, "columns", 0, all_of_it)
    call expect(all(reshape(all_of_it, [24]) == [(i, i=1, 24)]), "by runs")
    call iocomp_close_input(input)
  end subroutine

  !> Particles behind those of the ranks before, more in each step. A row is along the last dimension.
  subroutine rows()
    type(iocomp_var) :: vars(2), one
    type(iocomp_ticket) :: ticket
    real(real64), allocatable, asynchronous :: x(:, :)
    real(real64), allocatable :: all_x(:, :)
    integer, asynchronous, allocatable :: id(:)
    integer(int64) :: first(2), total(2)
    integer(int32) :: begin(1), shape(2), n(1)
    integer :: step, mine

    call iocomp_open(session, "rows", IOCOMP_SERIES, file, "path = 'rows.bin'")
    call iocomp_define(file, "x", IOCOMP_FLOAT64, [3, 0], vars(1))
    call iocomp_define(file, "id", IOCOMP_INT32, [0], vars(2))
    do step = 0, 2
      mine = rank + step
      allocate (x(3, mine), id(mine))
      call iocomp_set_rows(vars, [mine, mine], first, total)
      call expect(all(total == ranks*step + ranks*(ranks - 1)/2), "the rows of all")
      call expect(all(first == 1 + rank*step + rank*(rank - 1)/2), "the first of this rank")
      x = step + rank
      id = [(int(first(2)) + i, i=0, mine - 1)]
      call iocomp_put(vars(1), x, [1_int64, first(1)])
      call iocomp_put_buffered(vars(2), id, first(2:2), ticket=ticket)
      call iocomp_end_step(file)
      call iocomp_wait_step(file, step)
      deallocate (x, id)
    end do
    call iocomp_set_rows(vars, [1], ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "one number for two variables")
    call iocomp_close(file)

    call iocomp_open_input(session, "rows", input, "path = 'rows.bin'")
    call iocomp_input_variable(input, "x", 2, shape=shape)
    call expect(all(shape == [3, 2*ranks + ranks*(ranks - 1)/2]), "the shape")
    allocate (all_x(shape(1), shape(2)))
    call iocomp_read(input, "x", 2, all_x)
    call expect(all(all_x(3, :) == [((2 + mine, i=1, mine + 2), mine=0, ranks - 1)]), "what was put")
    call iocomp_close_input(input)

    call iocomp_open(session, "rows", IOCOMP_CHECKPOINT, file, "path = 'one.bin'", comm=comm)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [0], one)
    call iocomp_set_rows([one], [1], begin, n)
    call expect(begin(1) == rank + 1 .and. n(1) == ranks, "one row of each rank")
    call iocomp_put_buffered(one, [real(rank, real64)], begin, ticket=ticket)
    call iocomp_end_step(file)
    call iocomp_wait(ticket)
    call iocomp_close(file)
  end subroutine

  !> A path in the call, closes that nobody waits for, what to restart from.
  subroutine options()
    type(iocomp_ticket) :: ticket
    character(40) :: path
    character(:), allocatable :: release
    real(real64) :: time
    integer :: step

    do step = 1, 4
      write (path, "('path = ""at', i0, '.bin""')") step
      call iocomp_open(session, "at", IOCOMP_CHECKPOINT, file, path, after=3, comm=comm%mpi_val)
      call iocomp_define(file, "u", IOCOMP_FLOAT64, [ranks], var)
      call iocomp_begin_step(file, step, 0.5_real64)
      call iocomp_put(var, [real(rank, real64)], [rank + 1])
      call iocomp_close_later(file, ticket)
    end do
    call iocomp_wait(ticket, IOCOMP_DURABLE)
    call iocomp_latest(session, "at", step, time, input, path)
    call expect(step == 4 .and. time == 0.5_real64, "the last of them")
    call iocomp_close_input(input)
    call iocomp_open(session, "at", IOCOMP_SERIES, file, "path = 1", ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_SETTING, "a path that is a number")
    call expect(index(iocomp_error(), "(in the call)") > 0, "its origin")
    call iocomp_open(session, "at", IOCOMP_SERIES, file, " ", comm=1.0_real64, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "a communicator that is none")
    call expect(iocomp_version() > 0 .and. iocomp_version(release) == iocomp_version(), "the release")
    call expect(index(release, ".") > 1, release)
  end subroutine

  !> Checkpoints: numbers, times, a change of shape, fill values, and where to restart.
  subroutine steps()
    real(real64) :: time, two(2), six(2, 3)
    real(real64), asynchronous :: u(2, 3) = reshape([1, 2, 3, 4, 5, 6], [2, 3])
    integer(int64) :: step
    integer(int64), allocatable :: all_steps(:)
    character(:), allocatable :: causes(:)
    integer :: n
    logical :: reached
    type(iocomp_ticket) :: ticket

    call iocomp_latest(session, "restart", step, time, input)
    call expect(step == -1 .and. ieee_is_nan(time), "nothing is committed yet")
    call iocomp_open(session, "restart", IOCOMP_CHECKPOINT, file)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [2, 2*ranks], var)
    call iocomp_set_fill(var, -1.0_real64)
    call iocomp_begin_step(file, 10, 0.5_real64)
    call expect(iocomp_current_step(file) == 10, "current_step")
    call iocomp_put(var, u(:, 2:2), [1, 2*rank + 1], ticket=ticket)
    call iocomp_end_step(file)
    call iocomp_wait(ticket, IOCOMP_WRITTEN)
    call iocomp_test(ticket, reached, IOCOMP_WRITTEN)
    call expect(reached, "test after wait")
    call iocomp_wait_step(file, 10)
    call iocomp_test(ticket, reached)
    call expect(reached, "durable includes handed over")
    call iocomp_set_shape(var, [2, 3*ranks])
    call iocomp_begin_step(file, 20_int64)
    call iocomp_put(var, u, [1, 3*rank + 1], ticket=ticket)
    call iocomp_close(file)

    call iocomp_latest(session, "restart", n, time, input)
    call expect(n == 20 .and. ieee_is_nan(time), "the newest step, without a time")
    call iocomp_input_steps(input, all_steps)
    call expect(all(all_steps == [10, 20]), "two steps")
    call iocomp_input_time(input, 10, time)
    call expect(time == 0.5_real64, "the time of a step")
    call iocomp_input_left_out(input, all_steps, causes)
    call expect(size(all_steps) == 0 .and. size(causes) == 0, "nothing is left out")
    call iocomp_read(input, "u", 10, two, [1, 2*rank + 1], count=[2, 1])
    call expect(all(two == u(:, 2)), "what was put")
    call iocomp_read(input, "u", 10, two, [1, 2*rank + 2], count=[2, 1])
    call expect(all(two == -1), "the fill value")
    call iocomp_read(input, "u", 20, six, [1, 3*rank + 1])
    call expect(all(six == u), "another shape")
    call iocomp_close_input(input)
    call MPI_Barrier(comm)  ! every rank has read step 20, which is dropped now
    call iocomp_open(session, "restart", IOCOMP_CHECKPOINT, file, after=10)
    call iocomp_close(file)
    call iocomp_latest(session, "restart", n, time, input)
    call expect(n == 10, "after takes the steps behind away")
    call iocomp_close_input(input)
  end subroutine

  !> An array changes as soon as it is handed over, again and again.
  subroutine overwrite()
    real(real64), asynchronous :: u(4096)
    real(real64) :: found(4096)
    type(iocomp_ticket) :: ticket
    call iocomp_open(session, "overwrite", IOCOMP_SERIES, file)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [4096*ranks], var)
    do i = 1, 40
      u = i
      call iocomp_put(var, u, [4096*rank + 1], ticket=ticket)
      call iocomp_end_step(file)
      call iocomp_wait(ticket)
    end do
    u = -1
    call iocomp_close(file)
    call iocomp_open_input(session, "overwrite", input)
    do i = 1, 40
      call iocomp_read(input, "u", i - 1, found, [4096*rank + 1])
      call expect(all(found == i), "what was there when it was put")
    end do
    call iocomp_close_input(input)
  end subroutine

  subroutine attributes()
    character(:), allocatable :: text, names(:)
    character(200) :: line
    integer :: numbers(3), type, ndims
    logical :: flags(2)
    integer(int64) :: size_of
    real(real64) :: grid(2, 2) = reshape([1, 2, 3, 4], [2, 2]), back(4)
    call iocomp_open(session, "attributes", IOCOMP_SERIES, file)
    call iocomp_define(file, "u", IOCOMP_INT32, [2, 3], var)
    call iocomp_define(file, "scalar", IOCOMP_INT64, [integer ::], var)
    if (rank == 0) call iocomp_put(var, 5_int64)
    call iocomp_set_attribute(file, "numbers", [1, 2, 3])
    call iocomp_set_attribute(file, "title", "a title  ")
    call iocomp_set_attribute(file, "more", "more")
    call iocomp_set_attribute(var, "members", [character(6) :: "mean", "spread", ""])
    call iocomp_set_attribute(var, "bad", [character(3) :: "a"//achar(0)//"b", "c"], ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "text 1") > 0, &
                iocomp_error())
    call iocomp_set_attribute(var, "bad", reshape(["a", "b"], [1, 2]), ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "2 dimensions") > 0, &
                iocomp_error())
    call iocomp_set_attribute(var, "grid", grid(:, 2:1:-1))
    call iocomp_set_attribute(var, "one", 1.5)
    call iocomp_set_attribute(var, "units", "m/s")
    call iocomp_set_attribute(var, "flags", [.true., .false.])
    call iocomp_set_attribute(file, "bad", "ab"//achar(0)//"cd", ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "at byte 2") > 0, &
                iocomp_error())
    call iocomp_set_attribute(var, "bad", "ab"//achar(0)//"cd", ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "a text of a variable with a zero inside")
    call iocomp_set_attribute(file, "na"//achar(0)//"me", "text", ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "a name with a zero inside")
    call iocomp_set_attribute(file, "more", "more"//achar(0)//" ")
    call iocomp_close(file)

    call iocomp_open_input(session, "attributes", input)
    call iocomp_input_attributes(input, names)
    call expect(all(names == ["more   ", "numbers", "title  "]) .and. len(names) == 7, "of the file")
    call iocomp_input_attribute(input, "more", type=type, count=size_of)
    call expect(type == IOCOMP_CHAR .and. size_of == 4, "a text")
    call iocomp_input_attribute(input, "numbers", type=type, count=size_of)
    call expect(type == IOCOMP_INT32 .and. size_of == 3, "three numbers")
    call iocomp_input_attribute(input, "title", text=text)
    call expect(text == "a title", text)
    call iocomp_input_attribute(input, "numbers", values=numbers)
    call expect(all(numbers == [1, 2, 3]), "numbers")
    call iocomp_input_attribute(input, "numbers", values=back, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "of another type")
    call iocomp_input_attribute(input, "numbers", values=numbers(:2), ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "of another length")
    call iocomp_input_attribute(input, "numbers", text=text, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "IOCOMP_INT32") > 0, &
                iocomp_error())
    call iocomp_input_attribute(input, "number", ierr=ierr)
    call expect(ierr == IOCOMP_NOT_FOUND .and. index(iocomp_error(), "numbers") > 0, iocomp_error())
    call iocomp_input_attributes(input, names, "scalar")
    call expect(all(names == ["flags  ", "grid   ", "members", "one    ", "units  "]), &
                "of the variable")
    call iocomp_input_attribute(input, "members", "scalar", type=type, count=size_of, texts=names)
    call expect(type == IOCOMP_STRING .and. size_of == 3 .and. len(names) == 6 .and. &
                all(names == [character(6) :: "mean", "spread", ""]), "a list of texts")
    call iocomp_input_attribute(input, "units", "scalar", texts=names, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "IOCOMP_CHAR") > 0, &
                iocomp_error())
    call iocomp_input_attribute(input, "flags", "scalar", values=flags)
    call expect(flags(1) .and. .not. flags(2), "truth values")
    call iocomp_input_attribute(input, "grid", "scalar", values=back(4:1:-1))
    call expect(all(back == [2, 1, 4, 3]), "a grid, backwards")
    call iocomp_input_attribute(input, "units", "scalar", text=text)
    call expect(text == "m/s", text)
    call iocomp_input_variables(input, names)
    call expect(names(size(names)) == "scalar", "the variables")
    write (line, "(*(a))") names
    call expect(index(line, names(size(names)), back=.true.) == 1 + (size(names) - 1) * len(names), &
                "the variables, printed")
    call iocomp_input_variable(input, "scalar", type=type, ndims=ndims)
    call expect(type == IOCOMP_INT64 .and. ndims == 0, "a scalar")
    call iocomp_input_variable(input, "scalar", 7, ierr=ierr)
    call expect(ierr == IOCOMP_NOT_FOUND, "no such step")
    call iocomp_close_input(input)
  end subroutine

  subroutine put_some(var, values, decomp)
    type(iocomp_var), intent(in) :: var
    logical, intent(in), asynchronous :: values(*)
    type(iocomp_decomp), intent(in) :: decomp
    call iocomp_put_buffered(var, values, decomp=decomp)
  end subroutine

  !> Truth values of several kinds, sections of them, and expressions of all sorts that are copied.
  subroutine logicals()
    logical, asynchronous :: mask(4, 6), back(4, 6)
    logical(1) :: short(4, 6)
    integer(int8) :: bytes(4, 6)
    real(real64) :: x(6) = [1, 2, 3, 4, 5, 6], y(3, ranks)
    character(:), allocatable :: text
    integer :: list(3) = [5, 1, 3]
    type(iocomp_var) :: masks, shorts, numbers, filled, parts
    type(iocomp_decomp) :: backwards
    logical :: few(4), all_of_them(4*ranks)
    call iocomp_open(session, "logicals", IOCOMP_SERIES, file)
    call iocomp_define(file, "masks", IOCOMP_BOOL, [4, 6*ranks], masks, dims=["x   ", "y   ", "time"])
    call iocomp_define(file, "shorts", IOCOMP_BOOL, [4, 6*ranks], shorts)
    call iocomp_define(file, "numbers", IOCOMP_FLOAT64, [3, ranks], numbers)
    call iocomp_define(file, "filled", IOCOMP_BOOL, [4*ranks], filled)
    call iocomp_set_fill(filled, .true.)
    call iocomp_define(file, "wrong", IOCOMP_INT8, [1, 1], var, dims=["one"], ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "one name for two dimensions")
    call iocomp_define(file, "wrong", IOCOMP_INT8, [1, 1], var, dims=["a", "b", "c"], ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "three names, and no time")
    mask = reshape([(mod(i + rank, 3) == 0, i=1, 24)], [4, 6])
    short = .not. mask
    call iocomp_put(masks, mask(:, 1:6:2), [1, 6*rank + 1])
    call iocomp_put_buffered(masks, mask(4:1:-1, 4:6), [1, 6*rank + 4])
    call iocomp_put(shorts, short, [1, 6*rank + 1])
    call iocomp_put_buffered(numbers, (x(list)), [1, rank + 1], count=[3, 1])
    mask = .false.
    call iocomp_put_buffered(filled, [.false.], [4*rank + 2])
    call iocomp_define(file, "parts", IOCOMP_BOOL, [4*ranks], parts)
    call iocomp_decompose(session, [4*ranks], [(4*rank + i, i=4, 1, -1)], backwards)
    few = [.true., .true., .true., .false.]
    call put_some(parts, few, backwards)
    call iocomp_decomp_free(backwards)
    call iocomp_close(file)

    call iocomp_open_input(session, "logicals", input)
    call iocomp_read(input, "filled", 0, all_of_them)
    call expect(all(all_of_them .eqv. [(mod(i, 4) /= 2, i=1, 4*ranks)]), "a fill value")
    call iocomp_read(input, "parts", 0, all_of_them)
    call expect(all(all_of_them .eqv. [(mod(i, 4) /= 1, i=1, 4*ranks)]), "an unknown size")
    mask = reshape([(mod(i + rank, 3) == 0, i=1, 24)], [4, 6])
    back = .true.
    call iocomp_read(input, "masks", 0, back, [1, 6*rank + 1])
    call expect(all(back(:, 1:3) .eqv. mask(:, 1:6:2)), "columns of truth values")
    call expect(all(back(:, 4:6) .eqv. mask(4:1:-1, 4:6)), "backwards")
    call iocomp_read(input, "shorts", 0, bytes, [1, 6*rank + 1])
    call expect(all((bytes == 1) .neqv. mask) .and. all(bytes == 0 .or. bytes == 1), "0 or 1")
    call iocomp_read(input, "numbers", 0, y)
    call expect(all(y(:, rank + 1) == [5, 1, 3]), "a section by a list")
    call iocomp_input_attribute(input, "dtype", "masks", text=text)
    call expect(text == "bool", text)
    call iocomp_input_attribute(input, "dimensions", "masks", text=text)
    call expect(text == "time y x", text)
    call iocomp_close_input(input)
  end subroutine

  !> What is asked for an array of another shape, of the widest kind of logical, or where there is nothing.
  subroutine odd_reads()
    integer, parameter :: widest = merge(16, 8, selected_int_kind(38) > 0)
    logical(widest), asynchronous :: mask(3), back(3)
    logical(8) :: other(3)
    real(real64), asynchronous :: x(4)
    real(real64) :: part(2)
    character(4) :: text
    character(2) :: cut
    character(:), allocatable :: names(:), causes(:)
    integer(int64), allocatable :: steps(:)
    type(iocomp_var) :: masks, numbers, texts
    call iocomp_open(session, "odd", IOCOMP_SERIES, file)
    call iocomp_define(file, "masks", IOCOMP_BOOL, [3*ranks], masks)
    call iocomp_define(file, "numbers", IOCOMP_FLOAT64, [4*ranks], numbers)
    call iocomp_define(file, "text", IOCOMP_CHAR, [4], texts)
    call iocomp_set_attribute(masks, "empty", ["", ""])
    mask = [.true., .false., .true.]
    call iocomp_put(masks, mask, [3*rank + 1])
    x = [(4*rank + i, i=1, 4)]
    call iocomp_put(numbers, x, [4*rank + 1])
    if (rank == 0) call iocomp_put_buffered(texts, "abcd")
    call iocomp_end_step(file)
    call iocomp_put_buffered(numbers, x, [4*rank + 1])
    call iocomp_begin_step(file, IOCOMP_DROP_STEP)
    call iocomp_put(numbers, x, [4*rank + 1], ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "dropped") > 0, iocomp_error())
    call iocomp_close(file)

    call iocomp_open_input(session, "odd", input)
    call iocomp_read(input, "masks", 0, back, [3*rank + 1])
    call expect(logical(all(back .eqv. mask)), "the widest logical")
    call iocomp_read(input, "masks", 0, other, [3*rank + 1])
    call expect(logical(all(other .eqv. mask)), "a wide logical")
    call iocomp_read(input, "numbers", 0, part, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT .and. index(iocomp_error(), "the shape [2]") > 0, iocomp_error())
    call iocomp_read(input, "numbers", 0, part, [4*rank + 3])
    call expect(all(part == 4*rank + [3, 4]), "a part")
    call iocomp_read(input, "text", 0, cut, ierr=ierr)
    call expect(ierr == IOCOMP_INVALID_ARGUMENT, "half a text")
    call iocomp_read(input, "text", 0, text)
    call expect(text == "abcd", text)
    call iocomp_input_steps(input, steps)
    call expect(size(steps) == 1, "the dropped step")
    call iocomp_input_attributes(input, names)
    call expect(size(names) == 0, "no attributes")
    call iocomp_input_attributes(input, names, "numbers")
    call expect(size(names) == 0, "no attributes of a variable")
    call iocomp_input_left_out(input, steps, causes)
    call expect(size(steps) == 0 .and. size(causes) == 0, "no step is left out")
    call iocomp_input_attribute(input, "empty", "masks", texts=names)
    call expect(size(names) == 2 .and. all(names == ""), "empty texts")
    call iocomp_close_input(input)
    call other_steps()
  end subroutine

  !> Steps of a set may differ in type and dimensions.
  subroutine other_steps()
    real(real64) :: square(3, 2), line(2)
    call iocomp_open(session, "others", IOCOMP_CHECKPOINT, file)
    call iocomp_define(file, "u", IOCOMP_FLOAT32, [3, 2], var)
    square = reshape([1, 2, 3, 4, 5, 6], [3, 2])
    if (rank == 0) call iocomp_put_buffered(var, square)
    call iocomp_close(file)
    call iocomp_open(session, "others", IOCOMP_CHECKPOINT, file)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [6], var)
    if (rank == 0) call iocomp_put_buffered(var, [6.0d0, 5.0d0, 4.0d0, 3.0d0, 2.0d0, 1.0d0])
    call iocomp_close(file)
    call iocomp_open_input(session, "others", input)
    square = 0
    call iocomp_read(input, "u", 0, square)
    call expect(all(square == reshape([1, 2, 3, 4, 5, 6], [3, 2])), "an older step")
    call iocomp_read(input, "u", 0, square(1:1, :), [2, 1])
    call expect(all(square(1, :) == [2, 5]), "a part of an older step")
    call iocomp_read(input, "u", 1, line, [5])
    call expect(all(line == [2, 1]), "the newest step")
    call iocomp_close_input(input)
  end subroutine

  subroutine stop_when_told()
    logical :: stop
    integer :: step
    do step = 1, 1000000
      call iocomp_should_stop(session, stop)
      if (stop) exit
      if (rank == 0 .and. step == 3) print '(a)', "running"
      if (rank == 0 .and. step == 3) flush (output_unit)
    end do
    call expect(stop, "told to stop")
    call iocomp_should_stop(session, stop)
    call expect(stop, "it stays so")
  end subroutine

  subroutine about_the_session()
    type(MPI_Comm) :: half
    integer :: other
    call iocomp_comm(session, other)
    call expect(other == comm%mpi_val, "the communicator as an integer")
    call expect(iocomp_role(session) == IOCOMP_BOTH, "the role")
    call expect(index(iocomp_settings(session), "continue") > 0, "the settings")
    call expect(iocomp_code_name(IOCOMP_NOT_FOUND) == "not found", "the name of a code")
    call expect(iocomp_type_size(IOCOMP_COMPLEX128) == 16, "the size of a type")
    call iocomp_progress(session)
    call MPI_Comm_split(comm, mod(rank, 2), rank, half)
    call iocomp_open(session, merge("even", "odd ", mod(rank, 2) == 0), IOCOMP_SERIES, file, comm=half)
    call iocomp_define(file, "u", IOCOMP_INT32, [ranks], var)
    call iocomp_put(var, [rank], [rank + 1])
    call iocomp_close(file)
    call iocomp_open_input(session, merge("even", "odd ", mod(rank, 2) == 0), input, comm=half)
    call iocomp_read(input, "u", 0, other, [rank + 1], [1])
    call expect(other == rank, "on a part of the ranks")
    call iocomp_close_input(input)
    call MPI_Comm_free(half)
  end subroutine

  !> Code and story of each, as mistakes.c prints them for the same calls in C; then those that only Fortran has.
  subroutine mistakes()
    type(iocomp_file) :: no_file
    type(iocomp_var) :: no_var, u
    type(iocomp_ticket) :: no_ticket
    type(iocomp_input) :: no_input
    type(iocomp_session) :: no_session
    real(real64) :: v(4, 2) = 0, time
    integer :: n
    logical :: reached
    call iocomp_open(no_session, "u", IOCOMP_SERIES, file, ierr=ierr); call tell()
    call iocomp_open(session, "one/two", IOCOMP_SERIES, file, ierr=ierr); call tell()
    call iocomp_open(session, "u", 7, file, ierr=ierr); call tell()
    call iocomp_open_input(session, "missing", input, ierr=ierr); call tell()
    call iocomp_open(session, "u", IOCOMP_SERIES, file)
    call iocomp_define(no_file, "u", IOCOMP_FLOAT64, [4, 2], u, ierr=ierr); call tell()
    call iocomp_define(file, "u", 99, [4, 2], u, ierr=ierr); call tell()
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [4, -2], u, ierr=ierr); call tell()
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [4, 2], u)
    call iocomp_define(file, "u", IOCOMP_FLOAT64, [4, 2], no_var, ierr=ierr); call tell()
    call iocomp_put(no_var, v, ierr=ierr); call tell()
    call iocomp_put(u, v, start=[2, 1], ierr=ierr); call tell()
    call iocomp_put(u, v(1:1, :), start=[1, 0], ierr=ierr); call tell()
    call iocomp_put(u, v)
    call iocomp_wait(no_ticket, ierr=ierr); call tell()
    call iocomp_test(no_ticket, reached, ierr=ierr); call tell()
    call iocomp_wait_step(file, 7, ierr); call tell()
    call iocomp_close(file)
    call iocomp_close(file, ierr); call tell()
    call iocomp_open_input(session, "u", input)
    call iocomp_input_variable(input, "uu", ierr=ierr); call tell()
    call iocomp_input_time(input, 3, time, ierr); call tell()
    call iocomp_read(input, "u", 0, v, [2, 1], ierr=ierr); call tell()
    call iocomp_read(no_input, "u", 0, v, ierr=ierr); call tell()
    call iocomp_close_input(input)

    print '(a)', "--"
    call iocomp_open(session, "w", IOCOMP_SERIES, file)
    call iocomp_define(file, "w", IOCOMP_FLOAT64, [4, 2], u)
    call iocomp_put(u, [(1.0, 2.0)], ierr=ierr); call tell()
    call iocomp_put(u, reshape([(1.0, 2.0)], [1, 1]), ierr=ierr); call tell()
    call iocomp_put(u, v(:, 1), ierr=ierr); call tell()
    call iocomp_put(u, v, start=[1], ierr=ierr); call tell()
    call iocomp_put(u, v, start=[1.0, 1.0], ierr=ierr); call tell()
    call iocomp_put(u, v, count=[3, 2], ierr=ierr); call tell()
    call iocomp_put(u, v, [1, 1], [4, 2], [2, 1], ierr=ierr); call tell()
    call iocomp_put(u, [.true.], ierr=ierr); call tell()
    call iocomp_define(file, "x", IOCOMP_FLOAT64, [1, 1, 1, 1, 1, 1, 1, 1, 1], no_var, ierr=ierr); call tell()
    call iocomp_begin_step(file, 1.5, ierr=ierr); call tell()
    call iocomp_close(file)
  end subroutine

  subroutine tell()
    print '(i0, 1x, a)', ierr, iocomp_error()
  end subroutine
end program
