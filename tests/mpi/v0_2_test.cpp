// SPDX-License-Identifier: BSD-3-Clause
// The names of 0.2, as a program has them that was not changed.
#define IOCOMP_API_0_2
#include <gtest/gtest.h>
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace {

class OldNames : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "iocomp_old_XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    const std::string settings =
        "trace.lines = 'none'\n[files.a]\npath = '" + path + "/a.bin'\nexisting = 'continue'\n";
    ASSERT_EQ(iocomp_init(MPI_COMM_WORLD, settings.c_str(), &session), 0) << iocomp_error();
  }
  void TearDown() override {
    EXPECT_EQ(iocomp_finalize(session), 0) << iocomp_error();
    std::filesystem::remove_all(folder_);
  }
  iocomp_session* session = nullptr;

 private:
  std::filesystem::path folder_;
};

// Compares the input with what the test below makes.
void look(iocomp_input* input) {
  std::int64_t steps = 0;
  std::int64_t step = -1;
  ASSERT_EQ(iocomp_input_steps(input, &steps), 0);
  EXPECT_EQ(steps, 1);
  ASSERT_EQ(iocomp_input_step(input, 0, &step), 0);
  EXPECT_EQ(step, 0);
  EXPECT_EQ(iocomp_input_step(input, 1, &step), IOCOMP_INVALID_ARGUMENT);
  ASSERT_EQ(iocomp_input_left_out(input, &steps), 0);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(iocomp_input_left_out_step(input, 0, &step, nullptr), IOCOMP_INVALID_ARGUMENT);

  int variables = 0;
  int index = -1;
  const char* name = nullptr;
  iocomp_type type{};
  int ndims = 0;
  std::array<std::int64_t, 2> shape{};
  ASSERT_EQ(iocomp_input_variables(input, &variables), 0);
  EXPECT_EQ(variables, 3);
  ASSERT_EQ(iocomp_input_find(input, "v", &index), 0);
  EXPECT_EQ(index, 1);
  EXPECT_EQ(iocomp_input_find(input, "w", &index), IOCOMP_NOT_FOUND);
  ASSERT_EQ(iocomp_input_variable(input, index, &name, &type, &ndims), 0);
  EXPECT_STREQ(name, "v");
  EXPECT_EQ(type, IOCOMP_FLOAT64);
  EXPECT_EQ(ndims, 2);
  EXPECT_EQ(iocomp_input_variable(input, 3, &name, &type, &ndims), IOCOMP_INVALID_ARGUMENT);
  ASSERT_EQ(iocomp_input_shape(input, "v", 0, shape.data()), 0);
  EXPECT_EQ(shape, (std::array<std::int64_t, 2>{4, 6}));

  int attributes = 0;
  std::int64_t count = 0;
  int is_text = -1;
  double number = 0;
  const char* text = nullptr;
  ASSERT_EQ(iocomp_input_attributes(input, "u", &attributes), 0);
  EXPECT_EQ(attributes, 2);
  ASSERT_EQ(iocomp_input_attribute(input, "u", 1, &name, &type, &count, &is_text), 0);
  EXPECT_STREQ(name, "units");
  EXPECT_EQ(is_text, 1);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(iocomp_input_attribute(input, "u", 2, &name, &type, &count, &is_text),
            IOCOMP_INVALID_ARGUMENT);
  ASSERT_EQ(iocomp_input_attribute_text(input, nullptr, "title", &text), 0);
  EXPECT_STREQ(text, "a title");
  EXPECT_EQ(iocomp_input_attribute_text(input, "u", "number", &text), IOCOMP_INVALID_ARGUMENT);
  ASSERT_EQ(iocomp_input_attribute_values(input, "u", "number", IOCOMP_FLOAT64, 1, &number), 0);
  EXPECT_EQ(number, 3);
  EXPECT_EQ(iocomp_input_attribute_values(input, "u", "number", IOCOMP_FLOAT64, 2, &number),
            IOCOMP_INVALID_ARGUMENT);
}

