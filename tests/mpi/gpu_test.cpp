// SPDX-License-Identifier: BSD-3-Clause
// Arrays in the memory of a GPU are put as all others. Most machines have none: a stand-in for the
// drivers has memory that the CPU cannot touch (gpu/stand_in.h). IOCOMP_TEST_GPU=card takes a GPU
// of NVIDIA, and IOCOMP_TEST_GPU=broken the same after a kernel of the program has failed.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

struct Kinds {
  int host;
  int device;
  int managed;
  int of_pool;
  int textures;
};

/// True if a real GPU is used in this way.
bool uses_gpu(std::string_view way) {
  const char* given = std::getenv("IOCOMP_TEST_GPU");
  return given != nullptr && given == way;
}

/// True if a real GPU is used.
bool has_card() { return std::getenv("IOCOMP_TEST_GPU") != nullptr; }

/// A stand-in that the program has loaded, with memory of its GPU.
class StandIn {
 public:
  explicit StandIn(const char* path) : library_{dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
    if (library_ == nullptr) {
      std::abort();
    }
    find("stand_in_allocate", allocate);
    find("stand_in_free", free);
    find("stand_in_set", set);
    find("stand_in_fail", fail);
    find("stand_in_copied", copied);  // a card does not count
    find("stand_in_left", left);
  }
  [[nodiscard]] void* library() const { return library_; }

  void* (*allocate)(std::size_t, int) = nullptr;
  void (*free)(void*) = nullptr;
  void (*set)(void*, const void*, std::size_t) = nullptr;
  void (*fail)(int) = nullptr;
  std::size_t (*copied)() = nullptr;
  int (*left)() = nullptr;

 private:
  template <typename Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
  }
  void* library_;
};

StandIn& stand_in(const std::string& driver) {
  static StandIn cuda{has_card() ? IOCOMP_GPU_CARD : IOCOMP_STAND_IN_CUDA};
  static StandIn hip{IOCOMP_STAND_IN_HIP};
  return driver == "cuda" ? cuda : hip;
}

Kinds kinds(const std::string& driver) {
  if (driver == "hip") {
    return {.host = 1, .device = 2, .managed = 3, .of_pool = 2, .textures = 10};
  }
  return {.host = 1, .device = 2, .managed = 4, .of_pool = has_card() ? 5 : 4, .textures = 3};
}

