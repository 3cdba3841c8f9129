// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/byte_order.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "client/client.h"
#include "client/place.h"
#include "contents/catalogue.h"
#include "excuses.h"
#include "job.h"
#include "machine.h"
#include "network.h"
#include "plan_settings.h"
#include "reading/input.h"
#include "world.h"

namespace simulation {
namespace {

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::reading::Committed;
using iocomp::reading::Input;

std::string in_hexadecimal(std::byte byte) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const auto value = std::to_integer<unsigned>(byte);
  return {digits[value >> 4U], digits[value & 15U]};
}

bool has_values(const PlannedFile& file, std::int64_t step) {
  return has_puts(file.steps[static_cast<std::size_t>(step)]);
}

// Of those that should have one: blocks that are boxes, in files that sum them.
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

// @return what is wrong but for the values; else nothing.
std::string read_values(Input& input, const std::string& name, std::int64_t step,
                        const std::vector<std::int64_t>& expected_shape,
                        std::vector<std::byte>& values) {
  const std::vector<std::int64_t> start(expected_shape.size(), 0);
  try {
    const auto& shape = input.place(name, step).shape;
    if (!std::ranges::equal(
            std::span{shape.extent}.first(static_cast<std::size_t>(shape.dimensions)),
            expected_shape)) {
      return "has another shape";
    }
    input.read(name, step,
               {.start = start.data(), .count = expected_shape.data(), .values = values.data()});
  } catch (const Error& error) {
    return std::string{"cannot be read: "} + error.what();
  }
  return {};
}

// Other programs read a variable by the offset that the manifest tells.
bool is_at_its_offset(const Input& input, const std::string& name, std::int64_t step,
                      std::span<const std::byte> expected) {
  const auto& place = input.place(name, step);
  if (place.offset < 0) {
    return true;
  }
  const auto& committed = input.committed();
  const auto known = std::ranges::find(committed.steps, step, &Committed::Step::number);
  const auto& file = committed.files.at(static_cast<std::size_t>(known->file));
  const iocomp::Descriptor open{::open(file.path.c_str(), O_RDONLY | O_CLOEXEC)};
  std::vector<std::byte> found(expected.size());
  if (::pread(open.raw(), found.data(), found.size(), place.offset) != std::ssize(found)) {
    return false;
  }
  if (file.format == "pnetcdf") {  // is big-endian
    iocomp::array::swap_bytes(found, iocomp::array::size_bytes(place.type));
  }
  return std::ranges::equal(found, expected);
}

// What differs, if a step is not that which a file's programs have put.
std::string difference(Input& input, const PlannedFile& file, std::int64_t step) {
  const Step& planned = file.steps[static_cast<std::size_t>(step)];
  for (std::size_t v = 0; v < file.variables.size(); ++v) {
    const auto& part = planned.variables[v];
    const auto& name = file.variables[v].name;
    if (part.puts.empty()) {
      continue;
    }
    const auto expected = expected_values(file, v, step);
    std::vector<std::byte> found(expected.size());
    const std::string problem = read_values(input, name, step, part.shape, found);
    if (!problem.empty()) {
      return name + ' ' + problem;
    }
    if (found != expected) {
      const auto differs = std::ranges::mismatch(found, expected).in1 - found.begin();
      return name + " has wrong values from byte " + std::to_string(differs) + " of " +
             std::to_string(expected.size()) + ", " +
             in_hexadecimal(found[static_cast<std::size_t>(differs)]) + " for " +
             in_hexadecimal(expected[static_cast<std::size_t>(differs)]);
    }
    if (!is_at_its_offset(input, name, step, expected)) {
      return name + " is not at the offset that the manifest tells";
    }
    if (const auto left = elements_without_sum(file, part, input.place(name, step)); left != 0) {
      return name + " has " + std::to_string(left) + " elements that were put and have no checksum";
    }
  }
  return {};
}

/// One file as a reader finds it, and what is wrong with that.
class FileCheck {
 public:
  FileCheck(const Plan& plan, std::size_t number, const Told& told)
      : plan_{plan},
        told_{told},
        planned_{std::make_shared<const PlannedFile>(what_was_put(plan.files[number], told))} {}

  void look(iocomp::client::Client& client) {
    try {
      input_ = client.open_input(MPI_COMM_NULL, planned_->name);
    } catch (const Error& error) {
      reason_ = std::string{": "} + error.what();
      if (error.code() != ErrorCode::not_found && error.code() != ErrorCode::storage_failure) {
        broken("the reader of " + planned_->name + " says" + reason_);
      }
    }
    if (input_) {
      for (const auto& step : input_->committed().steps) {
        look_at(step.number);
        if (planned_->has_times && step.time != time_of(step.number)) {
          broken(name_of(step.number) + " has another time: " + std::to_string(step.time));
        }
        if (planned_->has_times && new_.contains(step.number)) {
          look_at_time(step.number);
        }
      }
    }
    check_attributes();
    check_before();
    check_promises();
  }

