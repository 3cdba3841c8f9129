// SPDX-License-Identifier: BSD-3-Clause
#include "reader/reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/our_words.h"
#include "base/path.h"
#include "commit/json_values.h"
#include "contents/variable.h"
#include "formats/modules.h"
#include "formats/sources.h"
#include "reading/committed.h"
#include "reading/find_committed.h"
#include "reading/input.h"
#include "reading/path_sought.h"

namespace iocomp::reader {

// The steps as columns, because each call from Python costs.
struct Steps {
  std::vector<std::int64_t> numbers;
  std::vector<double> times;
  std::vector<std::int32_t> files;
  std::vector<std::int64_t> in_file;

  explicit Steps(const std::vector<reading::Committed::Step>& steps) {
    for (const auto& step : steps) {
      numbers.push_back(step.number);
      times.push_back(step.time);
      files.push_back(step.file);
      in_file.push_back(step.in_file);
    }
  }
};

struct Places {
  std::vector<std::int64_t> steps;
  std::vector<std::int32_t> types;
  std::vector<std::int32_t> dimensions;
  std::vector<std::int64_t> extents;

  explicit Places(const std::vector<reading::Committed::Place>& places) {
    for (const auto& place : places) {
      steps.push_back(place.step);
      types.push_back(static_cast<std::int32_t>(place.type));
      dimensions.push_back(place.shape.dimensions);
      extents.insert(extents.end(), place.shape.extent.begin(), place.shape.extent.end());
    }
  }
};

}  // namespace iocomp::reader

using iocomp::commit::Json;
using iocomp::reader::Places;
using iocomp::reader::Steps;
using iocomp::reading::Committed;
using iocomp::reading::Input;

namespace {

std::string& last_story() {
  thread_local std::string story;
  return story;
}

template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    return static_cast<int>(iocomp::code_of_current_exception(last_story()));
  }
}

Json describe(const std::string& path, const Committed& committed) {
  Json all{{"path", path},
           {"files", Json::array()},
           {"attributes", iocomp::commit::json(committed.attributes)},
           {"variables", Json::array()},
           {"left_out", Json::object()},
           {"not_read", committed.not_read}};
  for (const auto& file : committed.files) {
    all["files"].push_back({{"path", committed.text(file)}, {"format", file.format}});
  }
  for (const auto& variable : committed.variables) {
    std::set<std::string> meaning;  // in whichever step
    for (const auto& [step, attributes] : variable.meaning) {
      for (const auto& [name, value] : attributes) {
        meaning.insert(name);
      }
    }
    all["variables"].push_back({{"name", variable.name},
                                {"meaning", meaning},
                                {"attributes", iocomp::commit::json(variable.attributes)},
                                {"changes_meaning", variable.changes_meaning()}});
  }
  for (const auto& torn : committed.torn) {
    all["left_out"][std::to_string(torn.step)] = torn.story;
  }
  return all;
}

bool reads(const std::string& format) {
  return iocomp::outcome_of([&] {
           (void)iocomp::formats::source_version(format, iocomp::formats::chosen_modules());
         })
      .ok();
}

// BP where this was built without ADIOS2.
bool is_left_to_python(const Committed& committed, const Committed::File& file) {
  return file.format == "adios2" &&
         iocomp::is_folder(iocomp::Path{committed.text(file)},
                           iocomp::OpenFolder::Links::followed) &&
         !reads(file.format);
}

}  // namespace

struct iocomp_reader {
  iocomp_reader(const iocomp::reading::Sought& sought, Committed found)
      : description{iocomp::commit::one_line(describe(sought.path, found))},
        steps{found.steps},
        input{sought.name, std::move(found), sought.modules},
        places(input.committed().variables.size()) {}

  std::string description;
  Steps steps;
  Input input;
  std::mutex mutex{};
  std::vector<std::unique_ptr<Places>> places;  // guarded by it; made when they are asked for
};

const char* iocomp_reader_version() { return IOCOMP_RELEASE; }

const char* iocomp_reader_error() { return last_story().c_str(); }

int iocomp_reader_reads(const char* format) {
  bool has_module = false;
  return guarded([&] { has_module = reads(format); }) == 0 && has_module ? 1 : 0;
}

int iocomp_reader_open(const char* path, int use_manifest, iocomp_reader** reader) {
  return guarded([&] {
    *reader = nullptr;
    auto sought = iocomp::reading::sought_at(path);
    sought.believes_manifest = use_manifest != 0;
    sought.modules = iocomp::formats::chosen_modules();
    auto opened = std::make_unique<iocomp_reader>(sought, iocomp::reading::find_committed(sought));
    const auto& committed = opened->input.committed();
    if (!committed.files.empty() && !is_left_to_python(committed, committed.files.back())) {
      opened->input.try_newest();  // what is read is of this file, even if another gets its name
    }
    *reader = opened.release();
  });
}

void iocomp_reader_close(iocomp_reader* reader) {
  const std::unique_ptr<iocomp_reader> closed{reader};
}

int iocomp_reader_description(iocomp_reader* reader, const char** json) {
  return guarded([&] { *json = reader->description.c_str(); });
}

int iocomp_reader_steps(iocomp_reader* reader, std::int64_t* count, const std::int64_t** numbers,
                        const double** times, const std::int32_t** files,
                        const std::int64_t** in_file) {
  return guarded([&] {
    const Steps& steps = reader->steps;
    *count = static_cast<std::int64_t>(steps.numbers.size());
    *numbers = steps.numbers.data();
    *times = steps.times.data();
    *files = steps.files.data();
    *in_file = steps.in_file.data();
  });
}

int iocomp_reader_places(iocomp_reader* reader, int variable, std::int64_t* count,
                         const std::int64_t** steps, const std::int32_t** types,
                         const std::int32_t** dimensions, const std::int64_t** shapes) {
  return guarded([&] {
    const auto& asked = reader->input.variable(variable);
    const std::lock_guard lock{reader->mutex};
    auto& places = reader->places[static_cast<std::size_t>(variable)];
    if (!places) {
      places = std::make_unique<Places>(asked.places);
    }
    *count = static_cast<std::int64_t>(places->steps.size());
    *steps = places->steps.data();
    *types = places->types.data();
    *dimensions = places->dimensions.data();
    *shapes = places->extents.data();
  });
}

int iocomp_reader_read(iocomp_reader* reader, int variable, std::int64_t step,
                       const std::int64_t* start, const std::int64_t* count, void* values,
                       const std::int64_t* memory, int type) {
  return guarded([&] {
    constexpr std::array<std::int64_t, iocomp::array::max_dimensions> corner{};
    const auto converted = iocomp::array::element_type(type);
    if (type != 0 && !converted) {
      throw iocomp::Error{iocomp::ErrorCode::invalid_argument,
                          "there is no element type " + std::to_string(type)};
    }
    reader->input.read(reader->input.variable(variable).name, step,
                       {.start = start,
                        .count = count,
                        .values = values,
                        .memory_shape = memory,
                        .memory_start = memory == nullptr ? nullptr : corner.data(),
                        .type = converted});
  });
}