/// Values in the GPU while this lives.
class OnGpu {
 public:
  OnGpu(StandIn& gpu, int kind, const std::vector<double>& values)
      : gpu_{gpu}, bytes_{values.size() * sizeof(double)}, memory_{gpu.allocate(bytes_, kind)} {
    gpu_.set(memory_, values.data(), bytes_);
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { gpu_.free(memory_); }
  [[nodiscard]] void* memory() const { return memory_; }
  void spoil() { gpu_.set(memory_, std::vector<char>(bytes_, 'x').data(), bytes_); }

 private:
  StandIn& gpu_;
  std::size_t bytes_;
  void* memory_;
};

std::string settings_of(const std::string& mode, const std::string& back_end,
                        const std::string& folder) {
  std::string text = "mode = \"" + std::string{mode == "sync" ? "sync" : "async"} + "\"\n";
  if (mode == "shared" || mode == "message") {
    text += "server.end = 'return'\nplacement.servers = '1 per node'\ntransport.kind = \"" + mode +
            "\"\n";
  }
  return text + "[trace]\nlines = \"start\"\n[files.default]\nbackend = \"" + back_end +
         "\"\nchecksum = \"xxh3\"\n[files.out]\npath = \"" + folder + "/out\"\n";
}

constexpr std::int64_t rows = 301;  // of each rank
constexpr std::int64_t columns = 40;
constexpr std::int64_t many = 1'300'000;  // more than goes through at once

/// A session; servers come back from the constructor when all is over.
class Session {
 public:
  explicit Session(const std::string& settings) {
    EXPECT_EQ(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &io), 0) << iocomp_error();
    computes = iocomp_role(io) != IOCOMP_SERVER;
    if (computes) {
      MPI_Comm_rank(iocomp_comm(io), &rank);
      MPI_Comm_size(iocomp_comm(io), &ranks);
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { EXPECT_EQ(iocomp_finalize(io), 0) << iocomp_error(); }

  iocomp_session* io = nullptr;
  bool computes = false;
  int rank = 0;
  int ranks = 1;
};

/// The value of the arrays of all ranks, by global index.
double value(std::int64_t index, std::int64_t step) {
  return static_cast<double>(index + 1'000'000'000 * step);
}

class Gpu : public testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {
 protected:
  Gpu() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkdtemp(name_.data()) == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(name_.data(), static_cast<int>(name_.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  ~Gpu() override {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    std::filesystem::remove_all(name_.data(), ignored);
  }
  void SetUp() override {
    if (has_card() && std::get<0>(GetParam()) != "cuda") {
      GTEST_SKIP() << "the GPU is one of NVIDIA";
    }
  }
  [[nodiscard]] std::string folder() const { return name_.data(); }

 private:
  std::array<char, 64> name_{"/tmp/iocomp_gpu_XXXXXX"};
};

// After each put the array changes at once: the ticket says that it may.
void put(iocomp_var* variable, const std::int64_t* start, const std::int64_t* count, OnGpu& array) {
  iocomp_ticket ticket{};
  ASSERT_EQ(iocomp_put(variable, start, count, array.memory(), &ticket), 0) << iocomp_error();
  int is_free = 0;
  ASSERT_EQ(iocomp_test(&ticket, IOCOMP_REUSABLE, &is_free), 0) << iocomp_error();
  EXPECT_EQ(is_free, 1);
  array.spoil();
}

// A field with a halo; one by columns, of which each rank has runs of few elements; a long array;
// one by a map, in an order of its own.
void write_step(const Session& session, StandIn& gpu, const Kinds& kind, iocomp_file* file,
                const std::array<iocomp_var*, 4>& variables, const iocomp_decomp* decomp,
                std::int64_t step) {
  const std::int64_t rank = session.rank;
  const std::int64_t width = columns * session.ranks;
  std::vector<double> halo(static_cast<std::size_t>((rows + 2) * (columns + 2)), -1);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      halo[static_cast<std::size_t>((i + 1) * (columns + 2) + j + 1)] =
          value((rank * rows + i) * columns + j, step);
    }
  }
  OnGpu field{gpu, kind.device, halo};
  const std::array<std::int64_t, 2> start{rank * rows, 0};
  const std::array<std::int64_t, 2> count{rows, columns};
  const std::array<std::int64_t, 2> shape{rows + 2, columns + 2};
  const std::array<std::int64_t, 2> inside{1, 1};
  const iocomp_block block{.size = sizeof block,
                           .start = start.data(),
                           .count = count.data(),
                           .values = field.memory(),
                           .memory_shape = shape.data(),
                           .memory_start = inside.data()};
  ASSERT_EQ(iocomp_put_block(variables[0], &block, nullptr), 0) << iocomp_error();
  field.spoil();

  std::vector<double> strip;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      strip.push_back(value(i * width + rank * columns + j, step));
    }
  }
  OnGpu strips{gpu, kind.managed, strip};
  const std::array<std::int64_t, 2> first{0, rank * columns};
  put(variables[1], first.data(), count.data(), strips);

  std::vector<double> line;
  for (std::int64_t i = 0; i < many; ++i) {
    line.push_back(value(rank * many + i, step));
  }
  OnGpu lines{gpu, kind.device, line};
  const std::int64_t begin = rank * many;
  put(variables[2], &begin, &many, lines);