  // A step that is there, and that this job has made beyond doubt, has those of another file before
  // it that had been ended before.
  void check_predecessors(const FileCheck& other) {
    for (const auto& [step, before] : told_.predecessors) {
      for (const std::int64_t first : before) {
        const bool is_there = new_.contains(step) && has_values(*planned_, step) &&
                              !alike_.contains(step) && !old_.contains(step);
        if (is_there && has_values(*other.planned_, first) && !other.new_.contains(first) &&
            !other.is_replaced(first)) {
          broken(name_of(step) + " is there, and " + other.name_of(first) +
                 ", which comes before it, is not" + other.reason_);
        }
      }
    }
  }

  [[nodiscard]] const std::vector<std::string>& violations() const noexcept { return violations_; }
  /// What is there.
  [[nodiscard]] Steps steps() const {
    Steps steps;
    for (const std::int64_t step : all_) {
      steps.emplace(step, old_.contains(step)        ? told_.before.steps.at(step)
                          : returned_.contains(step) ? told_.before.removed.at(step)
                                                     : planned_);
    }
    return steps;
  }

 private:
  void broken(const std::string& what) { violations_.push_back(what); }
  [[nodiscard]] std::string name_of(std::int64_t step) const {
    return "step " + std::to_string(step) + " of " + planned_->name;
  }

  // Whose it is: of this job, or of one before it. Of a step without values nobody can say.
  void look_at(std::int64_t step) {
    all_.insert(step);
    const auto before = told_.before.steps.find(step);
    const bool was_there = before != told_.before.steps.end();
    const bool is_planned = step < std::ssize(planned_->steps);
    if (is_planned && !has_values(*planned_, step)) {
      if (!was_there || told_.committed.contains(step)) {
        new_.insert(step);
      }
      return;
    }
    const auto is_old = [&] {
      return was_there && difference(*input_, *before->second, step).empty();
    };
    const auto is_back = [&] {
      const auto removed = told_.before.removed.find(step);
      return !told_.first_step && removed != told_.before.removed.end() &&
             difference(*input_, *removed->second, step).empty();
    };
    if (planned_->goes_on && step <= told_.before.after && is_old()) {
      old_.insert(step);
      return;
    }
    const std::string wrong =
        is_planned ? difference(*input_, *planned_, step) : "nobody has made it";
    if (wrong.empty()) {
      new_.insert(step);
      if (was_there && !planned_->goes_on && is_old()) {
        alike_.insert(step);
      }
    } else if (is_old()) {
      old_.insert(step);
    } else if (is_back()) {
      returned_.insert(step);
    } else {
      broken(name_of(step) + " is visible, and " + wrong);
    }
  }

  // Nobody has to put it.
  void look_at_time(std::int64_t step) {
    std::vector<std::byte> found(sizeof(double));
    const std::string problem =
        read_values(*input_, iocomp::contents::time_variable, step, {}, found);
    if (!problem.empty()) {
      broken("the variable \"time\" in " + name_of(step) + ' ' + problem);
    } else if (const double time = time_of(step); std::memcmp(found.data(), &time, 8) != 0) {
      broken("the variable \"time\" in " + name_of(step) + " has another value");
    }
  }

  // Whether a step is gone because enough later ones are there.
  [[nodiscard]] bool is_replaced(std::int64_t step) const {
    const auto later = std::ranges::count_if(all_, [step](auto one) { return one > step; });
    return planned_->keeps > 0 && later >= planned_->keeps;
  }

  void check_attributes() {
    if (!planned_->has_attributes || (old_.empty() && new_.empty())) {
      return;
    }
    check_attribute(planned_->name, input_->committed().attributes);
    const auto& first = planned_->variables.front().name;
    for (const auto& variable : input_->committed().variables) {
      if (variable.name == first) {
        check_attribute(first + " of " + planned_->name, variable.attributes);
      }
    }
  }

  // Of those that were set, one; when all have closed the file, that which was set last.
  void check_attribute(const std::string& owner, const iocomp::contents::Attributes& found) {
    const auto known = found.find(attribute_name);
    if (known == found.end()) {
      broken(owner + " has no attribute");
      return;
    }
    int version = told_.newest_attributes;
    const int least = told_.is_closed ? version : 0;
    while (version >= least && known->second != attribute_of(*planned_, version)) {
      --version;
    }
    if (version < least) {
      broken(owner + " has another attribute");
    }
  }

