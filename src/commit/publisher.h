// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/owner.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "formats/visibility.h"
#include "steps/orders.h"

namespace iocomp::commit {

/// The state in which others have left a file on disk that they had begun.
struct Left {
  std::int64_t settled = 0;  ///< settled steps; the others may still be committed or fail
  std::map<std::int64_t, Outcome> failed{};  ///< failed ones among these
  // For one file of all steps:
  Path path{};  ///< where it is now
  bool is_published = false;
  std::vector<steps::Commit::Content> contents{};
  // For a file per step:
  std::deque<std::int64_t> kept{};  ///< committed steps, oldest first

  [[nodiscard]] std::int64_t committed() const { return settled - std::ssize(failed); }
};

/// True if compute ranks that write leave all fsyncs to the lead's commit: they are on one node,
/// and the system has their bytes. MPI and the libraries may keep some to themselves. Servers make
/// their own, since those who take over must know what has failed. The lead must have the file open
/// before anybody writes: the system does not tell a failure to those who open the file later.
[[nodiscard]] inline bool lead_syncs(const formats::Traits& traits, const disk::Options& disk,
                                     bool file_per_step) noexcept {
  return traits.is_plain() && disk.are_writers_on_one_node &&
         (!file_per_step || traits.has_to_place());
}

/// Carries out what the lead of a file orders. It starts physical files, lets the format make room
/// in them, and makes steps visible. Long work goes through `Means`; everything else happens in the
/// caller's thread, and answers come there.
class Publisher {
 public:
  using Then = std::function<void(const Outcome&)>;
  struct Setup {
    Publication::Identity identity;
    const formats::Format* format = nullptr;
    formats::FormatOptions options;
    disk::Options disk;
    bool writers_begin = false;  ///< writers create files whose offsets follow from the layout
    std::string who;             ///< for messages, behind file and step: ", server 0 (rank 3)"
  };
  struct Means {
    /// Let all writers carry out an action. @param settled  all earlier steps are settled.
    std::function<void(steps::Action, std::int64_t step, std::int64_t settled, Then)> act;
    /// Run a job that may take long and calls no MPI.
    std::function<void(Publication::Job, Then)> run;
    /// Called before a step is published, or dropped.
    std::function<void(std::int64_t step)> publishing;
    std::function<void(std::int64_t step)> dropping;
  };
  Publisher(Setup setup, Means means, const contents::Catalogue& catalogue);

  /// Own the file, clear away what an earlier job has left, and refuse what stands in the way of
  /// the first physical file. @return where the file begins. @throws Error.
  [[nodiscard]] contents::Beginning prepare();
  /// Give up the ownership: others may write the file.
  void release() noexcept { owner_.reset(); }
  /// See Publication.
  [[nodiscard]] std::string absolute_path() const { return publication_.absolute_path(); }
  [[nodiscard]] const Path& path() const noexcept { return publication_.path(); }
  /// Start the physical file of a step (-1: of all steps), unless it is started.
  void start(std::int64_t number, const Then& then);
  /// The same for the physical file of a step.
  void start_for(std::int64_t step, const Then& then) { start(publication_.target_of(step), then); }
  /// Others have written elements of this step. So if it has a file of its own, the file is there.
  void note_values(std::int64_t step) { targets_[publication_.target_of(step)].has_values = true; }
  /// Make room for a variable in a step, once. `told` gets its offset; -1 if others know it.
  using Told = std::function<void(std::int64_t offset, const Outcome&)>;
  void place(std::int64_t step, int variable, const Told& told);

  /// The place of a variable in a step is no longer valid. Nothing was written there.
  void forget_place(std::int64_t step, int variable) { asked_.erase({step, variable}); }

  /// Go on with a file that others have begun.
  void go_on_after(const Left& left);

  // Orders of the coordinator to the lead. @param settled  all earlier steps are settled.
  void commit(const steps::Commit& order, std::int64_t settled, const Then& then);
  void drop(std::int64_t step, std::int64_t settled, const Then& then);
  void finish(const steps::Finish& order, std::int64_t settled, const Then& then);
  /// Remove what is not published.
  void abandon();
  /// A step whose file all writers have begun together, and which is not settled.
  [[nodiscard]] std::optional<std::int64_t> begun_by_all() const;
  /// The step has settled: forget its places and its file.
  void settle(std::int64_t step);

  [[nodiscard]] bool is_plain() const { return traits().is_plain(); }
  /// Add file and steps to the story of a failure; -1 if it is in no step.
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t first,
                                std::int64_t last) const;
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step) const {
    return in_file(outcome, step, step);
  }

 private:
  struct Target {
    std::unique_ptr<formats::PlainTarget> format;  // if it must place variables
    std::shared_ptr<disk::OutputFile> file;        // for size and fsync
    bool has_values = false;                       // that others have written
    bool is_asked = false;
    bool is_started = false;
    Outcome failure;
    std::vector<Then> waiting;
    // For a format that itself makes steps visible:
    std::int64_t told = 0;                              // steps before this one are in the file
    std::shared_ptr<formats::Visibility> visibility{};  // jobs change it, in their order
  };
  [[nodiscard]] const formats::Traits& traits() const { return setup_.format->traits(); }
  [[nodiscard]] bool is_begun_by_writers() const {
    return setup_.writers_begin && is_plain() && traits().offsets_by_layout;
  }
  // The file that an earlier job has begun, if there is one.
  [[nodiscard]] std::optional<Path> path_of_earlier() const {
    return setup_.options.earlier_steps >= 0 ? std::optional{publication_.data_path(-1)}
                                             : std::nullopt;
  }
  [[nodiscard]] bool ends_files() const noexcept { return setup_.identity.file_per_step; }
  [[nodiscard]] Owner::Files files() const noexcept {
    return ends_files() ? Owner::Files::set : Owner::Files::one;
  }
  [[nodiscard]] std::shared_ptr<disk::OutputFile> open(std::int64_t number,
                                                       formats::Opening opening) const;
  void started(std::int64_t number, const Outcome& outcome);
  void have_placed(std::int64_t step, int variable, const Told& told);
  using Prepared = std::function<void(const Outcome&, const formats::Switch&)>;
  void prepare_commit(std::int64_t step, std::int64_t settled, const Prepared& then);
  [[nodiscard]] formats::Switch commit_in_format(std::int64_t step);
  [[nodiscard]] formats::Switch finish_in_format(std::int64_t number, std::int64_t first);
  void seal(std::int64_t last, const formats::Switch& visible, Publication::Commit commit,
            const Then& then);
  void has_seen(std::int64_t last, const formats::Switch& visible);
  void end_format(const steps::Finish& order, std::int64_t settled, const Prepared& then);

  Setup setup_;
  Means means_;
  Publication publication_;
  std::unique_ptr<Owner> owner_;
  const contents::Catalogue& catalogue_;
  contents::Contents contents_;
  std::map<std::int64_t, Target> targets_;
  std::map<std::pair<std::int64_t, int>, std::int64_t> offsets_;  // as told by the format
  std::set<std::pair<std::int64_t, int>> asked_;
};

}  // namespace iocomp::commit
