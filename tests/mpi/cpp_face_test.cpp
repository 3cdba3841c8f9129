// SPDX-License-Identifier: BSD-3-Clause
// iocomp.hpp over the real library, on 2 ranks. Servers return here instead of leaving the program,
// so that GoogleTest can finish on them too.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iocomp/iocomp.hpp>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

static_assert(iocomp::ElementType<std::int8_t>::value == IOCOMP_INT8);
static_assert(iocomp::ElementType<std::uint16_t>::value == IOCOMP_UINT16);
static_assert(iocomp::ElementType<long>::value == IOCOMP_INT64);
static_assert(iocomp::ElementType<long long>::value == IOCOMP_INT64);
static_assert(iocomp::ElementType<std::complex<double>>::value == IOCOMP_COMPLEX128);
static_assert(iocomp::ElementType<char>::value == IOCOMP_CHAR);
static_assert(iocomp::Element<bool> && !iocomp::Element<wchar_t> && !iocomp::Element<std::string>);
static_assert(!std::is_copy_constructible_v<iocomp::File> &&
              std::is_nothrow_move_constructible_v<iocomp::File>);

template <typename Values>
concept CanBePut = requires(iocomp::Variable<double> variable, Values&& values) {
  variable.put({0}, {1}, std::forward<Values>(values));
};
static_assert(CanBePut<std::vector<double>&> && CanBePut<const std::vector<double>&> &&
              CanBePut<std::span<const double>> && !CanBePut<std::vector<double>> &&
              !CanBePut<std::array<double, 1>>);

constexpr std::int64_t total = 1000;

/// A new directory that all ranks know, removed by rank 0 at the end.
class SharedFolder {
 public:
  SharedFolder() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    std::array<char, 64> path{"/tmp/iocomp_cpp_face_XXXXXX"};
    if (rank_ == 0 && mkdtemp(path.data()) == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = path.data();
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      std::filesystem::remove_all(path_);
    }
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  int rank_ = 0;
  std::filesystem::path path_;
};

