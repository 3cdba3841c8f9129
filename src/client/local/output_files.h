// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "client/local/short_runs.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/options.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "staging/stripe_memory.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/spill.h"
#include "writing/stripes.h"
#include "writing/submit.h"

namespace iocomp::client {

/// The physical files of one file on a compute rank that writes them itself: a writer for each, and
/// where variables lie. Everything is local.
class OutputFiles {
 public:
  struct Setup {
    std::string name{};  ///< of the file in the program
    const formats::Format* format = nullptr;
    formats::FormatOptions options;
    disk::Options disk;
    writing::Submit submit;
    writing::Spill* spill = nullptr;                 ///< null: copies stay in memory
    staging::StripeMemory* stripe_memory = nullptr;  ///< null: nothing is put together
    writing::Stripes::Terms stripes{};
  };
  /// Where a variable lies in a step, as the lead told, or why it has no place.
  struct Place {
    std::int64_t offset = -1;
    Outcome outcome;
    std::int64_t events = 0;  ///< the definitions that the lead knew
  };
  OutputFiles(Setup setup, commit::Publication names, const contents::Catalogue& catalogue,
              trace::Counters& counters)
      : setup_{std::move(setup)},
        names_{std::move(names)},
        catalogue_{catalogue},
        counters_{counters},
        short_runs_{setup_.name} {
    if (setup_.stripe_memory != nullptr) {
      stripes_.emplace(*setup_.stripe_memory, setup_.stripes);
    }
  }

  /// The number of the physical file of a step; -1: the one of all steps.
  [[nodiscard]] std::int64_t target_of(std::int64_t step) const noexcept {
    return names_.target_of(step);
  }
  [[nodiscard]] const commit::Publication& names() const noexcept { return names_; }
  /// See Publication. @throws Error{storage_failure}.
  void hold(std::shared_ptr<const OpenFolder> folder) { names_.hold(std::move(folder)); }
  void begin_at(const contents::Beginning& beginning) {
    names_.begin_at(beginning);
    names_.go_on(setup_.options);
  }
  /// Of a target that is made now.
  [[nodiscard]] const formats::FormatOptions& options() const noexcept { return setup_.options; }
  /// The writer of that one.
  [[nodiscard]] writing::FileWriter& writer(std::int64_t target);
  [[nodiscard]] writing::FileWriter& writer_of(std::int64_t step) {
    return writer(target_of(step));
  }
  /// Null where nothing is put together.
  [[nodiscard]] writing::Stripes* stripes() noexcept { return stripes_ ? &*stripes_ : nullptr; }
  [[nodiscard]] const writing::Stripes* stripes() const noexcept {
    return stripes_ ? &*stripes_ : nullptr;
  }
  [[nodiscard]] ShortRuns& short_runs() noexcept { return short_runs_; }
  /// The one file of all steps is there already, under this name.
  void go_on_in(const Path& path, formats::Opening opening);
  /// Remove what this rank has begun and nobody commits: the physical files from this number on.
  void remove_uncommitted(std::int64_t from) const noexcept;
  /// Start what waits for company in any of them.
  void submit();
  /// Go on with what was spilled; true if there is memory for any of it.
  bool take_back();
  /// They are not needed any more.
  void forget(std::int64_t target);

  /// What was spilled of steps from `from` to before `to` is not written any more.
  void drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome);

  [[nodiscard]] bool is_plain() const { return setup_.format->traits().is_plain(); }
  /// Whether everybody knows where variables lie, without the lead.
  [[nodiscard]] bool are_places_known() const {
    return setup_.format->traits().offsets_by_layout && (is_plain() || target_of(0) == -1);
  }
  /// The failure of a place, or nothing where it is not known.
  [[nodiscard]] std::optional<Outcome> place(int variable, std::int64_t step) const;
  /// @pre place(variable, step)
  [[nodiscard]] std::int64_t offset(int variable, std::int64_t step) const;
  void note_place(int variable, std::int64_t step, Place place);
  /// The variable has another shape from this step on, since definition number `event`.
  void reshaped(int variable, std::int64_t step, std::int64_t event);
  void forget_places_until(std::int64_t step);

 private:
  [[nodiscard]] std::unique_ptr<writing::FileWriter> make_writer(Path path,
                                                                 formats::Opening opening);

  Setup setup_;
  commit::Publication names_;  // for the names only
  const contents::Catalogue& catalogue_;
  trace::Counters& counters_;
  ShortRuns short_runs_;
  std::optional<writing::Stripes> stripes_;                               // of all physical files
  std::map<std::int64_t, std::unique_ptr<writing::FileWriter>> writers_;  // by physical file
  std::map<std::pair<std::int64_t, int>, Place> places_;                  // step, variable
  std::map<std::pair<std::int64_t, int>, std::int64_t> reshaped_;         // by which definition
};

}  // namespace iocomp::client