  std::vector<double> mapped;
  for (std::int64_t i = rows; i-- > 0;) {
    mapped.push_back(value(i * session.ranks + rank, step));
  }
  OnGpu map{gpu, kind.of_pool, mapped};
  const iocomp_block scattered{.size = sizeof scattered, .values = map.memory(), .decomp = decomp};
  ASSERT_EQ(iocomp_put_block(variables[3], &scattered, nullptr), 0) << iocomp_error();
  map.spoil();
  ASSERT_EQ(iocomp_end_step(file), 0) << iocomp_error();
}

void write(const Session& session, StandIn& gpu, const Kinds& kind) {
  iocomp_file* file = nullptr;
  ASSERT_EQ(iocomp_open(session.io, "out", IOCOMP_SERIES, nullptr, &file), 0) << iocomp_error();
  const std::int64_t ranks = session.ranks;
  const std::array<std::int64_t, 2> fields{rows * ranks, columns};
  const std::array<std::int64_t, 2> strips{rows, columns * ranks};
  const std::int64_t lines = many * ranks;
  const std::int64_t mapped = rows * ranks;
  std::array<iocomp_var*, 4> variables{};
  ASSERT_EQ(iocomp_define(file, "field", IOCOMP_FLOAT64, 2, fields.data(), &variables[0]), 0);
  ASSERT_EQ(iocomp_define(file, "strips", IOCOMP_FLOAT64, 2, strips.data(), &variables[1]), 0);
  ASSERT_EQ(iocomp_define(file, "lines", IOCOMP_FLOAT64, 1, &lines, &variables[2]), 0);
  ASSERT_EQ(iocomp_define(file, "mapped", IOCOMP_FLOAT64, 1, &mapped, &variables[3]), 0);
  std::vector<std::int64_t> map;
  for (std::int64_t i = rows; i-- > 0;) {
    map.push_back(i * ranks + session.rank);
  }
  iocomp_decomp* decomp = nullptr;
  ASSERT_EQ(iocomp_decompose(session.io, 1, &mapped, rows, map.data(), nullptr, &decomp), 0)
      << iocomp_error();
  const std::size_t before = gpu.copied == nullptr ? 0 : gpu.copied();
  for (std::int64_t step = 0; step < 2; ++step) {
    write_step(session, gpu, kind, file, variables, decomp, step);
  }
  if (gpu.copied != nullptr) {
    EXPECT_GE(gpu.copied() - before, 2 * (2 * rows * columns + many + rows) * sizeof(double));
  }
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  ASSERT_EQ(iocomp_decomp_free(decomp), 0);
}

void read(const Session& session) {
  iocomp_input* input = nullptr;
  ASSERT_EQ(iocomp_open_input(session.io, "out", nullptr, &input), 0) << iocomp_error();
  const std::int64_t ranks = session.ranks;
  const std::vector<std::pair<const char*, std::vector<std::int64_t>>> shapes{
      {"field", {rows * ranks, columns}},
      {"strips", {rows, columns * ranks}},
      {"lines", {many * ranks}},
      {"mapped", {rows * ranks}}};
  for (std::int64_t step = 0; step < 2; ++step) {
    for (const auto& [name, shape] : shapes) {
      std::int64_t elements = 1;
      for (const auto extent : shape) {
        elements *= extent;
      }
      const std::vector<std::int64_t> zeros(shape.size(), 0);
      std::vector<double> found(static_cast<std::size_t>(elements), -7);
      ASSERT_EQ(iocomp_read(input, name, step, zeros.data(), shape.data(), found.data()), 0)
          << iocomp_error();
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < elements; ++i) {
        wrong += found[static_cast<std::size_t>(i)] == value(i, step) ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0) << name << " of step " << step;
    }
  }
  ASSERT_EQ(iocomp_close_input(input), 0) << iocomp_error();
}

