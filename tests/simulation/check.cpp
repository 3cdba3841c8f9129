// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/client.h"
#include "client/place.h"
#include "excuses.h"
#include "job.h"
#include "machine.h"
#include "network.h"
#include "plan_settings.h"
#include "reading/find_committed.h"
#include "reading/input.h"
#include "step_check.h"
#include "world.h"

namespace simulation {
namespace {

using iocomp::Error;
using iocomp::ErrorCode;
using iocomp::reading::Committed;
using iocomp::reading::Input;
using Broken = std::function<void(const std::string&)>;

bool has_values(const PlannedFile& file, std::int64_t step) {
  return has_puts(file.steps[static_cast<std::size_t>(step)]);
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
          if (const auto differs = difference_of_time(*input_, step.number); !differs.empty()) {
            broken("the variable \"time\" in " + name_of(step.number) + ' ' + differs);
          }
        }
      }
    }
    check_attributes();
    check_before();
    check_promises();
    if (planned_->backend != "posix") {
      look_without_manifest();
    }
  }

  // Steps that are there are right, or a read tells that they are not. Without checksums nobody can
  // know of other bytes in the data. A job that crashed may have told in a manifest alone that it
  // drops a step: without the manifest, the step of the earlier job is there again.
  void look_at_damaged(iocomp::client::Client& client, bool needs_sums) {
    const auto opened =
        iocomp::outcome_of([&] { input_ = client.open_input(MPI_COMM_NULL, planned_->name); });
    if (opened.code == ErrorCode::internal) {
      broken("the reader of " + planned_->name + " says: " + opened.story);
    }
    if (!opened.ok() || (needs_sums && !has_all_sums())) {
      return;
    }
    for (const auto& step : input_->committed().steps) {
      std::string wrong = "nobody has made it";
      const auto is_right = [&](const PlannedFile& planned) {
        wrong = difference(*input_, planned, step.number);
        return wrong.empty() || wrong.find("cannot be read: ") != std::string::npos;
      };
      const auto before = told_.before.steps.find(step.number);
      const auto removed = told_.before.removed.find(step.number);
      const bool is_known = (before != told_.before.steps.end() && is_right(*before->second)) ||
                            (removed != told_.before.removed.end() && is_right(*removed->second)) ||
                            (step.number < std::ssize(planned_->steps) && is_right(*planned_)) ||
                            std::ranges::any_of(told_.before.put, [&](const auto& put) {
                              return step.number < std::ssize(put->steps) && is_right(*put);
                            });
      if (!is_known) {
        broken(name_of(step.number) + " is visible, and " + wrong);
      }
    }
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
  /// Looks at the disk.
  [[nodiscard]] Seen seen(const Disk& disk) const {
    Seen seen;
    for (const std::int64_t step : all_) {
      const bool is_old = old_.contains(step);
      const bool is_back = returned_.contains(step);
      seen.steps.emplace(step, is_old    ? told_.before.steps.at(step)
                               : is_back ? returned_.at(step)
                                         : planned_);
      if (!is_old && !is_back) {
        note_places(step, disk, seen.places);
      }
    }
    return seen;
  }

 private:
  void broken(const std::string& what) { violations_.push_back(what); }
  [[nodiscard]] std::string name_of(std::int64_t step) const {
    return "step " + std::to_string(step) + " of " + planned_->name;
  }

  // Notes the places of the variables of a step.
  void note_places(std::int64_t step, const Disk& disk,
                   std::map<std::pair<std::int64_t, std::size_t>, BytesAt>& places) const {
    const auto& committed = input_->committed();
    const auto known = std::ranges::find(committed.steps, step, &Committed::Step::number);
    const auto& file = committed.files.at(static_cast<std::size_t>(known->file));
    const auto inode = disk.find(committed.text(file).substr(Machine::prefix.size() - 1))->inode;
    for (std::size_t v = 0; v < planned_->variables.size(); ++v) {
      const auto& name = planned_->variables[v].name;
      const auto variable = std::ranges::find(committed.variables, name, &Input::Variable::name);
      if (variable == committed.variables.end()) {
        continue;
      }
      const auto place = std::ranges::find(variable->places, step, &Input::Place::step);
      if (place != variable->places.end() && place->offset >= 0) {
        places[{step, v}] = {inode, place->offset, file.format == "pnetcdf"};
      }
    }
  }

  // The step is of this job, or of one before it. A step without values may be of either.
  void look_at(std::int64_t step) {
    all_.insert(step);
    const auto before = told_.before.steps.find(step);
    const bool was_there = before != told_.before.steps.end();
    const bool is_planned = step < std::ssize(planned_->steps);
    const auto is_old = [&] {
      return was_there && difference(*input_, *before->second, step).empty();
    };
    if (is_planned && !has_values(*planned_, step)) {
      if (was_there && has_values(*before->second, step) && is_old()) {
        old_.insert(step);
      } else if (!was_there || told_.committed.contains(step)) {
        new_.insert(step);
      }
      return;
    }
    // Until the file is opened, a power loss may bring back what `keep` has removed, and what a
    // step replaced that nobody was told of.
    const auto is_back = [&] {
      auto maybe = told_.before.is_untold || told_.before.unsure.contains(step)
                       ? told_.before.put
                       : decltype(told_.before.put){};
      if (const auto removed = told_.before.removed.find(step);
          removed != told_.before.removed.end()) {
        maybe.push_back(removed->second);
      }
      const auto found = std::ranges::find_if(maybe, [&](const auto& file) {
        return step < std::ssize(file->steps) && difference(*input_, *file, step).empty();
      });
      if (told_.first_step || found == maybe.end()) {
        return false;
      }
      returned_.emplace(step, *found);
      return true;
    };
    if (planned_->goes_on && step <= told_.before.after && is_old()) {
      old_.insert(step);
      return;
    }
    const std::string wrong =
        is_planned ? difference(*input_, *planned_, step) : "nobody has made it";
    if (wrong.empty()) {
      new_.insert(step);
      if (was_there && keeps_nothing(*planned_, told_.before) && is_old()) {
        alike_.insert(step);
      }
    } else if (is_old()) {
      old_.insert(step);
    } else if (!is_back()) {
      broken(name_of(step) + " is visible, and " + wrong);
    }
  }

  // Other programs see what the file itself tells: no step that nobody has put, or that has failed.
  void look_without_manifest() {
    using iocomp::reading::Sought;
    const auto kind =
        has_file_per_step(*planned_) ? Sought::Kind::file_per_step : Sought::Kind::one_file;
    std::optional<Input> file;
    const auto opened = iocomp::outcome_of([&] {
      file.emplace(planned_->name,
                   iocomp::reading::find_committed(
                       {planned_->name, path_of(*planned_), planned_->backend, {}, kind, false}),
                   std::string{});
    });
    if (!opened.ok()) {
      return;
    }
    for (const auto& step : file->committed().steps) {
      if (const auto wrong = wrong_with(*file, step.number); !wrong.empty()) {
        broken(planned_->name + " itself shows a step, as number " + std::to_string(step.number) +
               ", which nobody has put: " + wrong);
      }
    }
  }

  // Files that count their steps along a dimension know no other numbers. They have something in
  // steps that failed, too: what was put, or fill values. A disk that takes no writes cannot take a
  // step back.
  [[nodiscard]] std::string wrong_with(Input& file, std::int64_t number) const {
    const bool has_numbers = has_file_per_step(*planned_) ||
                             (planned_->backend == "hdf5" && !planned_->grows_along_time);
    const bool shows_something =
        std::ranges::any_of(file.committed().variables, [&](const auto& variable) {
          return std::ranges::find(variable.places, number, &Input::Place::step) !=
                 variable.places.end();
        });
    std::string wrong = shows_something ? "there is none" : "";
    const auto is_it = [&](const PlannedFile& planned, std::int64_t step) {
      if (!wrong.empty() && (!has_numbers || step == number)) {
        wrong = difference(file, planned, step, number);
      }
      return wrong.empty();
    };
    for (const Steps& steps : {told_.before.steps, told_.before.removed}) {
      for (const auto& [step, planned] : steps) {
        (void)is_it(*planned, step);
      }
    }
    auto jobs = told_.before.put;
    jobs.push_back(planned_);
    for (const auto& job : jobs) {
      for (std::int64_t step = 0; step < std::ssize(job->steps) && !wrong.empty(); ++step) {
        const bool has_failed = job == planned_ && has_numbers && told_.failed.contains(step) &&
                                !is_in_doubt(plan_, *planned_) &&
                                plan_.faults.disk == Disk::Faults{} && !plan_.faults.folder_goes;
        if (is_it(*job, step) && has_failed) {
          wrong = "it was told as failed";
        }
      }
    }
    PlannedFile one = *planned_;
    for (auto& part : one.steps.front().variables) {
      part.puts.clear();
    }
    return has_numbers || !is_it(one, 0) ? wrong : std::string{};
  }

  [[nodiscard]] bool has_all_sums() const {
    const auto elements = [](const std::vector<std::int64_t>& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::int64_t{1}, std::multiplies<>{});
    };
    const auto has_all = [&](const StepOfVariable& part) {
      std::int64_t left = elements(part.shape);
      for (const Put& put : part.puts) {
        left -= put.is_scattered ? 0 : elements(put.count);
      }
      return part.puts.empty() || left == 0;
    };
    return (planned_->is_checkpoint || planned_->has_sums) && !planned_->may_overlap &&
           std::ranges::all_of(planned_->steps, [&](const Step& step) {
             return std::ranges::all_of(step.variables, has_all);
           });
  }

  // True if a step may be gone because enough later ones are there.
  [[nodiscard]] bool is_replaced(std::int64_t step) const {
    const auto later = std::ranges::count_if(all_, [step](auto one) { return one > step; });
    return count_kept(*planned_) > 0 && later >= count_kept(*planned_);
  }

  void check_attributes() {
    if (planned_->has_attributes && (!old_.empty() || !new_.empty())) {
      if (const auto differs = difference_of_attributes(*input_, *planned_, told_);
          !differs.empty()) {
        broken(differs);
      }
    }
  }

  void check_before() {
    const bool begins_anew = keeps_nothing(*planned_, told_.before);
    for (const auto& [step, file] : told_.before.steps) {
      const bool is_kept = planned_->goes_on && step <= told_.before.after;
      const bool may_go = !told_.first_step && told_.before.unsure.contains(step);
      if (is_kept && !may_go && !old_.contains(step) && !is_replaced(step) &&
          (has_values(*file, step) || !all_.contains(step))) {
        broken(name_of(step) + " was committed by an earlier job, and is not there" + reason_);
      }
      if (!begins_anew && !is_kept && told_.first_step && old_.contains(step) &&
          has_values(*file, step)) {
        broken(name_of(step) + " was dropped by a job that goes on before it, and is there");
      }
      if (begins_anew && !may_go && has_values(*file, step) && !all_.contains(step) &&
          count_kept(*planned_) == 0 && all_.size() == old_.size()) {
        broken("step " + std::to_string(step) + " of what " + planned_->name +
               " was before is gone, and nothing came in its place" + reason_);
      }
    }
    const bool has_new = std::ranges::any_of(new_, [&](std::int64_t step) {
      return has_values(*planned_, step) && !alike_.contains(step);
    });
    if (begins_anew && !old_.empty() && has_new) {
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
  std::set<std::int64_t> alike_;  // of the new ones, those of before had the same values
  Steps returned_;                // by a power loss
  std::vector<std::string> violations_;
};

// A program of one rank that reads.
void read_disk(const Plan& plan, Disk& disk, const Broken& broken,
               const std::function<void(iocomp::client::Client&)>& body) {
  World world{plan.seed ^ 0x5EAD};
  Machine machine{world, disk};
  Network network{world};
  const auto settings = settings_of_reader(plan);
  auto& alone = network.make({0});
  world.add_process("reader", [&] {
    try {
      iocomp::client::Place place;
      place.comm = reinterpret_cast<MPI_Comm>(&alone);
      place.job = "reader";
      iocomp::client::Client client{settings, iocomp::mpi::WaitPolicy{Job::deadline_seconds},
                                    usual_disk_options(), std::move(place), nullptr};
      body(client);
      (void)client.finalize();
    } catch (const std::exception& error) {
      broken(std::string{"an exception leaves the reader: "} + error.what());
    }
  });
  world.run(Job::longest);
  if (world.is_alive(0)) {
    broken("the reader" + how_it_hangs(world));
  }
}

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
                                    const std::string& when, std::vector<Seen>* seen,
                                    const std::vector<std::size_t>* files) {
  std::vector<std::string> violations;
  std::vector<Seen> all(plan.files.size());
  const auto broken = [&](const std::string& what) { violations.push_back(when + ": " + what); };
  const auto is_chosen = [files](std::size_t file) {
    return files == nullptr || std::ranges::find(*files, file) != files->end();
  };
  read_disk(plan, disk, broken, [&](iocomp::client::Client& client) {
    for (std::size_t number = 0; number < plan.files.size(); ++number) {
      if (is_chosen(number)) {
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
        all[number] = check.seen(disk);
      }
    }
  });
  if (seen != nullptr) {
    *seen = std::move(all);
  }
  return violations;
}

std::vector<std::string> check_damaged(const Plan& plan, const std::vector<Told>& told, Disk& disk,
                                       const std::string& when, const std::string& damaged,
                                       bool is_shorter) {
  std::vector<std::string> violations;
  const auto broken = [&](const std::string& what) { violations.push_back(when + ": " + what); };
  read_disk(plan, disk, broken, [&](iocomp::client::Client& client) {
    for (std::size_t number = 0; number < plan.files.size(); ++number) {
      if (damaged.starts_with(plan.files[number].name)) {
        FileCheck check{plan, number, told[number]};
        check.look_at_damaged(client, !is_shorter && !damaged.ends_with(".json"));
        std::ranges::for_each(check.violations(), broken);
      }
    }
  });
  return violations;
}

std::vector<std::string> left_behind(const Disk& disk) {
  std::vector<std::string> all = disk.list();
  std::erase_if(all, [](const std::string& name) { return !name.starts_with('.'); });
  return all;
}

}  // namespace simulation
