// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "words.h"

namespace actor {
namespace {

struct Rows {
  int rank = 0;
  int size = 1;
};

using Seeds = std::map<std::string, std::uint64_t>;  // of the values, by variable

/// "u:5,v:6"
Seeds seeds_of(const Line& line) {
  Seeds seeds;
  std::istringstream stream{line.option("seeds", "")};
  for (std::string part; std::getline(stream, part, ',');) {
    const auto colon = part.rfind(':');
    seeds[part.substr(0, colon)] = std::stoull(part.substr(colon + 1));
  }
  return seeds;
}

// @return the code of the first call that fails.
int read_variable(iocomp_input* input, const char* name, std::int64_t step, const Rows& rows,
                  const Seeds& seeds, bool& is_right) {
  Values values;
  int dimensions = 0;
  const std::int64_t* extents = nullptr;
  int code = iocomp_input_variable(input, name, step, &values.type, &dimensions, &extents);
  if (code == IOCOMP_NOT_FOUND) {
    return IOCOMP_OK;  // the step has no values of it
  }
  if (code != IOCOMP_OK) {
    return code;
  }
  const Extents shape(extents, extents + dimensions);
  if (std::string_view{name} == "time" && shape.empty()) {  // of begin_step
    double time = 0;
    double told = 0;
    code = iocomp_read(input, name, step, nullptr, nullptr, &time);
    code = code != IOCOMP_OK ? code : iocomp_input_time(input, step, &told);
    is_right = is_right && time == told;
    return code;
  }
  if (const auto seed = seeds.find(name); seed != seeds.end()) {
    values.seed = seed->second;
  } else if (!values.is_sequence() && !std::ranges::count(shape, 0)) {
    is_right = false;  // the script has written no variable of that name
    return IOCOMP_OK;
  }
  Extents start(shape.size(), 0);
  Extents count = shape;
  if (!shape.empty()) {
    start[0] = shape[0] * rows.rank / rows.size;
    count[0] = shape[0] * (rows.rank + 1) / rows.size - start[0];
  }
  const Block block = Block::of(shape, start, count);
  std::vector<std::byte> found(block.memory_bytes(values), poison);
  code = iocomp_read(input, name, step, start.data(), count.data(), found.data());
  is_right = is_right && found == block.local_array(values, step);
  return code;
}

int open_input(const Stage& stage, const std::string& name, MPI_Comm members,
               iocomp_input** input) {
  const iocomp_open_options options{.size = sizeof options, .comm = &members};
  return iocomp_open_input(stage.session, name.c_str(),
                           members == iocomp_comm(stage.session) ? nullptr : &options, input);
}

std::vector<std::int64_t> left_out_of(iocomp_input* input) {
  std::int64_t count = 0;
  const std::int64_t* steps = nullptr;
  iocomp_input_left_out(input, &count, &steps, nullptr);
  return {steps, steps + count};
}

std::vector<std::int64_t> steps_of(iocomp_input* input) {
  std::int64_t count = 0;
  const std::int64_t* steps = nullptr;
  iocomp_input_steps(input, &count, &steps);
  return {steps, steps + count};
}

/// Reads the committed steps of a name: this rank's rows of everything in it, or in one step.
void read(Stage& stage, const Line& line) {
  const auto group = line.option("on", "");
  const MPI_Comm members = group.empty() ? iocomp_comm(stage.session) : stage.groups.at(group);
  Rows rows;
  MPI_Comm_rank(members, &rows.rank);
  MPI_Comm_size(members, &rows.size);
  const double began = now_seconds();
  iocomp_input* input = nullptr;
  int code = open_input(stage, line.argument(0), members, &input);
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> left_out;
  const Seeds seeds = seeds_of(line);
  bool is_right = true;
  if (code == IOCOMP_OK) {
    steps = line.has("step") ? numbers(line.option("step", ""), ',') : steps_of(input);
    left_out = left_out_of(input);
    std::int64_t variables = 0;
    const char* const* names = nullptr;
    iocomp_input_variables(input, &variables, &names);
    for (std::size_t i = 0; i < steps.size() && code == IOCOMP_OK; ++i) {
      for (std::int64_t index = 0; index < variables && code == IOCOMP_OK; ++index) {
        code = read_variable(input, names[index], steps[i], rows, seeds, is_right);
      }
    }
    iocomp_close_input(input);
  }
  stage.tell(
      line, code, began,
      {{"file", line.argument(0)}, {"steps", steps}, {"left_out", left_out}, {"right", is_right}});
}

/// Finds the step to restart from.
void latest(Stage& stage, const Line& line) {
  const double began = now_seconds();
  std::int64_t step = 0;
  double time = 0;
  iocomp_input* input = nullptr;
  const int code =
      iocomp_latest(stage.session, line.argument(0).c_str(), nullptr, &step, &time, &input);
  stage.tell(line, code, began,
             {{"file", line.argument(0)},
              {"step", step},
              {"time", time != time ? nlohmann::json{} : nlohmann::json(time)},
              {"has_input", input != nullptr}});
  iocomp_close_input(input);
}

// @return the code of the first call that fails, and what is not as it was put.
std::pair<int, std::string> compare(iocomp_input* input, const Written& written) {
  const char* const name = written.variable.c_str();
  const Block& block = written.block;
  const std::string where = "\"" + written.variable + "\" in step " + std::to_string(written.step);
  iocomp_type type{};
  int dimensions = 0;
  const std::int64_t* extents = nullptr;
  int code = iocomp_input_variable(input, name, written.step, &type, &dimensions, &extents);
  const Extents shape(extents, extents + dimensions);
  if (code == IOCOMP_OK && (type != written.values.type || shape != block.shape)) {
    return {code, where + " has another type or shape"};
  }
  std::vector<std::byte> memory(block.memory_bytes(written.values), poison);
  if (code == IOCOMP_OK) {
    const iocomp_destination to{.size = sizeof to,
                                .start = block.start.data(),
                                .count = block.count.data(),
                                .values = memory.data(),
                                .memory_shape = block.memory_shape.data(),
                                .memory_start = block.memory_start.data()};
    code = iocomp_read_block(input, name, written.step, &to);
  }
  const bool is_right =
      code != IOCOMP_OK || memory == block.local_array(written.values, written.step);
  return {code, is_right ? "" : where + " is not read as it was put"};
}

/// Blocks that were put by writers, here by members that did not put them. Steps that are not
/// committed any more (checkpoints beyond those that are kept) are left out.
void read_back(Stage& stage, const Line& line) {
  const File& file = stage.file(line);
  if (file.written.empty()) {
    return;  // where no step was ended either there is no checkpoint at all
  }
  const double began = now_seconds();
  iocomp_input* input = nullptr;
  int code = open_input(stage, line.argument(0), file.members, &input);
  std::string wrong;
  if (code == IOCOMP_OK) {
    const auto steps = steps_of(input);
    const std::size_t blocks = file.written.size();
    for (auto i = static_cast<std::size_t>(file.rank); i < blocks && wrong.empty();
         i += static_cast<std::size_t>(file.size)) {
      const Written& written = file.written[(i + 1) % blocks];
      if (code == IOCOMP_OK && std::ranges::binary_search(steps, written.step)) {
        std::tie(code, wrong) = compare(input, written);
      }
    }
  }
  stage.tell(line, code, began, {{"file", line.argument(0)}, {"wrong", wrong}});
  if (input != nullptr) {
    iocomp_close_input(input);
  }
}

}  // namespace

Words read_words() { return {{"read", read}, {"read_back", read_back}, {"latest", latest}}; }

}  // namespace actor
