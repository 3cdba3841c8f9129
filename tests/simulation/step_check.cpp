// SPDX-License-Identifier: BSD-3-Clause
#include "step_check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "reading/committed.h"

namespace simulation {
namespace {

using iocomp::Error;
using iocomp::reading::Committed;
using iocomp::reading::Input;

std::string in_hexadecimal(std::byte byte) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const auto value = std::to_integer<unsigned>(byte);
  return {digits[value >> 4U], digits[value & 15U]};
}

// Counts elements that should have a checksum and have none: blocks that are boxes, in files that
// sum them.
std::int64_t elements_without_sum(const PlannedFile& file, const StepOfVariable& step,
                                  const iocomp::reading::Committed::Place& place) {
  if ((!file.is_checkpoint && !file.has_sums) || file.may_overlap) {
    return 0;
  }
  std::int64_t left = 0;
  for (const auto& put : step.puts) {
    left += put.is_scattered ? 0
                             : std::accumulate(put.count.begin(), put.count.end(), std::int64_t{1},
                                               std::multiplies<>{});
  }
  if (place.sums) {
    for (const auto& sum : *place.sums) {
      left -= iocomp::array::elements(sum.box);
    }
  }
  return left;
}

/// A box of a variable, and what is in it.
struct Probe {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
  std::vector<std::byte> expected;
};

// Probes a vast variable where something was put, and at the element behind each put.
std::vector<Probe> probes_of(const PlannedFile& file, std::size_t v, std::int64_t step) {
  const auto& part = file.steps[static_cast<std::size_t>(step)].variables[v];
  if (!is_vast(part)) {
    return {{std::vector<std::int64_t>(part.shape.size(), 0), part.shape,
             expected_values(file, v, step)}};
  }
  const std::vector<std::byte> nothing(iocomp::array::size_bytes(file.variables[v].type),
                                       static_cast<std::byte>(file.variables[v].fill));
  std::vector<Probe> probes;
  for (const Put& put : part.puts) {
    probes.push_back({put.start, put.count, values_of(file, v, step, put.start, put.count)});
    const std::int64_t behind = put.start.front() + put.count.front();
    if (behind < part.shape.front()) {
      probes.push_back({{behind}, {1}, nothing});
    }
  }
  return probes;
}

// Other programs read a variable by the offset that the manifest tells. A probe is one run there.
bool is_at_its_offset(const Input& input, const Input::Place& place, std::int64_t step,
                      const Probe& probe) {
  if (place.offset < 0) {
    return true;
  }
  const auto& committed = input.committed();
  const auto known = std::ranges::find(committed.steps, step, &Committed::Step::number);
  const auto& file = committed.files.at(static_cast<std::size_t>(known->file));
  const iocomp::Descriptor open{::open(committed.text(file).c_str(), O_RDONLY | O_CLOEXEC)};
  std::vector<std::byte> found(probe.expected.size());
  std::int64_t before = 0;
  for (std::size_t d = 0; d < probe.start.size(); ++d) {
    before = before * place.shape.extent[d] + probe.start[d];
  }
  const auto size = iocomp::array::size_bytes(place.type);
  const std::int64_t offset = place.offset + before * static_cast<std::int64_t>(size);
  if (::pread(open.raw(), found.data(), found.size(), offset) != std::ssize(found)) {
    return false;
  }
  if (file.format == "pnetcdf") {  // is big-endian
    iocomp::array::swap_bytes(found, size);
  }
  return found == probe.expected;
}

bool is_one_value(const std::vector<std::byte>& values, std::size_t size) {
  return std::equal(values.begin() + static_cast<std::ptrdiff_t>(size), values.end(),
                    values.begin());
}

/// A step of a file as a reader finds it, beside what its programs have put.
class StepCheck {
 public:
  StepCheck(Input& input, const PlannedFile& file, std::int64_t step,
            std::optional<std::int64_t> in_file)
      : input_{input},
        file_{file},
        step_{step},
        number_{in_file.value_or(step)},
        has_sums_{!in_file} {}

  /// @return what differs, or nothing.
  [[nodiscard]] std::string difference() {
    for (const auto& variable : input_.committed().variables) {
      const bool is_here =
          std::ranges::find(variable.places, number_, &Input::Place::step) != variable.places.end();
      const bool is_known = (file_.has_times && variable.name == iocomp::contents::time_variable) ||
                            std::ranges::find(file_.variables, variable.name, &Variable::name) !=
                                file_.variables.end();
      if (is_here && !is_known) {
        return "it has " + variable.name + ", which nobody has defined";
      }
    }
    for (std::size_t v = 0; v < file_.variables.size(); ++v) {
      std::string problem;
      try {
        problem = difference_of(v);
      } catch (const Error& error) {
        problem = std::string{"cannot be read: "} + error.what();
      }
      if (!problem.empty()) {
        return file_.variables[v].name + ' ' + problem;
      }
    }
    return {};
  }

