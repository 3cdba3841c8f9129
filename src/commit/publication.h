// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "commit/kept_file.h"
#include "commit/owner.h"
#include "commit/series_manifest.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "protocol/messages.h"

namespace iocomp::commit {

/// Publishes a file under its names, in the one process that does so: the lead server, or rank 0 of
/// a synchronous file. It knows the physical file of each step, the committed steps, and what a
/// commit does.
class Publication {
 public:
  struct Identity {
    std::string name;
    std::string path;
    std::string job;                           ///< "<host>-<pid>", the same on all ranks
    FolderAddress folder{};                    ///< of the file, as meant by the rank that opened it
    std::shared_ptr<const OpenFolder> held{};  ///< the same, if it is open already
    bool checkpoint = false;
    bool file_per_step = false;
    config::Existing existing = config::Existing::refuse;
    std::int64_t after = protocol::everything;  ///< a continued file goes on behind this number
    int keep = 0;
    Owner::Claim claim = Owner::Claim::alone;
    /// True if others have taken the file over. Called from any thread; empty if nobody may.
    std::function<bool()> is_fenced{};
  };
  /// Does not open the folder.
  /// @param catalogue  knows the numbers of steps; may be null if only the path is asked for.
  Publication(Identity identity, const formats::Format& format,
              const contents::Catalogue* catalogue);

  /// Names of the physical file that holds `step`.
  [[nodiscard]] TargetNames names(std::int64_t step) const;
  /// The number of that physical file: the step, or -1 for the one file of all steps.
  [[nodiscard]] std::int64_t target_of(std::int64_t step) const noexcept {
    return identity_.file_per_step ? step : -1;
  }

  /// The name of the file in the program.
  [[nodiscard]] const std::string& name() const noexcept { return identity_.name; }
  /// The absolute path of the file of all steps. Files of other names have another.
  [[nodiscard]] std::string absolute_path() const;
  /// The same, in the folder that is held open. @pre `resolve` or `begin_at`
  [[nodiscard]] const Path& path() const noexcept { return path_; }
  /// Open the folder, as the rank that opened the file means it. @throws Error{storage_failure}.
  void resolve();
  /// Use a folder that is open already.
  void hold(std::shared_ptr<const OpenFolder> folder);
  /// There is no folder: what needs it fails so.
  void hold_none(Outcome failure) { path_ = Path{std::move(failure)}; }

  /// The number of `step` inside its physical file. A step in a file of its own has the number that
  /// the program gave it.
  [[nodiscard]] std::int64_t in_file(std::int64_t step) const;
  [[nodiscard]] contents::Description as_in_file(contents::Description description) const;
  /// The path where the data of `step` are written.
  [[nodiscard]] Path data_path(std::int64_t step) const { return data_path(names(step)); }
  /// The same of the step to which the program gave this number.
  [[nodiscard]] Path data_path_of(std::int64_t number) const { return data_path(names_of(number)); }

  /// The way to open the file for processes that have not made it.
  [[nodiscard]] formats::Opening opening() const noexcept {
    return beginning_.is_there ? formats::Opening::finds_earlier : formats::Opening::finds;
  }

  /// True if the file of all steps can no longer be committed, because nobody knows what a crash
  /// would leave of it.
  [[nodiscard]] bool is_stuck() const noexcept { return published_->is_stuck; }

  /// True if an earlier file of all steps lies under the name, and the first commit replaces it.
  [[nodiscard]] bool would_replace() const {
    return replaces() && !published_->is_there && names(-1).target.is_there();
  }

  /// Treat what earlier jobs have committed under the name, as `existing` says. If the file is
  /// continued, the steps that it loses are removed. @return where the file begins.
  /// @throws Error{target_exists}, Error{storage_failure}; Error{unsupported} if the format cannot
  /// continue a file.
  [[nodiscard]] contents::Beginning begin();
  /// The same for processes that learn it from the lead: they open its folder.
  /// @throws Error{storage_failure} if that cannot be opened, or is another folder here.
  void begin_at(const contents::Beginning& beginning);
  /// Find what `begin` has answered in another process, before anything was committed. Changes
  /// nothing.
  /// @throws Error.
  [[nodiscard]] contents::Beginning find_beginning() const;
  /// The number of steps of other jobs in the file of all steps.
  [[nodiscard]] std::int64_t steps_before() const noexcept { return beginning_.steps; }
  /// The bytes that these take.
  [[nodiscard]] std::int64_t bytes_before() const noexcept { return beginning_.bytes; }
  /// Add the beginning of the file to the options of its target.
  void go_on(formats::FormatOptions& options) const;

  /// Refuse what stands in the way of the file of `step` (see prepare_target).
  void prepare(std::int64_t step) const { prepare_target(names(step), replaces()); }

  /// The size that the physical file of `step` must have when this step is committed; 0 if the
  /// format itself ends its files.
  [[nodiscard]] std::int64_t bytes(std::int64_t step, const contents::Contents& contents,
                                   const contents::Catalogue& catalogue) const;

