// SPDX-License-Identifier: BSD-3-Clause
// The structs that calls take: of this release, of an earlier and a later one, and with mistakes.
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// A file on one rank, with a variable of 4 x 6 int32.
class Structs : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / "iocomp_structs_XXXXXX";
    std::string path = folder.string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder = path;
    const std::string settings = "mode = \"sync\"\ntrace.lines = 'none'\n";
    ASSERT_EQ(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &session), 0) << iocomp_error();
    text = "path = \"" + (folder / "out.bin").string() + '"';
    options.settings = text.c_str();
    ASSERT_EQ(iocomp_open(session, "out", IOCOMP_SERIES, &options, &file), 0) << iocomp_error();
    ASSERT_EQ(iocomp_define(file, "u", IOCOMP_INT32, 2, shape.data(), &u), 0) << iocomp_error();
  }
  void TearDown() override {
    EXPECT_EQ(iocomp_finalize(session), 0) << iocomp_error();
    std::filesystem::remove_all(folder);
  }

  // Returns what one step of a file that has only `u` holds, closed and read back.
  std::vector<std::int32_t> written() {
    EXPECT_EQ(iocomp_close(file), 0) << iocomp_error();
    iocomp_input* input = nullptr;
    std::vector<std::int32_t> all(24, -1);
    EXPECT_EQ(iocomp_open_input(session, "out", &options, &input), 0) << iocomp_error();
    EXPECT_EQ(iocomp_read(input, "u", 0, origin.data(), shape.data(), all.data()), 0)
        << iocomp_error();
    EXPECT_EQ(iocomp_close_input(input), 0);
    return all;
  }

  static void expect_story(int code, int expected, const std::string& part) {
    EXPECT_EQ(code, expected) << part;
    EXPECT_NE(std::string{iocomp_error()}.find(part), std::string::npos) << iocomp_error();
  }
  static void expect_refused(int code, const std::string& part) {
    expect_story(code, IOCOMP_INVALID_ARGUMENT, part);
  }

  const std::array<std::int64_t, 2> shape{4, 6};
  const std::array<std::int64_t, 2> origin{0, 0};
  const std::array<std::int64_t, 2> count{2, 3};
  const std::array<std::int64_t, 2> memory{3, 5};
  std::array<std::int32_t, 24> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  std::string text;
  iocomp_open_options options{.size = sizeof options};
  std::filesystem::path folder;
  iocomp_session* session = nullptr;
  iocomp_file* file = nullptr;
  iocomp_var* u = nullptr;
};

TEST_F(Structs, ABlockLiesAtTheFirstElementIfNobodySaysWhere) {
  const iocomp_block block{.size = sizeof block,
                           .start = origin.data(),
                           .count = count.data(),
                           .values = values.data(),
                           .memory_shape = memory.data(),
                           .type = IOCOMP_INT32,
                           .flags = IOCOMP_BUFFERED};
  ASSERT_EQ(iocomp_put_block(u, &block, nullptr), 0) << iocomp_error();
  values.fill(-7);
  ASSERT_EQ(iocomp_end_step(file), 0) << iocomp_error();
  std::vector<std::int32_t> expected(24);
  for (const auto& [at, value] : {std::pair{0, 1}, {1, 2}, {2, 3}, {6, 6}, {7, 7}, {8, 8}}) {
    expected[static_cast<std::size_t>(at)] = value;
  }
  EXPECT_EQ(written(), expected);
}