TEST_P(Gpu, ArraysArePutAsAllOthers) {
  const auto& [driver, mode, back_end] = GetParam();
  StandIn& gpu = stand_in(driver);
  {
    const Session session{settings_of(mode, back_end, folder())};
    if (session.computes) {
      write(session, gpu, kinds(driver));
      read(session);
    }
  }
  EXPECT_EQ(gpu.left(), 0);  // the session has given back what it had of the GPU
  if (driver == "hip") {     // and left no error that the program could take for its own
    const auto peek = reinterpret_cast<int (*)()>(dlsym(gpu.library(), "hipPeekAtLastError"));
    EXPECT_EQ(peek(), 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<std::string> back_ends() { return {IOCOMP_TESTED_BACK_ENDS}; }

std::string name_of(const testing::TestParamInfo<Gpu::ParamType>& tested) {
  const auto& [driver, mode, back_end] = tested.param;
  return driver + '_' + mode + '_' + back_end;
}

INSTANTIATE_TEST_SUITE_P(BackEnds, Gpu,
                         testing::Combine(testing::Values("cuda"),
                                          testing::Values("kernel", "sync", "shared", "message"),
                                          testing::ValuesIn(back_ends())),
                         name_of);
// The copies from a GPU are the same to each of them.
INSTANTIATE_TEST_SUITE_P(OtherDriver, Gpu,
                         testing::Combine(testing::Values("hip"),
                                          testing::Values("kernel", "sync", "shared", "message"),
                                          testing::Values("posix")),
                         name_of);

class GpuFailures : public Gpu {
 protected:
  // Puts 100 values from there into a step of its own.
  // @return what a put says, or nothing where it went well.
  static std::string told(const Session& session, iocomp_file* file, iocomp_var* variable,
                          const void* values) {
    const std::int64_t start = 100 * session.rank;
    const std::int64_t count = 100;
    const bool failed = iocomp_put(variable, &start, &count, values, nullptr) != 0;
    const std::string story = failed ? iocomp_error() : "";
    EXPECT_EQ(iocomp_end_step(file), 0) << iocomp_error();
    return story;
  }
};

TEST_P(GpuFailures, AreToldByThePut) {
  const auto& [driver, mode, back_end] = GetParam();
  StandIn& gpu = stand_in(driver);
  const Session session{settings_of(mode, back_end, folder())};
  if (!session.computes) {
    return;
  }
  iocomp_file* file = nullptr;
  ASSERT_EQ(iocomp_open(session.io, "out", IOCOMP_SERIES, nullptr, &file), 0) << iocomp_error();
  iocomp_var* variable = nullptr;
  const std::int64_t shape = 100 * session.ranks;
  ASSERT_EQ(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &shape, &variable), 0);
  const std::vector<double> values(100, 3.5);
  const OnGpu there{gpu, kinds(driver).device, values};
  const OnGpu short_one{gpu, kinds(driver).device, std::vector<double>(50, 1.0)};
  EXPECT_EQ(told(session, file, variable, there.memory()), "");
  const std::string past = told(session, file, variable, short_one.memory());
  EXPECT_NE(past.find(has_card() ? "invalid argument" : "illegal memory access"), std::string::npos)
      << past;
  if (!has_card()) {
    const OnGpu textures{gpu, kinds(driver).textures, values};
    const std::string kind = told(session, file, variable, textures.memory());
    EXPECT_NE(kind.find("put of \"u\" into file \"out\""), std::string::npos) << kind;
    EXPECT_NE(kind.find("iocomp takes memory of"), std::string::npos) << kind;
  }
  if (!has_card() || uses_gpu("broken")) {
    gpu.fail(1);
    const std::string failed = told(session, file, variable, there.memory());
    gpu.fail(0);
    EXPECT_NE(failed.find("illegal memory access"), std::string::npos) << failed;
  }
  EXPECT_EQ(told(session, file, variable, values.data()), "");
  if (!uses_gpu("broken")) {  // for good
    EXPECT_EQ(told(session, file, variable, there.memory()), "");
  }
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  iocomp_input* input = nullptr;
  ASSERT_EQ(iocomp_open_input(session.io, "out", nullptr, &input), 0) << iocomp_error();
  const std::int64_t start = 0;
  if (!uses_gpu("broken")) {  // no driver tells what is its memory then
    EXPECT_NE(iocomp_read(input, "u", 0, &start, &shape, there.memory()), 0);
    EXPECT_NE(std::string{iocomp_error()}.find("memory of a GPU"), std::string::npos)
        << iocomp_error();
  }
  ASSERT_EQ(iocomp_close_input(input), 0);
}

INSTANTIATE_TEST_SUITE_P(Drivers, GpuFailures,
                         testing::Combine(testing::Values("cuda", "hip"),
                                          testing::Values("kernel", "sync", "shared", "message"),
                                          testing::Values("posix")),
                         [](const auto& tested) {
                           return std::get<0>(tested.param) + '_' + std::get<1>(tested.param);
                         });

}  // namespace