class CppFace : public testing::TestWithParam<std::string> {
 protected:
  /// Settings of a session whose file "numbers" lies in the test's folder.
  [[nodiscard]] std::string settings() const {
    return "mode = \"" + GetParam() + "\"\nserver.end = 'return'\ntrace.lines = 'start'\n" +
           "placement.servers = '1 per 1'\n[files.numbers]\npath = \"" + path().string() + "\"\n";
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.file("numbers.bin"); }
  [[nodiscard]] std::vector<std::int64_t> numbers_in_file() const {
    std::ifstream stream{path(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
    std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
    bytes.copy(reinterpret_cast<char*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
    return numbers;
  }

 private:
  SharedFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(BothModes, CppFace, testing::Values("async", "sync"),
                         [](const auto& suite) { return suite.param; });

/// This rank's part of 0 ... total - 1.
struct Part {
  explicit Part(const iocomp::Session& io) {
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(io.comm(), &rank);
    MPI_Comm_size(io.comm(), &size);
    start = total * rank / size;
    values.resize(static_cast<std::size_t>(total * (rank + 1) / size - start));
    std::iota(values.begin(), values.end(), start);
  }
  [[nodiscard]] std::int64_t count() const { return std::ssize(values); }

  std::int64_t start = 0;
  std::vector<std::int64_t> values;
};

std::vector<std::int64_t> all_numbers() {
  std::vector<std::int64_t> numbers(total);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

TEST_P(CppFace, WritesWhatWasPut) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    out.set_attribute("title", "numbers in a row");
    const auto numbers = out.define<std::int64_t>("numbers", {total});
    numbers.set_attribute("range", std::array{0.0, 999.0});
    numbers.set_attribute("origin", 0);
    const iocomp::Ticket ticket = numbers.put({part.start}, {part.count()}, part.values);
    EXPECT_EQ(out.current_step(), 0);
    out.end_step();
    EXPECT_EQ(out.current_step(), 1);
    EXPECT_FALSE(io.should_stop());
    out.wait_step(0);
    ticket.wait(IOCOMP_DURABLE);
    EXPECT_TRUE(ticket.test(IOCOMP_WRITTEN));
    out.close();
    EXPECT_FALSE(out.is_open());
    EXPECT_EQ(numbers_in_file(), all_numbers());
  }
  io.finalize();
}

TEST_P(CppFace, TextsAreReadAsTheyWerePut) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    const auto phase = out.define<char>("phase", {8});
    const auto letter = out.define<char>("letter", {});
    const std::array<std::string, 2> texts{"start", "w\u00e4rmer"};
    for (std::string text : texts) {
      if (Part{io}.start == 0) {
        letter.put(text.front());
        text.resize(8);
        phase.put({0}, {8}, text, IOCOMP_BUFFERED);
      }
      out.end_step();
    }
    out.close();
    const iocomp::Input in = io.open_input("numbers");
    for (int step = 0; step < 2; ++step) {
      const std::string& text = texts.at(static_cast<std::size_t>(step));
      auto read = in.read<char>("phase", step);
      EXPECT_STREQ(std::string(read.begin(), read.end()).c_str(), text.c_str());
      EXPECT_EQ(in.read<char>("letter", step), std::vector{text.front()});
    }
  }
  io.finalize();
}

TEST_P(CppFace, DestructorsCloseAndFinalizeWhatWasLeftOpen) {
  {
    iocomp::Session io{MPI_COMM_WORLD, settings()};
    if (io.role() != IOCOMP_SERVER) {
      const Part part{io};
      iocomp::File opened = io.open("numbers", IOCOMP_SERIES);
      iocomp::File out = std::move(opened);
      const std::vector<std::int64_t> shape{total};
      const auto numbers = out.define<std::int64_t>("numbers", shape);
      static_cast<void>(numbers.put({part.start}, {part.count()}, part.values, IOCOMP_BUFFERED));
      out.end_step();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(numbers_in_file(), all_numbers());
}

TEST_P(CppFace, FinalizeClosesFilesThatAreStillOpen) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  iocomp::File out;
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    out = io.open("numbers", IOCOMP_SERIES);
    const auto numbers = out.define<std::int64_t>("numbers", {total});
    static_cast<void>(numbers.put({part.start}, {part.count()}, part.values, IOCOMP_BUFFERED));
    out.end_step();
  }
  io.finalize();
  EXPECT_FALSE(out.is_open());
  EXPECT_THROW(out.end_step(), iocomp::Error);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(numbers_in_file(), all_numbers());
}

TEST_P(CppFace, AnExceptionDropsTheOpenStep) {
  {
    iocomp::Session io{MPI_COMM_WORLD, settings()};
    if (io.role() != IOCOMP_SERVER) {
      const Part part{io};
      const auto break_off = [&] {
        iocomp::File out = io.open("numbers", IOCOMP_SERIES);
        const auto numbers = out.define<std::int64_t>("numbers", {total});
        const auto more = out.define<std::int64_t>("more", {total});
        static_cast<void>(numbers.put({part.start}, {part.count()}, part.values));
        static_cast<void>(more.put({part.start}, {part.count()}, part.values));
        out.end_step();
        static_cast<void>(numbers.put({part.start}, {part.count()}, part.values));
        throw std::runtime_error{"in the middle of a step"};
      };
      EXPECT_THROW(break_off(), std::runtime_error);
    }
    io.finalize();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    EXPECT_EQ(io.open_input("numbers").steps(), std::vector<std::int64_t>{0});
  }
  io.finalize();
}

TEST_P(CppFace, PutsTheInsideOfAnArrayWithHalos) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    std::vector<std::int64_t> with_halo(part.values.size() + 2, -1);
    std::copy(part.values.begin(), part.values.end(), with_halo.begin() + 1);
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    const auto numbers = out.define<std::int64_t>("numbers", {total});
    const auto ticket =
        numbers.put_block({part.start}, {part.count()}, with_halo, {std::ssize(with_halo)}, {1});
    out.end_step();
    ticket.wait();
    out.close();
    EXPECT_EQ(numbers_in_file(), all_numbers());
  }
  io.finalize();
}