TEST_F(Structs, MistakesInABlockAreToldAndNothingIsPut) {
  const std::int64_t elements = 24;
  std::array<std::int64_t, 1> one{0};
  iocomp_decomp* decomp = nullptr;
  ASSERT_EQ(iocomp_decompose(session, 2, shape.data(), 1, one.data(), &elements, &decomp), 0);
  const iocomp_block good{
      .size = sizeof good, .start = origin.data(), .count = shape.data(), .values = values.data()};
  const auto put = [&](auto&& change) {
    iocomp_block block = good;
    change(block);
    return iocomp_put_block(u, &block, nullptr);
  };
  expect_refused(iocomp_put_block(u, nullptr, nullptr), "null");
  expect_refused(put([](auto& block) { block.size = 0; }), "sizeof(iocomp_block)");
  expect_refused(put([](auto& block) { block.size = 1 << 20; }), "sizeof(iocomp_block)");
  expect_refused(put([](auto& block) { block.flags = 6; }), "flags");
  expect_refused(put([](auto& block) { block.type = IOCOMP_COMPLEX64; }),
                 "no values of complex64 are converted to int32");
  expect_refused(put([&](auto& block) { block.decomp = decomp; }), "a decomposition has no start");
  expect_refused(put([&](auto& block) { block.memory_start = origin.data(); }), "memory_shape");
  ASSERT_EQ(iocomp_put_block(u, &good, nullptr), 0) << iocomp_error();  // no overlap: it is alone
  ASSERT_EQ(iocomp_end_step(file), 0) << iocomp_error();
  EXPECT_EQ(written(), std::vector<std::int32_t>(values.begin(), values.end()));
}

TEST_F(Structs, MayBeOfAnEarlierOrALaterRelease) {
  struct Later {
    iocomp_block known;
    std::int64_t more;
  };
  iocomp_block block{.size = offsetof(iocomp_block, memory_shape),
                     .start = origin.data(),
                     .count = shape.data(),
                     .values = values.data()};
  block.memory_shape = memory.data();  // an earlier release has no such member: it is not looked at
  ASSERT_EQ(iocomp_put_block(u, &block, nullptr), 0) << iocomp_error();
  ASSERT_EQ(iocomp_end_step(file), 0) << iocomp_error();
  block.memory_shape = nullptr;
  block.size = sizeof(Later);
  Later later{block, 5};
  expect_story(iocomp_put_block(u, &later.known, nullptr), IOCOMP_UNSUPPORTED, "cannot do");
  later.more = 0;
  ASSERT_EQ(iocomp_put_block(u, &later.known, nullptr), 0) << iocomp_error();
  ASSERT_EQ(iocomp_end_step(file), 0) << iocomp_error();
  EXPECT_EQ(written(), std::vector<std::int32_t>(values.begin(), values.end()));
}

TEST_F(Structs, ADefinitionNamesTheDimensions) {
  std::array<const char*, 2> names{"y", "x"};
  iocomp_var* v = nullptr;
  iocomp_definition definition{.size = sizeof definition,
                               .name = "v",
                               .type = IOCOMP_FLOAT64,
                               .ndims = 2,
                               .shape = shape.data(),
                               .dims = names.data()};
  names[1] = "a b";
  expect_refused(iocomp_define_with(file, &definition, &v), "\"a b\"");
  names[1] = "";
  expect_refused(iocomp_define_with(file, &definition, &v), "\"\"");
  names[1] = "time";
  expect_refused(iocomp_define_with(file, &definition, &v), "set has_time instead");
  names[1] = nullptr;
  expect_refused(iocomp_define_with(file, &definition, &v), "null");
  definition.ndims = 1000000;
  names[1] = "x";
  definition.dims = nullptr;
  expect_refused(iocomp_define_with(file, &definition, &v), "1000000");
  definition.ndims = 2;
  definition.dims = names.data();
  definition.has_time = 1;
  ASSERT_EQ(iocomp_define_with(file, &definition, &v), 0) << iocomp_error();
  const std::vector<double> doubles(24);
  ASSERT_EQ(iocomp_put(v, origin.data(), shape.data(), doubles.data(), nullptr), 0);
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  iocomp_input* input = nullptr;
  const void* told = nullptr;
  ASSERT_EQ(iocomp_open_input(session, "out", &options, &input), 0) << iocomp_error();
  ASSERT_EQ(iocomp_input_attribute(input, "v", "dimensions", nullptr, nullptr, &told), 0)
      << iocomp_error();
  EXPECT_STREQ(static_cast<const char*>(told), "time y x");
}

