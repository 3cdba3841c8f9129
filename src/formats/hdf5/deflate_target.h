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

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/chunk_writer.h"
#include "formats/format.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/record_file.h"
#include "formats/packed_writer.h"
#include "formats/visibility.h"
#include "formats/words.h"
#include "mpi/wait.h"

namespace iocomp::formats::h5 {

/// Records with compression. When all of a step is there, the writers send one another
/// parts of chunks, so that each chunk lies with one of them, who compresses and writes it. The
/// first writer alone has the file open in HDF5, for the metadata. What fails on one writer fails
/// on all of them, and costs the step; the room that it took is used again.
class DeflateTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  /// @param create  the file in HDF5, on the first writer.
  DeflateTarget(const Path& path, const FormatOptions& options, MPI_Comm writers,
                const std::function<std::unique_ptr<RecordFile>()>& create);

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  // A selection of a variable that write_step will write.
  struct Part {
    int variable = 0;
    Selection selection;
    std::span<const std::byte> bytes;
  };
  void agree(const Outcome& mine) const;
  [[nodiscard]] std::vector<std::int64_t> begin_step(std::int64_t step,
                                                     const Description& description);
  void write_plain(const std::vector<Part>& parts, const Variable& variable,
                   std::int64_t offset) const;
  void write_from(const std::vector<Part>& parts, const std::vector<std::int64_t>& offsets,
                  std::int64_t step, const Description& description);
  void commit(std::int64_t step, const Description& description);
  void show(const Switch& visible);
  void check_that_it_goes_on() const;
  void filter(const Variable& variable, std::span<const std::byte> whole, Packed& to);
  void sync();
  void keep(std::int64_t step, const StepChunks& chunks, const std::vector<std::string>& stored);

  std::string path_;
  FormatOptions options_;
  MPI_Comm writers_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;
  Descriptor plain_;
  PackedWriter packed_;
  Spares<ScratchMemory> scratch_;
  Spares<ChunkFilter> filters_;
  Compressed compressed_;
  std::unique_ptr<RecordFile> file_;  // of the first writer
  std::vector<Part> parts_;
  std::int64_t from_ = 0;  // steps before this one are told
  int sync_error_ = 0;     // of the first fsync that failed
  Visibility visibility_;
};

}  // namespace iocomp::formats::h5