template <typename Call>
std::optional<int> code_of(const Call& call) {
  try {
    call();
  } catch (const iocomp::Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TEST_P(CppFace, ThrowsWhenSpansAndBoxesDoNotFit) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    const auto numbers = out.define<std::int64_t>("numbers", {total});
    const std::vector<std::int64_t> three(3);
    EXPECT_EQ(code_of([&] { numbers.put({0}, {4}, three); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { numbers.put({0, 0}, {3}, three); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { numbers.put_block({0}, {1}, three, {4}, {0}); }),
              IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { numbers.put({total}, {3}, three); }), IOCOMP_INVALID_ARGUMENT);
    out.close();
  }
  io.finalize();
}

TEST_P(CppFace, RefusesTextsThatWouldBeCut) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const std::string cut{"ab\0cd", 5};
    EXPECT_EQ(code_of([&] { static_cast<void>(io.open(cut, IOCOMP_SERIES)); }),
              IOCOMP_INVALID_ARGUMENT);
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    EXPECT_EQ(code_of([&] { static_cast<void>(out.define<float>(cut, {3})); }),
              IOCOMP_INVALID_ARGUMENT);
    const auto numbers = out.define<std::int64_t>("numbers", {total});
    EXPECT_EQ(code_of([&] { out.set_attribute("title", cut); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { numbers.set_attribute("title", cut); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { numbers.set_attribute(cut, 1); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { out.set_attribute("list", {"one", cut}); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { out.set_attribute("list", std::vector<std::string>{}); }),
              IOCOMP_INVALID_ARGUMENT);
    out.close();
  }
  io.finalize();
}

TEST_P(CppFace, ReadsWhatWasWritten) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    out.set_attribute("title", "numbers in a row");
    const auto numbers = out.define<std::int64_t>("numbers", {total / 10, 10}, {"time", "y", "x"});
    numbers.set_attribute("range", std::array{0.0, 999.0});
    numbers.set_attribute("members", {"mean", ""});
    numbers.set_attribute("valid_range", {1, 100});
    out.set_attribute("levels", {0.5, 2.0, 8.0});
    out.set_attribute("authors", std::vector<std::string>{"one"});
    const auto pi = out.define<double>("pi", {});
    const auto rounded = out.define<double, float>("rounded", {2});
    const auto packed = out.define<double, std::int16_t>("packed", {2});
    packed.set_attribute("scale_factor", 0.5);
    packed.set_attribute("_FillValue", std::int16_t{-1});
    if (part.start == 0) {
      static_cast<void>(rounded.put({0}, {2}, std::vector{0.1, -2.5}, IOCOMP_BUFFERED));
      static_cast<void>(packed.put({0}, {2}, std::vector{3.5, std::nan("")}, IOCOMP_BUFFERED));
      static_cast<void>(numbers.put({0, 0}, {total / 10, 10}, all_numbers(), IOCOMP_BUFFERED));
      static_cast<void>(pi.put(3.14159));
    }
    out.end_step();
    out.close();

    const iocomp::Input in = io.open_input("numbers");
    EXPECT_EQ(in.steps(), std::vector<std::int64_t>{0});
    EXPECT_EQ(in.variables(), (std::vector<std::string>{"numbers", "pi", "rounded", "packed"}));
    EXPECT_EQ(in.type("numbers"), IOCOMP_INT64);
    EXPECT_EQ(in.shape("numbers", 0), (std::vector<std::int64_t>{total / 10, 10}));
    EXPECT_EQ(in.text("title"), "numbers in a row");
    EXPECT_EQ(in.text("numbers", "dimensions"), "time y x");
    EXPECT_EQ(in.attribute<double>("numbers", "range"), (std::vector<double>{0.0, 999.0}));
    EXPECT_EQ(in.texts("numbers", "members"), (std::vector<std::string>{"mean", ""}));
    EXPECT_EQ(in.texts("authors"), std::vector<std::string>{"one"});
    EXPECT_EQ(in.attribute<int>("numbers", "valid_range"), (std::vector<int>{1, 100}));
    EXPECT_EQ(in.attribute<double>("levels"), (std::vector<double>{0.5, 2.0, 8.0}));
    EXPECT_EQ(code_of([&] { static_cast<void>(in.texts("title")); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(in.read<std::int64_t>("numbers", 0), all_numbers());
    EXPECT_EQ(in.read<double>("pi", 0), std::vector<double>{3.14159});
    EXPECT_EQ(in.read<std::int64_t>("numbers", 0, {3, 4}, {2, 3}),
              (std::vector<std::int64_t>{34, 35, 36, 44, 45, 46}));
    std::vector<std::int64_t> halo(3 * 4, -1);
    in.read_block("numbers", 0, {99, 8}, {1, 2}, halo, {3, 4}, {1, 1});
    EXPECT_EQ(halo, (std::vector<std::int64_t>{-1, -1, -1, -1, -1, 998, 999, -1, -1, -1, -1, -1}));

    EXPECT_EQ(in.type("rounded"), IOCOMP_FLOAT32);
    EXPECT_EQ(in.read<double>("rounded", 0), (std::vector{static_cast<double>(0.1F), -2.5}));
    EXPECT_EQ(in.read<std::int16_t>("packed", 0), (std::vector<std::int16_t>{7, -1}));
    EXPECT_EQ(in.read<double>("packed", 0)[0], 3.5);
    EXPECT_TRUE(std::isnan(in.read<double>("packed", 0)[1]));
    std::vector<float> floats(3 * 4, -1);
    in.read_block("numbers", 0, {99, 8}, {1, 2}, floats, {3, 4}, {1, 1});
    EXPECT_EQ(floats, std::vector<float>(halo.begin(), halo.end()));
    EXPECT_EQ(code_of([&] { static_cast<void>(in.read<std::int8_t>("numbers", 0)); }),
              IOCOMP_INVALID_ARGUMENT);
    EXPECT_NE(
        std::string{iocomp_error()}.find("the element [12, 8] is 128, which int8 cannot hold"),
        std::string::npos)
        << iocomp_error();
    std::vector<std::complex<float>> pairs(6);
    std::vector<std::int64_t> five(5);
    EXPECT_EQ(code_of([&] { in.read("numbers", 0, {3, 4}, {2, 3}, pairs); }),
              IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { in.read("numbers", 0, {3, 4}, {2, 3}, five); }),
              IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { in.read("numbers", 0, {3}, {5}, five); }), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { static_cast<void>(in.text("range")); }), IOCOMP_NOT_FOUND);
  }
  io.finalize();
}

TEST_P(CppFace, TruthValuesAndAScalarComeBack) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    iocomp::File out = io.open("numbers", IOCOMP_SERIES);
    const auto flags = out.define<bool>("flags", {2});
    const auto once = out.define_once<int>("once");
    flags.set_attribute("truth", true);
    const std::span<bool> values = io.alloc<bool>(2);
    values[1] = true;
    if (part.start == 0) {
      static_cast<void>(flags.put({0}, {2}, values, IOCOMP_BUFFERED));
      static_cast<void>(once.put(7));
    }
    io.free(values);
    out.end_step();
    out.close();
    try {
      out.end_step();
      FAIL() << "a closed file has ended a step";
    } catch (const iocomp::Error& error) {
      EXPECT_STREQ(error.what(), "the file \"numbers\" was closed");
      EXPECT_EQ(iocomp::code_name(error.code()), "invalid argument");
    }

    const iocomp::Input in = io.open_input("numbers");
    EXPECT_EQ(in.read<bool>("flags", 0), (std::vector{false, true}));
    EXPECT_EQ(in.attribute<bool>("flags", "truth"), std::vector{true});
    EXPECT_EQ(in.attributes("flags"), (std::vector<std::string>{"dtype", "truth"}));
    EXPECT_TRUE(in.attributes().empty());
    EXPECT_EQ(in.type("once", 0), IOCOMP_INT32);
    EXPECT_EQ(in.ndims("flags", 0), 1);
    EXPECT_EQ(code_of([&] { static_cast<void>(in.ndims("flags", 1)); }), IOCOMP_NOT_FOUND);
  }
  io.finalize();
}