TEST_F(Structs, AnAttributeIsOfTheFileOrOfOneOfItsVariables) {
  iocomp_file* other = nullptr;
  const std::string other_path = "path = \"" + (folder / "other.bin").string() + '"';
  iocomp_open_options elsewhere{};
  elsewhere.size = sizeof elsewhere;
  elsewhere.settings = other_path.c_str();
  ASSERT_EQ(iocomp_open(session, "other", IOCOMP_SERIES, &elsewhere, &other), 0) << iocomp_error();
  ASSERT_EQ(iocomp_set_attribute(file, nullptr, "title", IOCOMP_CHAR, -1, "of the file"), 0);
  ASSERT_EQ(iocomp_set_attribute(file, u, "units", IOCOMP_CHAR, -1, "K"), 0);
  ASSERT_EQ(iocomp_set_attribute(nullptr, u, "one", IOCOMP_INT32, 1, values.data()), 0);
  expect_refused(iocomp_set_attribute(other, u, "units", IOCOMP_CHAR, -1, "K"),
                 "a file that has the variable");
  expect_refused(iocomp_set_attribute(nullptr, nullptr, "units", IOCOMP_CHAR, -1, "K"), "null");
  ASSERT_EQ(iocomp_put(u, origin.data(), shape.data(), values.data(), nullptr), 0);
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  iocomp_input* input = nullptr;
  std::int64_t of_file = 0;
  std::int64_t of_variable = 0;
  ASSERT_EQ(iocomp_open_input(session, "out", &options, &input), 0) << iocomp_error();
  ASSERT_EQ(iocomp_input_attributes(input, nullptr, &of_file, nullptr), 0);
  ASSERT_EQ(iocomp_input_attributes(input, "u", &of_variable, nullptr), 0);
  EXPECT_EQ(of_file, 1);
  EXPECT_EQ(of_variable, 2);
}

TEST_F(Structs, WhatWasClosedOrFreedIsRefused) {
  iocomp_decomp* decomp = nullptr;
  const std::int64_t first = 0;
  const std::int64_t all = 24;
  ASSERT_EQ(iocomp_decompose(session, 2, shape.data(), 1, &first, &all, &decomp), 0);
  ASSERT_EQ(iocomp_decomp_free(decomp), 0);
  expect_refused(iocomp_decomp_free(decomp), "was freed");
  iocomp_block block{};
  block.size = sizeof block;
  block.values = values.data();
  block.decomp = decomp;
  expect_refused(iocomp_put_block(u, &block, nullptr), "the decomposition was freed");

  ASSERT_EQ(iocomp_put(u, origin.data(), shape.data(), values.data(), nullptr), 0);
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();
  const std::string closed = "the file \"out\" was closed";
  iocomp_var* variable = nullptr;
  expect_refused(iocomp_close(file), closed);
  expect_refused(iocomp_end_step(file), closed);
  expect_refused(iocomp_wait_puts(file, IOCOMP_REUSABLE), closed);
  expect_refused(iocomp_define(file, "v", IOCOMP_INT32, 0, nullptr, &variable), closed);
  expect_refused(iocomp_put(u, origin.data(), shape.data(), values.data(), nullptr), closed);
  expect_refused(iocomp_set_shape(u, shape.data()), closed);
  expect_refused(iocomp_set_attribute(nullptr, u, "a", IOCOMP_CHAR, -1, "b"), closed);
  EXPECT_EQ(iocomp_current_step(file), -1);

  iocomp_input* input = nullptr;
  std::array<std::int32_t, 24> found{};
  const std::int64_t* steps = nullptr;
  ASSERT_EQ(iocomp_open_input(session, "out", &options, &input), 0) << iocomp_error();
  ASSERT_EQ(iocomp_close_input(input), 0);
  expect_refused(iocomp_close_input(input), "the input was closed");
  expect_refused(iocomp_read(input, "u", 0, origin.data(), shape.data(), found.data()),
                 "the input was closed");
  expect_refused(iocomp_input_steps(input, nullptr, &steps), "the input was closed");
}

}  // namespace
