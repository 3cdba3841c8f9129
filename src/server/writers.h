// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "disk/options.h"
#include "formats/format.h"
#include "server/context.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/spill.h"
#include "writing/stripes.h"

namespace iocomp::server {

/// What a server writes a file's bytes with: a writing::FileWriter for each physical file, made
/// when it is first asked for, and the stripes that lie before them.
class Writers {
 public:
  using Pieces = std::vector<std::shared_ptr<writing::Piece>>;

  /// All are outlived by this, but for itself.
  Writers(Context& context, std::uint64_t key, const config::FileSettings& settings,
          const formats::Format& format, const commit::Publication& publication);

  /// What must be there before anything comes: where bytes are spilled to, and the one plain file
  /// of all steps, before the first commit gives it its final name.
  /// @throws Error{storage_failure}.
  void open();

  /// @param number  of the physical file: of its step, or -1 for the one of all steps.
  [[nodiscard]] writing::FileWriter& writer(std::int64_t number) { return *target(number).writer; }
  [[nodiscard]] writing::FileWriter& writer_of(std::int64_t step) {
    return writer(publication_.target_of(step));
  }
  /// The file of a step is not written to any more.
  void forget(std::int64_t step) { targets_.erase(step); }

  // Pieces of a physical file that are written and not fsynced.
  void add_unsynced(std::int64_t number, const std::shared_ptr<writing::Piece>& piece) {
    target(number).unsynced.push_back(piece);
  }
  [[nodiscard]] Pieces take_unsynced(std::int64_t number);
  [[nodiscard]] bool has_unsynced(std::int64_t number) const;
  /// Of which files there are some.
  [[nodiscard]] std::vector<std::int64_t> unsynced() const;

  // What is put together with others before it is written.
  [[nodiscard]] writing::Stripes& stripes() noexcept { return stripes_; }
  [[nodiscard]] const writing::Stripes& stripes() const noexcept { return stripes_; }
  void write(std::vector<writing::Stripe> stripes);

  // What was spilled.
  [[nodiscard]] bool spills() const noexcept { return spill_ != nullptr; }
  /// Take back what there is memory for; true if there was any.
  bool take_back();
  /// Of steps from `first` to before `end`: they have failed.
  void drop_spilled(std::int64_t first, std::int64_t end, const Outcome& outcome);

  /// Give small chunks that came in this round to the engine, neighbours as one write.
  void submit();
  /// MPI files: write at most one slice. @return whether anything was written.
  bool write_slice();
  /// The same: whether one is to be written when the file's pace allows it.
  [[nodiscard]] bool is_held_back() const;
  /// Bytes that are kept until their step is written as a whole, of the steps that count.
  [[nodiscard]] std::size_t kept_bytes(const std::function<bool(std::int64_t step)>& counts) const;

 private:
  struct Target {  // a physical file
    std::unique_ptr<writing::FileWriter> writer;
    Pieces unsynced;
  };
  Target& target(std::int64_t number);

  Context& context_;
  const config::FileSettings& settings_;
  const formats::Traits& traits_;
  const commit::Publication& publication_;
  writing::Stripes stripes_;  // of all physical files
  disk::Options disk_;
  writing::Spill* spill_ = nullptr;  // the session's; null: nothing is spilled
  std::map<std::int64_t, Target> targets_;
};

}  // namespace iocomp::server