TEST_F(OldNames, WriteAndReadAsTheyDid) {
  const std::array<std::int64_t, 2> shape{4, 6};
  const std::array<std::int64_t, 2> start{0, 0};
  const std::array<std::int64_t, 2> half{2, 6};
  const std::array<std::int64_t, 2> below{2, 0};
  const std::array<std::int64_t, 2> memory{4, 8};
  const std::array<std::int64_t, 2> inside{1, 1};
  std::vector<double> values(32);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i);
  }
  iocomp_file* file = nullptr;
  iocomp_var* u = nullptr;
  iocomp_var* v = nullptr;
  iocomp_var* rows = nullptr;
  iocomp_decomp* decomp = nullptr;
  iocomp_ticket ticket{};
  ASSERT_EQ(iocomp_open_on(session, iocomp_comm(session), "a", IOCOMP_SERIES, &file), 0);
  ASSERT_EQ(iocomp_define(file, "u", IOCOMP_FLOAT64, 2, shape.data(), &u), 0);
  ASSERT_EQ(iocomp_define(file, "v", IOCOMP_FLOAT64, 2, shape.data(), &v), 0);
  const std::int64_t none = 0;
  ASSERT_EQ(iocomp_define(file, "rows", IOCOMP_FLOAT64, 1, &none, &rows), 0);
  ASSERT_EQ(iocomp_set_attribute_text(file, "title", "a title"), 0);
  ASSERT_EQ(iocomp_set_attribute(file, "number", IOCOMP_FLOAT64, 1, &values[3]), 0);
  ASSERT_EQ(iocomp_set_var_attribute_text(u, "units", "K"), 0);
  ASSERT_EQ(iocomp_set_var_attribute(u, "number", IOCOMP_FLOAT64, 1, &values[3]), 0);
  EXPECT_EQ(iocomp_set_var_attribute_text(nullptr, "units", "K"), IOCOMP_INVALID_ARGUMENT);
  const std::int64_t many = 3;
  std::int64_t first = -1;
  std::int64_t total = -1;
  ASSERT_EQ(iocomp_put_rows(rows, &many, values.data(), 1, &first, &total, nullptr), 0)
      << iocomp_error();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(total, 3);
  ASSERT_EQ(iocomp_put_buffered(u, start.data(), half.data(), values.data(), nullptr), 0);
  ASSERT_EQ(iocomp_put_from(u, below.data(), half.data(), values.data(), memory.data(),
                            inside.data(), 0, &ticket),
            0)
      << iocomp_error();
  const std::int64_t elements = 24;
  ASSERT_EQ(iocomp_decomp_runs(session, 2, shape.data(), 1, &none, &elements, &decomp), 0);
  ASSERT_EQ(iocomp_put_decomp(v, decomp, values.data(), 0, nullptr), 0) << iocomp_error();
  EXPECT_EQ(iocomp_decomp_map(session, 2, shape.data(), 1, &elements, &decomp),
            IOCOMP_INVALID_ARGUMENT);
  ASSERT_EQ(iocomp_end_step(file), 0);
  ASSERT_EQ(iocomp_wait(&ticket, IOCOMP_HANDED_OVER), 0) << iocomp_error();
  ASSERT_EQ(iocomp_end_step(file), 0);
  ASSERT_EQ(iocomp_close(file), 0) << iocomp_error();

  ASSERT_EQ(iocomp_open_after(session, "a", IOCOMP_SERIES, 0, &file), 0) << iocomp_error();
  EXPECT_EQ(iocomp_current_step(file), 1);
  ASSERT_EQ(iocomp_close(file), 0);
  ASSERT_EQ(iocomp_open_with(session, iocomp_comm(session), "a", IOCOMP_SERIES, IOCOMP_LAST_STEP,
                             "checksum = 'none'", &file),
            0)
      << iocomp_error();
  EXPECT_EQ(iocomp_current_step(file), 1);
  ASSERT_EQ(iocomp_close(file), 0);
  ASSERT_EQ(iocomp_open(session, "a", IOCOMP_SERIES, &file), 0) << iocomp_error();
  ASSERT_EQ(iocomp_close(file), 0);
  EXPECT_EQ(iocomp_open_on(session, MPI_COMM_NULL, "a", IOCOMP_SERIES, &file),
            IOCOMP_INVALID_ARGUMENT);

  EXPECT_EQ(iocomp_version(), IOCOMP_VERSION);
  EXPECT_STREQ(iocomp_version_text(), IOCOMP_VERSION_STRING);

  iocomp_input* input = nullptr;
  std::int64_t step = -1;
  double time = 0;
  ASSERT_EQ(iocomp_latest(session, "a", &step, &time, &input), 0) << iocomp_error();
  EXPECT_EQ(step, 0);
  EXPECT_TRUE(std::isnan(time));
  std::vector<double> found(24);
  ASSERT_EQ(iocomp_read(input, "u", 0, start.data(), shape.data(), found.data()), 0);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(found[i], values[i]);
    EXPECT_EQ(found[12 + i], values[8 * (1 + i / 6) + 1 + i % 6]);
  }
  ASSERT_EQ(iocomp_read(input, "v", 0, start.data(), shape.data(), found.data()), 0);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), values.begin()));
  ASSERT_EQ(iocomp_close_input(input), 0);
  ASSERT_EQ(iocomp_open_input(session, "a", &input), 0) << iocomp_error();
  look(input);
  ASSERT_EQ(iocomp_close_input(input), 0);
  ASSERT_EQ(iocomp_open_input_on(session, iocomp_comm(session), "a", &input), 0) << iocomp_error();
  ASSERT_EQ(iocomp_close_input(input), 0);
  ASSERT_EQ(iocomp_open_input_with(session, iocomp_comm(session), "a", nullptr, &input), 0);
  ASSERT_EQ(iocomp_close_input(input), 0);
  ASSERT_EQ(iocomp_latest_with(session, iocomp_comm(session), "a", nullptr, &step, nullptr, &input),
            0);
  ASSERT_EQ(iocomp_close_input(input), 0);
}

}  // namespace
