// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "staging/stripe_memory.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/spill.h"
#include "writing/stripes.h"
#include "writing/submit.h"

namespace iocomp::writer {

/// The physical files of one file, in a process that writes it. It holds a writing::FileWriter for
/// each, made when it is first asked for, the stripes before them, and the places of variables.
/// Everything is local.
class OutputFiles {
 public:
  struct Setup {
    const formats::Format* format = nullptr;
    formats::FormatOptions options{};
    disk::Options disk{};
    writing::Submit submit{};
    writing::Spill* spill = nullptr;                 ///< null: copies stay in memory
    staging::StripeMemory* stripe_memory = nullptr;  ///< null: pieces are not put together
    writing::Stripes::Terms stripes{};
    /// This process itself begins the file of a step, if offsets follow from the layout.
    bool begins_files = false;
  };
  /// The place of a variable in a step, as told by the lead, or the reason why it has none.
  struct Place {
    std::int64_t offset = -1;
    Outcome outcome;
    std::int64_t events = 0;  ///< number of definitions that the lead knew
  };
  OutputFiles(Setup setup, commit::Publication names, const contents::Catalogue& catalogue,
              trace::Counters& counters)
      : setup_{std::move(setup)},
        names_{std::move(names)},
        catalogue_{catalogue},
        counters_{counters} {
    if (setup_.stripe_memory != nullptr) {
      stripes_.emplace(*setup_.stripe_memory, setup_.stripes);
    }
  }

  [[nodiscard]] const formats::Format& format() const noexcept { return *setup_.format; }
  [[nodiscard]] const formats::Traits& traits() const { return setup_.format->traits(); }
  /// The number of the physical file of a step; -1 for the file of all steps.
  [[nodiscard]] std::int64_t target_of(std::int64_t step) const noexcept {
    return names_.target_of(step);
  }
  [[nodiscard]] const commit::Publication& names() const noexcept { return names_; }
  /// See Publication. @throws Error{storage_failure}.
  void hold(std::shared_ptr<const OpenFolder> folder) { names_.hold(std::move(folder)); }
  void hold_none(const Outcome& failure) { names_.hold_none(failure); }
  void begin_at(const contents::Beginning& beginning) {
    names_.begin_at(beginning);
    names_.go_on(setup_.options);
  }
  void spill_to(writing::Spill& spill) noexcept { setup_.spill = &spill; }
  /// The options for a target that is made now.
  [[nodiscard]] const formats::FormatOptions& options() const noexcept { return setup_.options; }
  /// The writer of this physical file.
  [[nodiscard]] writing::FileWriter& writer(std::int64_t target);
  /// The same of one that the lead has all writers create. This process may not know the name.
  /// @param named  the number that the program has given its step.
  [[nodiscard]] writing::FileWriter& begin(std::int64_t target, std::int64_t named);
  [[nodiscard]] writing::FileWriter& writer_of(std::int64_t step) {
    return writer(target_of(step));
  }
  /// Null if nothing is put together.
  [[nodiscard]] writing::Stripes* stripes() noexcept { return stripes_ ? &*stripes_ : nullptr; }
  [[nodiscard]] const writing::Stripes* stripes() const noexcept {
    return stripes_ ? &*stripes_ : nullptr;
  }
  /// Use the file of all steps that is there already, under this name.
  /// @param opened  descriptors of it that this process has from before. Null: it opens the file.
  void go_on_in(const Path& path, formats::Opening opening,
                std::shared_ptr<disk::OutputFile> opened = nullptr);
  /// Remove physical files that this process has begun and nobody commits, from this number on.
  void remove_uncommitted(std::int64_t from) const noexcept;
  /// Start the chunks that wait in any of the files: neighbours become one write.
  void submit();
  /// The physical file is no longer needed.
  void forget(std::int64_t target);

  // Spilled chunks.
  [[nodiscard]] bool spills() const noexcept { return setup_.spill != nullptr; }
  /// Read back what there is memory for. @return true if there was any.
  bool take_back();
  /// Give up the spilled chunks of steps from `from` to before `to`.
  void drop_spilled(std::int64_t from, std::int64_t to, const Outcome& outcome);

  // Writes by a library, in calls of this process.
  /// A writer that has something to write now; null if there is none, or the file's pace forbids
  /// it.
  [[nodiscard]] writing::FileWriter* next_work();
  /// True if something waits to be written until the file's pace allows it.
  [[nodiscard]] bool is_held_back() const;
  /// Bytes that are kept until their step is written as a whole, summed over the steps that count.
  [[nodiscard]] std::size_t kept_bytes(const std::function<bool(std::int64_t step)>& counts) const;

  [[nodiscard]] bool is_plain() const { return traits().is_plain(); }
  /// True if this process knows the places of variables without the lead.
  [[nodiscard]] bool are_places_known() const {
    const bool is_one_file = target_of(0) == -1;
    return traits().offsets_by_layout &&
           (setup_.begins_files ? is_plain() || is_one_file : is_plain() && is_one_file);
  }
  /// The outcome of a place; nothing while it is not known.
  [[nodiscard]] std::optional<Outcome> place(int variable, std::int64_t step) const;
  /// @pre place(variable, step)
  [[nodiscard]] std::int64_t offset(int variable, std::int64_t step) const;
  void note_place(int variable, std::int64_t step, Place place);
  /// A variable has another shape from this step on, since definition number `event`.
  void reshaped(int variable, std::int64_t step, std::int64_t event);
  void forget_places_until(std::int64_t step);

 private:
  [[nodiscard]] std::unique_ptr<writing::FileWriter> make_writer(Path path,
                                                                 formats::Opening opening);

  Setup setup_;
  commit::Publication names_;  // for the names only
  const contents::Catalogue& catalogue_;
  trace::Counters& counters_;
  std::optional<writing::Stripes> stripes_;                               // of all physical files
  std::map<std::int64_t, std::unique_ptr<writing::FileWriter>> writers_;  // by physical file
  std::map<std::pair<std::int64_t, int>, Place> places_;                  // step, variable
  // number of the definition
  std::map<std::pair<std::int64_t, int>, std::int64_t> reshaped_;
};

}  // namespace iocomp::writer