  /// File operations that may take long and call no MPI; run anywhere, throw Error on failure.
  using Job = std::function<void()>;

  /// Makes steps visible, in two parts. The first may run while the data, and what the format
  /// needs, are made durable. The second runs after that.
  using Prepared = std::shared_ptr<SeriesManifest::Next>;
  struct Commit {
    std::function<Prepared()> prepare{};  ///< may be empty
    std::function<void(Prepared)> publish = [](const Prepared&) {};
    /// The length of the file by now, for the manifest. Called before `prepare`. May be empty.
    std::function<std::int64_t()> measure{};
    /// Run both parts when everything is durable.
    void operator()() { publish(prepare ? prepare() : nullptr); }
  };
  /// Commit a step. Steps come in ascending order.
  [[nodiscard]] Commit commit_step(std::int64_t step, const contents::Contents& contents,
                                   const contents::Catalogue& catalogue);
  /// Drop a step that failed: it will be absent.
  [[nodiscard]] Job drop_step(std::int64_t step);
  /// Make the file of all steps final, once it is finished and durable.
  [[nodiscard]] Commit commit_file(const contents::Contents& contents,
                                   const contents::Catalogue& catalogue);
  /// Go on where another process has stopped. Either the file has so many steps, some of them
  /// absent, and is published or not; or there are these checkpoints, oldest first.
  void go_on_after(std::int64_t steps, std::vector<std::int64_t> absent, bool is_published);
  /// @param has_committed  true if any step was committed, also one that was removed since.
  void go_on_after(std::deque<std::int64_t> committed, bool has_committed);
  /// The number of committed checkpoints that it must know, to remove old ones in time.
  [[nodiscard]] std::size_t keeps() const noexcept {
    return static_cast<std::size_t>(identity_.keep);
  }

  /// Remove the file unless it is published.
  [[nodiscard]] Job abandon_file() const;

 private:
  [[nodiscard]] std::shared_ptr<const OpenFolder> open(const std::string& folder) const;
  [[nodiscard]] TargetNames names_of(std::int64_t number) const;
  [[nodiscard]] Path data_path(const TargetNames& names) const {
    return beginning_.is_there ? names.target : names.temporary;
  }
  [[nodiscard]] bool replaces() const noexcept {
    return identity_.existing != config::Existing::refuse;
  }
  /// True if all steps of earlier jobs go. @param earlier  ascending.
  [[nodiscard]] bool keeps_none_of(std::span<const std::int64_t> earlier) const noexcept;
  [[nodiscard]] contents::Beginning begin_steps();
  [[nodiscard]] contents::Beginning begin_file();
  [[nodiscard]] std::optional<KeptFile> kept_file() const;
  void tell_of_lost(const std::vector<std::int64_t>& numbers) const;
  /// @param numbers  of the newest existing steps, ascending: all, or the last two.
  void tell_of_missing(std::span<const std::int64_t> numbers) const;
  [[nodiscard]] Commit publish_until(std::int64_t last, bool is_finished,
                                     const contents::Contents& contents,
                                     const contents::Catalogue& catalogue);
  [[nodiscard]] contents::Description tell_until(std::int64_t last,
                                                 const contents::Contents& contents,
                                                 const contents::Catalogue& catalogue);
  void tell_attributes_of_earlier(const contents::Description& description, std::int64_t last,
                                  const contents::Catalogue& catalogue);
  [[nodiscard]] ManifestHead head(std::int64_t first, std::int64_t steps, std::int64_t bytes) const;

  struct Published {  // the file of all steps; jobs set it, in their order
    bool is_there = false;
    /// The file has its name, but an fsync failed, so a crash may take the name away. It is left as
    /// it is, because readers may have found it.
    bool is_stuck = false;
    std::string identity;  // empty if unknown
    SeriesManifest manifest{};
  };

  struct Told {  // in the manifest of the file of all steps
    ToldSteps steps;
    std::int64_t until = 0;     // the step behind the last of them
    std::int64_t end = 0;       // the byte behind the last variable
    std::int64_t removals = 0;  // number of removed steps by then
  };

  Identity identity_;
  Path path_;
  const formats::Format* format_;
  const contents::Catalogue* catalogue_;
  contents::Beginning beginning_;
  std::shared_ptr<Published> published_ = std::make_shared<Published>();
  std::int64_t steps_ = 0;  // one file: steps seen so far, also by earlier jobs
  std::vector<std::int64_t> absent_;
  ToldSteps of_earlier_;  // one file: the steps that earlier jobs wrote
  Told told_;             // and those that the manifest has by now
  std::shared_ptr<std::vector<std::int64_t>> superseded_ =  // of earlier jobs; changed by jobs
      std::make_shared<std::vector<std::int64_t>>();
  std::shared_ptr<std::deque<std::int64_t>> kept_ =  // committed checkpoints, oldest first; jobs'
      std::make_shared<std::deque<std::int64_t>>();
};

}  // namespace iocomp::commit