 private:
  // A variable that nobody has put is not there, or holds its fill value.
  [[nodiscard]] bool is_there(const std::string& name) const {
    const auto& variables = input_.committed().variables;
    const auto known = std::ranges::find(variables, name, &Input::Variable::name);
    if (known == variables.end()) {
      return false;
    }
    const auto place = std::ranges::find(known->places, number_, &Input::Place::step);
    return place != known->places.end();
  }

  [[nodiscard]] std::string difference_of(std::size_t v) {
    const auto& part = file_.steps[static_cast<std::size_t>(step_)].variables[v];
    const auto& name = file_.variables[v].name;
    if (part.puts.empty() && !is_there(name)) {
      return {};
    }
    const auto& place = input_.place(name, number_);
    if (!std::ranges::equal(
            std::span{place.shape.extent}.first(static_cast<std::size_t>(place.shape.dimensions)),
            part.shape)) {
      return "has another shape";
    }
    // Formats have fill values of their own.
    const bool may_have_any_fill = !has_sums_ && part.puts.empty() && file_.variables[v].fill == 0;
    for (const Probe& probe : probes_of(file_, v, step_)) {
      std::vector<std::byte> found(probe.expected.size());
      input_.read(
          name, number_,
          {.start = probe.start.data(), .count = probe.count.data(), .values = found.data()});
      if (may_have_any_fill && is_one_value(found, iocomp::array::size_bytes(place.type))) {
        continue;
      }
      if (found != probe.expected) {
        const auto differs = std::ranges::mismatch(found, probe.expected).in1 - found.begin();
        return "has wrong values from byte " + std::to_string(differs) + " of " +
               std::to_string(found.size()) + ", " +
               in_hexadecimal(found[static_cast<std::size_t>(differs)]) + " for " +
               in_hexadecimal(probe.expected[static_cast<std::size_t>(differs)]);
      }
      if (!is_at_its_offset(input_, place, number_, probe)) {
        return "is not at the offset that the manifest tells";
      }
    }
    const auto left = has_sums_ ? elements_without_sum(file_, part, place) : 0;
    if (left != 0) {
      return "has " + std::to_string(left) + " elements that were put and have no checksum";
    }
    return {};
  }

  Input& input_;
  const PlannedFile& file_;
  std::int64_t step_;
  std::int64_t number_;  // for the reader
  bool has_sums_;
};

}  // namespace

std::string difference(Input& input, const PlannedFile& file, std::int64_t step,
                       std::optional<std::int64_t> in_file) {
  return StepCheck{input, file, step, in_file}.difference();
}

std::string difference_of_time(Input& input, std::int64_t step) {
  double found = 0;
  try {
    if (input.place(iocomp::contents::time_variable, step).shape.dimensions != 0) {
      return "is no scalar";
    }
    input.read(iocomp::contents::time_variable, step,
               {.start = nullptr, .count = nullptr, .values = &found});
  } catch (const Error& error) {
    return std::string{"cannot be read: "} + error.what();
  }
  return found == time_of(step) ? std::string{} : "is " + std::to_string(found);
}

std::string difference_of_attributes(const Input& input, const PlannedFile& file,
                                     const Told& told) {
  // The attributes must be of one version that was set; when all have closed the file, of the last.
  const auto difference = [&](const std::string& owner,
                              const iocomp::contents::Attributes& found) -> std::string {
    const auto known = found.find(attribute_name);
    if (known == found.end()) {
      return owner + " has no attribute";
    }
    // Attributes that are set behind the last step go into no file of a single step.
    const bool is_known = told.is_closed && !has_file_per_step(file);
    int version = is_known ? told.last_attributes : told.newest_attributes;
    const int least = is_known ? version : 0;
    while (version >= least && known->second != attribute_of(file, version)) {
      --version;
    }
    return version < least ? owner + " has another attribute" : std::string{};
  };
  std::string differs = difference(file.name, input.committed().attributes);
  const auto& first = file.variables.front().name;
  for (const auto& variable : input.committed().variables) {
    if (variable.name == first && differs.empty()) {
      differs = difference(first + " of " + file.name, variable.attributes);
    }
  }
  return differs;
}

}  // namespace simulation