TEST_P(CppFace, FinalizeClosesInputsThatAreStillOpen) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  iocomp::Input in;
  if (io.role() != IOCOMP_SERVER) {
    EXPECT_EQ(code_of([&] { in = io.open_input("numbers"); }), IOCOMP_NOT_FOUND);
    io.open("numbers", IOCOMP_SERIES).close();
    in = io.open_input("numbers");
    EXPECT_TRUE(in.steps().empty());
  }
  io.finalize();
  EXPECT_FALSE(in.is_open());
  EXPECT_THROW(static_cast<void>(in.steps()), iocomp::Error);
}

TEST_P(CppFace, AStepIsReadWithTheDimensionsThatItHas) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const bool puts = Part{io}.start == 0;
    const std::vector<double> six{1, 2, 3, 4, 5, 6};
    iocomp::File out = io.open("numbers", IOCOMP_CHECKPOINT);
    const auto square = out.define<double>("u", {2, 3});
    if (puts) {
      square.put({0, 0}, {2, 3}, six, IOCOMP_BUFFERED);
    }
    out.close();
    out = io.open("numbers", IOCOMP_CHECKPOINT, {.settings = "existing = 'continue'"});
    const auto line = out.define<double>("u", {6});
    if (puts) {
      line.put({0}, {6}, six, IOCOMP_BUFFERED);
    }
    out.close();

    const iocomp::Input in = io.open_input("numbers");
    ASSERT_EQ(in.steps().size(), 2U);
    EXPECT_EQ(in.read<double>("u", 0), six);
    EXPECT_EQ(in.read<double>("u", 0, {1, 1}, {1, 2}), (std::vector{5.0, 6.0}));
    EXPECT_EQ(in.read<double>("u", 1, {1}, {2}), (std::vector{2.0, 3.0}));
    std::vector<double> halo(20);
    in.read_block("u", 0, {0, 0}, {2, 3}, halo, {4, 5}, {1, 1});
    EXPECT_EQ(halo[13], 6);
    for (const std::int64_t step : {0, 1}) {  // with the dimensions of the other
      const std::vector<std::int64_t> ones(step == 0 ? 1 : 2, 1);
      EXPECT_EQ(code_of([&] { static_cast<void>(in.read<double>("u", step, ones, ones)); }),
                IOCOMP_INVALID_ARGUMENT);
    }
  }
  io.finalize();
}

