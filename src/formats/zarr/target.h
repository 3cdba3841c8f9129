// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/chunk_writer.h"
#include "formats/format.h"
#include "formats/packed_writer.h"
#include "formats/words.h"
#include "formats/zarr/codec.h"
#include "formats/zarr/store.h"
#include "mpi/wait.h"

namespace iocomp::formats::zarr {

/// A store of Zarr 3: a folder, with an array for each variable. A step of a variable is one shard,
/// which is one file. Its chunks lie in it in row-major order, so each writer puts long runs in
/// place. Where they are compressed, or runs are short, the writers send one another parts of
/// chunks, and each writes the chunks that are his. The first writer ends the shards with their
/// indices, and keeps the metadata. What fails on one writer fails on all of them, and costs the
/// step.
class StoreTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  StoreTarget(const Path& path, const FormatOptions& options, MPI_Comm writers);

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  struct Part {
    int variable = 0;
    Selection selection;
    std::span<const std::byte> bytes;
  };
  // The parts of a variable in a step that this writer has.
  struct Own {
    Laid laid;
    StepChunks chunks{};
    std::vector<ChunkPart> parts{};
    bool goes_in_place = false;  // the same on all writers, as is this:
    bool is_full = false;        // as many elements are put as there are
  };
  // The file that this writer writes just now.
  struct Shard {
    std::string folder;
    std::string name;
    std::string path;
    Descriptor file;
  };
  void agree(const Outcome& mine) const;
  void on_first(const std::function<void()>& call) const;
  [[nodiscard]] std::vector<Own> cut(const std::vector<Part>& parts, std::int64_t step,
                                     const Description& description) const;
  void write_shards(const std::vector<Part>& parts, std::int64_t step,
                    const Description& description);
  [[nodiscard]] std::vector<StoredChunk> put_in_place(const Own& own);
  [[nodiscard]] std::vector<StoredChunk> put_chunks(const Own& own, std::int64_t& end);
  void begin_shard(const Variable& variable, const Laid& laid);
  void open_shard();
  void sync_shard() const;
  void end_shards(std::int64_t step, const Description& description,
                  const std::vector<std::string>& stored, const std::vector<std::int64_t>& ends);

  std::string path_;
  FormatOptions options_;
  MPI_Comm writers_;
  mpi::WaitPolicy policy_;
  int rank_ = 0;
  std::shared_ptr<const OpenFolder> root_;
  std::unique_ptr<Store> store_;  // of the first writer
  Shard shard_;
  PackedWriter packed_;
  Spares<ScratchMemory> scratch_;
  ChunkEncoder encoder_;
  std::vector<Part> parts_;
  Compressed compressed_;
};

}  // namespace iocomp::formats::zarr