  void check_before() {
    for (const auto& [step, file] : told_.before.steps) {
      const bool is_kept = planned_->goes_on && step <= told_.before.after;
      const bool may_go = !told_.first_step && told_.before.unsure.contains(step);
      if (is_kept && !may_go && !old_.contains(step) && !is_replaced(step) &&
          (has_values(*file, step) || !all_.contains(step))) {
        broken(name_of(step) + " was committed by an earlier job, and is not there" + reason_);
      }
      if (planned_->goes_on && !is_kept && told_.first_step && old_.contains(step) &&
          has_values(*file, step)) {
        broken(name_of(step) + " was dropped by a job that goes on before it, and is there");
      }
      if (!planned_->goes_on && has_values(*file, step) && !all_.contains(step) &&
          planned_->keeps == 0 && all_.size() == old_.size()) {
        broken("step " + std::to_string(step) + " of what " + planned_->name +
               " was before is gone, and nothing came in its place" + reason_);
      }
    }
    const bool has_new = std::ranges::any_of(new_, [&](std::int64_t step) {
      return has_values(*planned_, step) && !alike_.contains(step);
    });
    if (!planned_->goes_on && !old_.empty() && has_new) {
      broken(planned_->name + " has steps of before beside new ones");
    }
  }

  void check_promises() {
    for (const std::int64_t step : told_.committed) {
      if (!new_.contains(step) && !is_replaced(step)) {
        broken(name_of(step) + " was told as committed, and is not there" + reason_);
      }
    }
    for (const auto& [step, story] : told_.failed) {
      // Without values it may be that of the file which was there before.
      const bool may_be_old = told_.before.steps.contains(step) && !has_values(*planned_, step);
      if (new_.contains(step) && !may_be_old && !is_in_doubt(plan_, *planned_)) {
        broken(name_of(step) + " was told as failed, and is there; the story: " + story);
      }
    }
    for (const std::int64_t step : told_.closed) {
      if (has_values(*planned_, step) && !new_.contains(step) && !is_replaced(step)) {
        broken(name_of(step) + " is not there, and close has said to a rank that all is well" +
               reason_);
      }
    }
  }

  const Plan& plan_;
  const Told& told_;
  std::shared_ptr<const PlannedFile> planned_;
  std::unique_ptr<Input> input_;
  std::string reason_;
  std::set<std::int64_t> all_;
  std::set<std::int64_t> new_;
  std::set<std::int64_t> old_;
  std::set<std::int64_t> alike_;     // of the new ones, those of before had the same values
  std::set<std::int64_t> returned_;  // of those that `keep` had removed
  std::vector<std::string> violations_;
};

}  // namespace

PlannedFile what_was_put(PlannedFile file, const Told& told) {
  for (auto refused = told.refused.rbegin(); refused != told.refused.rend(); ++refused) {
    const auto& [step, variable, put] = *refused;
    auto& puts = file.steps[static_cast<std::size_t>(step)].variables[variable].puts;
    puts.erase(puts.begin() + static_cast<std::ptrdiff_t>(put));
  }
  return file;
}

std::vector<std::string> check_disk(const Plan& plan, const std::vector<Told>& told, Disk& disk,
                                    const std::string& when, std::vector<Steps>* found,
                                    const std::vector<std::size_t>* files) {
  std::vector<std::string> violations;
  World world{plan.seed ^ 0x5EAD};
  Machine machine{world, disk};
  Network network{world};
  const auto settings = settings_of_reader(plan);
  const auto broken = [&](const std::string& what) { violations.push_back(when + ": " + what); };
  auto& alone = network.make({0});
  world.add_process("reader", [&] {
    try {
      iocomp::client::Place place;
      place.comm = reinterpret_cast<MPI_Comm>(&alone);
      place.job = "reader";
      iocomp::client::Client client{settings, iocomp::mpi::WaitPolicy{Job::deadline_seconds},
                                    usual_disk_options(), std::move(place), nullptr};
      for (std::size_t number = 0; number < plan.files.size(); ++number) {
        if (files != nullptr && std::ranges::find(*files, number) == files->end()) {
          continue;
        }
        FileCheck check{plan, number, told[number]};
        check.look(client);
        for (std::size_t other = 0; other < plan.files.size(); ++other) {
          if (plan.files[other].name == plan.files[number].comes_after) {
            FileCheck first{plan, other, told[other]};
            first.look(client);
            check.check_predecessors(first);
          }
        }
        std::ranges::for_each(check.violations(), broken);
        if (found != nullptr) {
          found->push_back(check.steps());
        }
      }
      (void)client.finalize();
    } catch (const std::exception& error) {
      broken(std::string{"an exception leaves the reader: "} + error.what());
    }
  });
  world.run(Job::longest);
  if (world.is_alive(0)) {
    broken("the reader" + how_it_hangs(world));
  }
  return violations;
}

std::vector<std::string> left_behind(const Disk& disk) {
  std::vector<std::string> all = disk.list();
  std::erase_if(all, [](const std::string& name) { return !name.starts_with('.'); });
  return all;
}

}  // namespace simulation