TEST_P(CppFace, OneOpenHasAPathAndRowsOfItsOwn) {
  iocomp::Session io{MPI_COMM_WORLD, settings()};
  if (io.role() != IOCOMP_SERVER) {
    const Part part{io};
    const iocomp::Options other{.settings = "path = '" + path().string() + ".other'"};
    iocomp::File out = io.open("numbers", IOCOMP_SERIES, other);
    const auto numbers = out.define<std::int64_t>("numbers", {0});
    const auto sizes = out.define<std::int64_t>("sizes", {0, 2});
    const auto too_many = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(code_of([&] { static_cast<void>(iocomp::set_rows({{numbers, too_many}})); }),
              IOCOMP_INVALID_ARGUMENT);
    iocomp_var* const raw = numbers.raw();
    const std::int64_t* const rows = part.start == 0 ? nullptr : &too_many;
    EXPECT_EQ(iocomp_set_rows(1, &raw, rows, nullptr, nullptr), IOCOMP_INVALID_ARGUMENT);
    const auto [first, all] = iocomp::set_rows({{numbers, part.count()}, {sizes, 1}});
    EXPECT_EQ(first[0], part.start);
    EXPECT_EQ(all[0], total);
    const auto one = numbers.put({first[0]}, {part.count()}, part.values);
    const std::array<std::int64_t, 2> size{part.count(), -1};
    static_cast<void>(sizes.put({first[1], 0}, {1, 2}, size, IOCOMP_BUFFERED));
    out.end_step();
    const iocomp::Rows pairs = iocomp::set_rows({{numbers, 2}});
    EXPECT_EQ(pairs.total[0], 2 * all[1]);
    numbers.put(pairs.first, {2}, std::array<std::int64_t, 2>{7, 8}, IOCOMP_BUFFERED);
    EXPECT_EQ(code_of([&] { static_cast<void>(iocomp::set_rows({{numbers, 2}})); }),
              IOCOMP_INVALID_ARGUMENT);  // after a put
    one.wait();
    const iocomp::Ticket closed = out.close_later();
    EXPECT_FALSE(out.is_open());
    closed.wait(IOCOMP_DURABLE);
    const iocomp::Input in = io.open_input("numbers", other);
    EXPECT_EQ(in.read<std::int64_t>("numbers", 0), all_numbers());
    EXPECT_EQ(in.shape("numbers", 1), pairs.total);
    EXPECT_EQ(io.latest("numbers", other).step, 1);
    EXPECT_EQ(io.latest("numbers").step, -1);
    const auto refusal_of = [&](const iocomp::Options& options) {
      return code_of([&] { io.open("numbers", IOCOMP_SERIES, options).close(); });
    };
    EXPECT_EQ(refusal_of({.settings = "pfad = 1"}), IOCOMP_INVALID_SETTING);
    EXPECT_EQ(refusal_of({.comm = MPI_COMM_NULL}), IOCOMP_INVALID_ARGUMENT);
    EXPECT_EQ(code_of([&] { static_cast<void>(io.open_input("numbers", {.after = 1})); }),
              IOCOMP_INVALID_ARGUMENT);
  }
  io.finalize();
}

