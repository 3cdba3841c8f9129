// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/path.h"
#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/chunk_writer.h"
#include "formats/format.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/record_filters.h"
#include "formats/hdf5/synced_file.h"
#include "formats/packed_writer.h"
#include "formats/visibility.h"
#include "formats/words.h"
#include "mpi/wait.h"

namespace iocomp::formats::h5 {

/// Records with compression. When all of a step is there, the writers send one another
/// parts of chunks, so that each chunk lies with one of them, who compresses and writes it. The
/// first writer alone has the file open in HDF5, for the metadata, and calls HDF5 in the functions
/// of the owner alone. A failure costs the step; the room that it took is used again.
class DeflateTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  /// @param create  the file in HDF5, on the first writer.
  DeflateTarget(const Path& path, const FormatOptions& options, MPI_Comm writers,
                std::function<std::unique_ptr<RecordFile>()> create);

  void begin() override;
  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  void begin_step(std::int64_t step, const Description& description) noexcept override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void end_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& /*description*/) override { plain_.sync(); }
  void close(const Description& description) override;

 private:
  // A selection of a variable that write_step will write.
  struct Part {
    int variable = 0;
    Selection selection;
    std::span<const std::byte> bytes;
  };
  // A step between the calls that concern it.
  struct Step {
    Outcome placed;                     // of the first writer
    std::vector<std::int64_t> offsets;  // of each variable that is not compressed (-1 for the
                                        // others), and then the end of the file
    StepChunks chunks;
    std::vector<std::string> stored;  // of the first writer: the chunks of each
    std::int64_t end = 0;
  };
  void agree(const Outcome& mine) const;
  void write_plain(const std::vector<Part>& parts, const Variable& variable,
                   std::int64_t offset) const;
  void write_parts(const std::vector<Part>& parts, const Description& description);
  void show(const Switch& visible);
  void check_that_it_goes_on() const;
  void keep(std::int64_t step);

  FormatOptions options_;
  MPI_Comm writers_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;
  SyncedFile plain_;
  PackedWriter packed_;
  Spares<ScratchMemory> scratch_;
  RecordFilters filters_;
  Compressed compressed_;
  std::function<std::unique_ptr<RecordFile>()> create_;
  std::unique_ptr<RecordFile> file_;  // of the first writer
  std::vector<Part> parts_;
  Step step_;
  std::int64_t from_ = 0;  // steps before this one are told
  Visibility visibility_;
};

}  // namespace iocomp::formats::h5
