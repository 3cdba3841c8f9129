// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/clearing.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/owner.h"
#include "iocomp/output.h"
#include "iocomp/table.h"

namespace iocomp::command {
namespace {

using State = commit::Holder::State;

constexpr int failed_status = 2;

bool exists(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

std::string in_folder_of(const std::string& path, const std::string& name) {
  return path.substr(0, path.size() - name_in_folder(path).size()) + name;
}

// The target that a temporary was made for.
std::string target_of(const std::string& temporary) {
  return in_folder_of(temporary, commit::belongs_to(name_in_folder(temporary)));
}

// A file may be called like one of a set, and have a lock of its own.
std::string why_it_is_left(const Output& output) {
  std::vector<std::string> locked{output.owned_as};
  for (const auto& temporary : output.temporaries) {
    locked.push_back(target_of(temporary));
  }
  for (const auto& path : locked) {
    const auto holder = commit::holder_of(Path{path});
    if (holder.state == State::alive) {
      return path + " is being written by " + (holder.job.empty() ? "another process" : holder.job);
    }
    if (holder.state == State::unknown) {
      return "the lock of " + path + " does not tell whether its job lives";
    }
  }
  return {};
}

// Returns nothing if it cannot be read; such a manifest does not change either.
std::optional<std::string> text_of(const std::string& manifest) {
  std::optional<std::string> text;
  (void)outcome_of([&] { text = read_file(manifest); });
  return text;
}

// The manifests and names of files before something is done to them.
class Before {
 public:
  explicit Before(const Output& output) {
    for (const auto& temporary : output.temporaries) {
      const std::string target = target_of(temporary);
      states_.try_emplace(target, exists(target), text_of(target + ".json"));
    }
  }
  // Adds the files that have come back since then.
  void tell(std::vector<Deed>& deeds) const {
    for (const auto& [target, state] : states_) {
      const auto& [was_there, manifest] = state;
      if (!was_there && exists(target)) {
        deeds.push_back({target, "put back", "a job ended while it replaced it"});
      }
      const auto now = text_of(target + ".json");
      if (now != manifest) {
        deeds.push_back({target + ".json", now ? "put back" : "removed",
                         "a job ended while it replaced the file that is there"});
      }
    }
  }

 private:
  struct OfTarget {
    bool is_there = false;
    std::optional<std::string> manifest;
    OfTarget(bool there, std::optional<std::string> text)
        : is_there{there}, manifest{std::move(text)} {}
  };
  std::map<std::string, OfTarget> states_;
};

void remove_temporaries(const Output& output, const commit::Owner& owner,
                        std::vector<Deed>& deeds) {
  const Before before{output};
  commit::clear_away(Path{output.path}, owner);
  for (const auto& temporary : output.temporaries) {
    const bool is_left = exists(temporary);
    deeds.push_back({temporary, is_left ? "left" : "removed",
                     is_left ? "it could not be removed" : "left by a job that ended"});
  }
  before.tell(deeds);
}

std::string this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "iocomp-" + std::string{host.data()} + '-' + std::to_string(::getpid());
}

bool has_remains(const Output& output) {
  return !output.temporaries.empty() || output.holder.state != State::nobody;
}

void add_lock(const Output& output, const std::string& done, std::vector<Deed>& deeds) {
  if (output.holder.state == State::ended) {
    deeds.push_back(
        {in_folder_of(output.owned_as, '.' + name_in_folder(output.owned_as) + ".iocomp-lock"),
         done, "of the job " + output.holder.job + ", which has ended"});
  }
}

void would_clear(const Output& output, const Repair& repair, std::vector<Deed>& deeds) {
  for (const auto& temporary : output.temporaries) {
    deeds.push_back({temporary, "would remove", "left by a job that ended"});
  }
  if (repair.act && repair.is_needed(output)) {
    std::ranges::copy(repair.act(output), std::back_inserter(deeds));
  }
  add_lock(output, "would remove", deeds);
}

void clear_one(const Output& output, const Repair& repair, std::vector<Deed>& deeds) {
  {
    const commit::Owner owner{
        Path{output.owned_as}, this_process(), commit::Owner::Claim::alone,
        output.is_set ? commit::Owner::Files::set : commit::Owner::Files::one};
    remove_temporaries(output, owner, deeds);
    if (repair.act) {
      std::ranges::copy(repair.act(output), std::back_inserter(deeds));
    }
  }
  add_lock(output, "removed", deeds);
}

}  // namespace

Deeds clear(const std::vector<Output>& outputs, bool dry_run, const Repair& repair) {
  Deeds deeds;
  for (const auto& output : outputs) {
    if (!has_remains(output) && !(repair.act && repair.is_needed(output))) {
      continue;
    }
    const std::string why = why_it_is_left(output);
    if (!why.empty()) {
      deeds.all.push_back({output.path, "left", why});
      continue;
    }
    const auto known = std::ssize(deeds.all);
    const Outcome outcome = outcome_of([&] {
      if (dry_run) {
        would_clear(output, repair, deeds.all);
      } else {
        clear_one(output, repair, deeds.all);
      }
    });
    if (!outcome.ok()) {
      deeds.all.push_back({output.path, "left", outcome.story});
    }
    const auto is_left = [](const Deed& deed) { return deed.done == "left"; };
    deeds.failed = deeds.failed || std::any_of(deeds.all.begin() + known, deeds.all.end(), is_left);
  }
  return deeds;
}

void clear_momentary(const std::string& path, bool dry_run, Deeds& deeds) {
  constexpr std::time_t old_seconds = 60;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return;
  }
  const std::string folder = path == "." ? "" : path.ends_with('/') ? path : path + '/';
  for (const auto& name : names_in(path)) {
    const std::string file = folder + name;
    const bool is_one = name.starts_with(commit::temporary_mark) &&
                        ::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                        status.st_size == 0 && std::time(nullptr) - status.st_mtime > old_seconds;
    if (!is_one) {
      continue;
    }
    const bool is_left = !dry_run && ::unlink(file.c_str()) != 0;
    deeds.all.push_back(
        {file,
         is_left   ? "left"
         : dry_run ? "would remove"
                   : "removed",
         is_left ? "it could not be removed" : "left by a process that was killed"});
    deeds.failed = deeds.failed || is_left;
  }
}

void print(const Deeds& deeds, bool as_json, const std::string& nothing) {
  if (as_json) {
    Json all = Json::array();
    for (const auto& deed : deeds.all) {
      all.push_back({{"path", deed.path}, {"done", deed.done}, {"why", deed.why}});
    }
    print(all);
  } else if (deeds.all.empty()) {
    fmt::print("{}\n", nothing);
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& deed : deeds.all) {
      rows.push_back({deed.done, deed.path, deed.why});
    }
    fmt::print("{}", aligned(rows));
  }
  if (deeds.failed) {
    throw CLI::RuntimeError(failed_status);
  }
}

}  // namespace iocomp::command
