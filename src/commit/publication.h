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
#include "commit/series_manifest.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "protocol/messages.h"

namespace iocomp::commit {

/// How a file appears under its names, seen from the one process that publishes it (the lead
/// server, or rank 0 of a synchronous file): which physical file a step goes to, which steps are
/// committed, and what a commit does.
class Publication {
 public:
  struct Identity {
    std::string name;
    std::string path;
    std::string job;                           ///< "<host>-<pid>", the same on all ranks
    FolderAddress folder{};                    ///< in which it lies, as who opens it means it
    std::shared_ptr<const OpenFolder> held{};  ///< the same, if it is open already
    bool checkpoint = false;
    bool file_per_step = false;
    config::Existing existing = config::Existing::refuse;
    std::int64_t after = protocol::everything;  ///< where it is continued: behind this number
    int keep = 0;
    /// Of a server: whether the compute ranks go on without it. Called from any thread.
    std::function<bool()> is_given_up{};
    bool servers_are_lost = false;  ///< of a compute rank: it goes on without them
  };
  /// The folder is not opened.
  /// @param catalogue  knows the numbers of steps; may be null where only the path is asked for.
  Publication(Identity identity, const formats::Format& format,
              const contents::Catalogue* catalogue);

  /// Names of the physical file that holds `step`.
  [[nodiscard]] TargetNames names(std::int64_t step) const;
  /// The number of that physical file: the step, or -1 for the one file of all steps.
  [[nodiscard]] std::int64_t target_of(std::int64_t step) const noexcept {
    return identity_.file_per_step ? step : -1;
  }

  /// In the program.
  [[nodiscard]] const std::string& name() const noexcept { return identity_.name; }
  /// The absolute path of the file of all steps, which tells it from those of other names.
  [[nodiscard]] std::string absolute_path() const;
  /// The same, in the folder that is held open. @pre `resolve` or `begin_at`
  [[nodiscard]] const Path& path() const noexcept { return path_; }
  /// Open the folder that whoever has opened the file means. @throws Error{storage_failure}.
  void resolve();
  /// It is open already.
  void hold(std::shared_ptr<const OpenFolder> folder);

  /// What the physical file that holds `step` calls it: its number where it has a file of its own.
  [[nodiscard]] std::int64_t in_file(std::int64_t step) const;
  [[nodiscard]] contents::Description as_in_file(contents::Description description) const;
  /// Where the data of `step` are written.
  [[nodiscard]] Path data_path(std::int64_t step) const {
    return beginning_.is_there ? names(step).target : names(step).temporary;
  }

  /// The way to the file for processes that have not made it.
  [[nodiscard]] formats::Opening opening() const noexcept {
    return beginning_.is_there ? formats::Opening::finds_earlier : formats::Opening::finds;
  }

  /// Whether the one file cannot be committed any more, since nobody knows what a crash leaves of
  /// it.
  [[nodiscard]] bool is_stuck() const noexcept { return published_->is_stuck; }

  /// Deal with what earlier jobs have committed under the name, as `existing` says. Steps that the
  /// file loses when it is continued are removed. @return where the file begins.
  /// @throws Error{target_exists}, Error{storage_failure}; Error{unsupported} where the format
  /// cannot go on with a file.
  [[nodiscard]] contents::Beginning begin();
  /// The same, on those who learn it from the lead: they open its folder.
  /// @throws Error{storage_failure} if that cannot be opened, or is another one here.
  void begin_at(const contents::Beginning& beginning);
  /// What `begin` has answered in another process, before anything was committed. Changes nothing.
  /// @throws Error.
  [[nodiscard]] contents::Beginning find_beginning() const;
  /// Of other jobs, in the one file of all steps.
  [[nodiscard]] std::int64_t steps_before() const noexcept { return beginning_.steps; }
  /// For a target that begins there.
  void go_on(formats::FormatOptions& options) const;

  /// Refuse what stands in the way of the file of `step` (see prepare_target).
  void prepare(std::int64_t step) const { prepare_target(names(step), replaces()); }

  /// The size that the physical file of `step` must have when this step is committed; 0 where the
  /// format itself ends its files.
  [[nodiscard]] std::int64_t bytes(std::int64_t step, const contents::Contents& contents,
                                   const contents::Catalogue& catalogue) const;

  /// File operations that may take long and call no MPI; run anywhere, throw Error on failure.
  using Job = std::function<void()>;

  /// What makes steps visible, in two parts: what may be done while data and whatever the format
  /// needs are made durable, and the rest.
  using Prepared = std::shared_ptr<SeriesManifest::Next>;
  struct Commit {
    std::function<Prepared()> prepare{};  ///< may be empty
    std::function<void(Prepared)> publish = [](const Prepared&) {};
    /// How long the file is by now, which the manifest will tell: before `prepare`. May be empty.
    std::function<std::int64_t()> measure{};
    /// Where all is durable.
    void operator()() { publish(prepare ? prepare() : nullptr); }
  };
  /// Of steps in ascending order.
  [[nodiscard]] Commit commit_step(std::int64_t step, const contents::Contents& contents,
                                   const contents::Catalogue& catalogue);
  /// A step that failed: it will be absent.
  [[nodiscard]] Job drop_step(std::int64_t step);
  /// What makes the one file of all steps final, once it is finished and durable.
  [[nodiscard]] Commit commit_file(const contents::Contents& contents,
                                   const contents::Catalogue& catalogue);
  /// Go on where another process has stopped: with these many steps of one file, some of them
  /// absent, and under its final name or not; or after these checkpoints, oldest first.
  void go_on_after(std::int64_t steps, std::vector<std::int64_t> absent, bool is_published);
  /// @param has_committed  any, also such as were removed by now.
  void go_on_after(std::deque<std::int64_t> committed, bool has_committed);
  /// How many of those it wants to know, to remove them in time.
  [[nodiscard]] std::size_t keeps() const noexcept {
    return static_cast<std::size_t>(identity_.keep);
  }

  /// Nothing of what is not published yet shall appear.
  [[nodiscard]] Job abandon_file() const;

 private:
  [[nodiscard]] bool replaces() const noexcept {
    return identity_.existing != config::Existing::refuse;
  }
  [[nodiscard]] contents::Beginning begin_steps();
  [[nodiscard]] contents::Beginning begin_file();
  [[nodiscard]] std::optional<KeptFile> kept_file() const;
  void tell_of_lost(const std::vector<std::int64_t>& numbers) const;
  /// @param numbers  of the newest steps that are there, ascending: all, or the last two.
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

  struct Published {  // of the one file; jobs set it, in their order
    bool is_there = false;
    /// It has its name, but no fsync says for how long. What readers may find is left as it is.
    bool is_stuck = false;
    std::string identity;  // empty: nobody knows
    SeriesManifest manifest{};
  };

  struct Told {  // of the one file
    ToldSteps steps;
    std::int64_t until = 0;     // behind the last of them
    std::int64_t end = 0;       // of the last variable, byte
    std::int64_t removals = 0;  // of steps, before they were told
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
  Told told_;             // and those that the manifest has
  std::shared_ptr<std::vector<std::int64_t>> superseded_ =  // of earlier jobs; jobs'
      std::make_shared<std::vector<std::int64_t>>();
  std::shared_ptr<std::deque<std::int64_t>> kept_ =  // committed checkpoints, oldest first; jobs'
      std::make_shared<std::deque<std::int64_t>>();
};

}  // namespace iocomp::commit
