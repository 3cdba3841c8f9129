#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/exchange.h"
#include "client/link.h"
#include "client/output_files.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/options.h"
#include "formats/format.h"

namespace iocomp::client {

/// The physical files of a synchronous file on one rank: the descriptors it writes through, the
/// targets of the format, and where variables lie. Collective calls say so; failures on one rank
/// are agreed before anybody goes on.
class DirectOutput {
 public:
  struct Setup {
    MPI_Comm comm = MPI_COMM_NULL;  ///< of the file; used by nobody else
    int rank = 0;                   ///< in `comm`
    int compute_rank = 0;
    MPI_Comm openers = MPI_COMM_NULL;  ///< the same ranks in the order that opens MPI files
    const formats::Format* format = nullptr;
    formats::FormatOptions options;
    disk::Options disk;
    std::int64_t window_bytes = 0;  ///< of an exchange; 0: none
    std::int64_t domain_bytes = 1;  ///< what borders between its domains are multiples of
    std::vector<int> aggregators;   ///< of exchanges, ranks in `comm`; none: all
    bool may_overlap = false;       ///< puts of one step; see FileSettings
  };
  DirectOutput(Setup setup, commit::Publication& publication, const contents::Catalogue& catalogue,
               Link& link);

  /// Whether a block can be written before end_step: its offset is known, and no collective call
  /// stands before the write.
  [[nodiscard]] bool writes_at_once(const Block& block) const;

  /// Start the physical file (-1: of all steps). Collective over the file's ranks. @throws Error,
  /// the same on all ranks.
  void create(std::int64_t target);
  /// Formats that write whole steps: write what `write` was given. Collective. @throws Error, the
  /// same on all ranks.
  void write_step(std::int64_t step);
  [[nodiscard]] bool writes_whole_steps() const { return setup_.format->writes_whole_steps(); }
  /// Forget what `write` was given for a step that failed. Local.
  void forget_step(std::int64_t step);

  /// Make room for variables in a step, and where the format decides on it, for the same ones in
  /// the next step, ahead. Collective. @throws Error, the same on all ranks.
  void place(std::int64_t step, const std::vector<int>& variables);
  /// Write a block. Local. @throws Error{storage_failure}.
  void write(const Block& block);
  /// Write the fill value of a variable where nobody has put anything. Local.
  void fill(std::int64_t step, int variable, const array::RunList& holes);
  /// Whether a block is kept until the ranks exchange such blocks.
  [[nodiscard]] bool exchanges(const Block& block) const noexcept;
  /// Write blocks of one step that are better exchanged. Collective over the file's ranks.
  /// @return the first failure of a write on this rank. @throws Error{timed_out}.
  [[nodiscard]] Outcome exchange(std::int64_t step, const std::vector<const Block*>& blocks);
  /// fsync what this rank wrote to a physical file. Local. @throws Error{storage_failure}.
  void sync(std::int64_t target);
  /// Give what the format library holds of an unfinished file to the operating system. Collective.
  void flush(std::int64_t target);
  /// End the physical file, which has these steps. Collective. @throws Error, the same on all
  /// ranks.
  void finish(std::int64_t target, std::int64_t first_step, std::int64_t last_step);
  /// Let a physical file grow to its size, make it durable and do the job. Rank 0's part, which
  /// alone makes the job; others do nothing. Collective:
  /// @throws Error, the same on all ranks.
  void seal(std::int64_t target, std::int64_t step,
            const std::function<commit::Publication::Job()>& job);
  /// The descriptors of a physical file are not needed any more. Local.
  void forget(std::int64_t target) { files_.forget(target); }

  [[nodiscard]] const contents::Contents& contents() const noexcept { return files_.contents(); }
  void drop_step(std::int64_t step) { files_.drop_step(step); }
  /// All ranks throw if one failed. Collective.
  void agree(const Outcome& mine, const char* what);

 private:
  // What was done ahead for one step.
  struct Ahead {
    std::int64_t step = -1;
    std::map<int, std::pair<array::Shape, std::int64_t>> places;  // by variable, with its offset
  };
  [[nodiscard]] bool places_ahead(std::int64_t step) const;
  [[nodiscard]] std::int64_t place_of(std::int64_t step, int variable);
  [[nodiscard]] bool is_ahead(std::int64_t step, int variable) const;
  [[nodiscard]] bool is_plain() const {
    return setup_.format->access(setup_.options) == formats::Access::plain_file;
  }
  [[nodiscard]] bool has_target() const {
    return !is_plain() || (setup_.rank == 0 && !setup_.format->offsets_by_layout());
  }
  void write_elements(std::int64_t step, const contents::Variable& variable, std::int64_t index,
                      std::span<const std::byte> bytes);

  Setup setup_;
  commit::Publication& publication_;
  const contents::Catalogue& catalogue_;
  Link& link_;
  std::unique_ptr<Exchange> exchange_;
  Ahead ahead_;
  OutputFiles files_;  // what a format makes of plain files: on rank 0, where it needs that
};

}  // namespace iocomp::client