TEST(CppFaceOfGroups, ASessionNeedsTheCommunicatorOfOneGroup) {
  EXPECT_EQ(code_of([] { const iocomp::Session io{MPI_COMM_NULL}; }), IOCOMP_INVALID_ARGUMENT);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    GTEST_SKIP() << "two groups need two ranks";
  }
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  EXPECT_EQ(code_of([&] { const iocomp::Session io{between}; }), IOCOMP_INVALID_ARGUMENT);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST(CppFaceOfGroups, EachGroupOfALaunchHasATraceOfItsOwn) {
  const SharedFolder folder;
  const std::string settings = "mode = 'sync'\ntrace.lines = 'none'\ntrace.json = '" +
                               folder.file("trace.json").string() + "'\n";
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, 0, &group);
  for (int session = 0; session < 2; ++session) {
    iocomp::Session{group, settings}.finalize();
  }
  MPI_Comm_free(&group);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const char* const name :
       {"trace.json", "trace-2.json", "trace-rank1.json", "trace-rank1-2.json"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.file(name))) << name;
  }
}

TEST(CppFaceErrors, TheReleaseIsThatOfTheHeader) {
  EXPECT_EQ(iocomp::version(), IOCOMP_VERSION);
  EXPECT_EQ(iocomp::version_text(), IOCOMP_VERSION_STRING);
}

TEST(CppFaceErrors, AnExceptionLeavesASessionWithoutWaitingForOthers) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto break_off = [rank] {
    const iocomp::Session io{MPI_COMM_WORLD, "trace.lines = 'none'"};
    if (rank == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    throw std::runtime_error{"first on the other ranks"};
  };
  EXPECT_THROW(break_off(), std::runtime_error);
  if (rank != 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(CppFaceErrors, ABadSettingIsToldByItsName) {
  try {
    iocomp::Session{MPI_COMM_WORLD, "moode = \"sync\"\n"};
    FAIL() << "a session was started with an unknown setting";
  } catch (const iocomp::Error& error) {
    EXPECT_EQ(error.code(), IOCOMP_INVALID_SETTING);
    EXPECT_NE(std::string{error.what()}.find("moode"), std::string::npos) << error.what();
  }
}

}  // namespace
