// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
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
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/record_file.h"
#include "formats/packed_writer.h"
#include "formats/visibility.h"
#include "formats/words.h"
#include "mpi/wait.h"

namespace iocomp::formats::h5 {

/// A file that is open, and made durable. The system tells a failure of that once, and what is lost
/// stays lost. So after one failure each further call fails.
class SyncedFile {
 public:
  SyncedFile(std::string path, Descriptor file) : path_{std::move(path)}, file_{std::move(file)} {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Descriptor& file() const noexcept { return file_; }
  /// @throws Error{storage_failure}.
  void sync() {
    if (error_ == 0 && ::fsync(file_.raw()) != 0) {
      error_ = errno;
    }
    if (error_ != 0) {
      throw failure("fsync", path_, error_);
    }
  }

 private:
  std::string path_;
  Descriptor file_;
  int error_ = 0;
};

/// Filters the chunks of all variables of a file. Those of HDF5 itself are for the thread that has
/// it; the others, which are this library's own, for any number of threads.
class RecordFilters {
 public:
  /// `options` outlive this.
  explicit RecordFilters(const FormatOptions& options) : options_{options} {}

  /// @throws Error{storage_failure}.
  void filter(const Variable& variable, std::span<const std::byte> whole, Packed& to);

 private:
  const FormatOptions& options_;
  Spares<ChunkFilter> spares_;
  std::map<int, LibraryFilter> of_library_;  // by id of the variable
};

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
    std::vector<StoredChunk> stored;  // of the first writer: the chunks of all
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
