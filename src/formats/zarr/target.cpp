// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/runs.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/joined_writes.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "base/scratch_memory.h"
#include "base/spares.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/chunk_writer.h"
#include "formats/communicator.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "formats/packed_writer.h"
#include "formats/rules.h"
#include "formats/sources.h"
#include "formats/words.h"
#include "formats/write_region.h"
#include "formats/zarr/codec.h"
#include "formats/zarr/shard_index.h"
#include "formats/zarr/store.h"
#include "mpi/agree.h"
#include "mpi/error.h"
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
  // A chunk of a step that one writer has written.
  struct Written {
    std::int64_t variable = 0;  // its place in the description
    StoredChunk chunk;
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
                  const std::vector<Written>& stored, const std::vector<std::int64_t>& ends);

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

namespace {

constexpr const char* other_writers = "the other writers of a Zarr store";
// More runs than these, if they are shorter, cost less by way of the writer of their chunk.
constexpr std::int64_t few_runs = 16;
constexpr std::int64_t long_run = std::int64_t{4} << 10;

}  // namespace

StoreTarget::StoreTarget(const Path& path, const FormatOptions& options, MPI_Comm writers)
    : path_{path.text()},
      options_{options},
      writers_{writers},
      policy_{options.wait},
      packed_{{.path = shard_.path,
               .file = shard_.file,
               .writers = writers,
               .policy = policy_,
               .others = other_writers,
               .crew = options.crew,
               .alignment_bytes = options.alignment_bytes,
               .bypasses_cache = options.bypasses_cache,
               .open = [this] { open_shard(); }}} {
  mpi::check(MPI_Comm_rank(writers_, &rank_));
  on_first([&] {
    if (options.earlier_steps < 0) {
      make_folder(path);
    }
  });
  agree(outcome_of(
      [&] { root_ = std::make_shared<const OpenFolder>(path.folder().folder(path.name())); }));
  on_first([&] { store_ = std::make_unique<Store>(root_, options_); });
}

void StoreTarget::agree(const Outcome& mine) const {
  mpi::agree(writers_, mine, policy_, other_writers).throw_unless_ok();
}

void StoreTarget::on_first(const std::function<void()>& call) const {
  agree(rank_ == 0 ? outcome_of(call) : Outcome{});
}

void StoreTarget::write(const Placed& where, const Selection& selection,
                        std::span<const std::byte> bytes) {
  parts_.push_back({where.variable.id, selection, bytes});
}

void StoreTarget::begin_shard(const Variable& variable, const Laid& laid) {
  shard_.folder = variable.name;
  shard_.name = laid.temporary;
  shard_.path = path_ + '/' + variable.name + '/' + laid.file;
  shard_.file = {};
}

// The first writer that has a chunk for a shard makes its file.
void StoreTarget::open_shard() {
  if (!shard_.file.is_open()) {
    shard_.file = root_->folder(shard_.folder).create_or_share(shard_.name, O_RDWR);
  }
}

void StoreTarget::sync_shard() const {
  if (!shard_.file.is_open()) {
    return;
  }
  make_durable(shard_.file, shard_.path);
  if (has_lost_its_name(shard_.file)) {
    throw failure("fsync", shard_.path, ENOENT);
  }
}

// Cuts the parts, which are in order of their variables, at the borders of chunks.
std::vector<StoreTarget::Own> StoreTarget::cut(const std::vector<Part>& parts, std::int64_t step,
                                               const Description& description) const {
  std::vector<Own> all;
  std::vector<std::int64_t> sums;  // for each variable: who needs chunks, elements that are put
  for (const auto& placed : description.contents) {
    const Variable& variable = placed.variable;
    Own& own = all.emplace_back(Own{.laid{variable, step, options_}});
    own.chunks.add(variable, own.laid.chunks);
    std::int64_t runs = 0;
    std::int64_t bytes = 0;
    std::int64_t elements = 0;
    for (const auto& part : std::ranges::equal_range(parts, variable.id, {}, &Part::variable)) {
      own.chunks.cut(part.variable, part.selection, part.bytes, own.parts);
      const auto row = array::row_elements(variable.shape, part.selection.box);
      runs += (part.selection.count + row - 1) / std::max<std::int64_t>(row, 1);
      bytes += std::ssize(part.bytes);
      elements += part.selection.count;
    }
    const bool has_short_runs = runs > few_runs && bytes / runs < long_run;
    // A hole in a file reads as zeros.
    const bool has_fill = std::ranges::any_of(fill_bytes(variable),
                                              [](std::byte byte) { return byte != std::byte{0}; });
    const bool needs_chunks =
        own.laid.compression.is_on() || own.laid.steps_in_file > 1 || has_fill || has_short_runs;
    sums.insert(sums.end(), {needs_chunks ? 1 : 0, elements});
  }
  mpi::sum(writers_, sums, policy_, other_writers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].goes_in_place = sums[2 * i] == 0;
    all[i].is_full = sums[2 * i + 1] >= array::elements(description.contents[i].variable.shape);
  }
  return all;
}

// Writes parts to where the shard has them. Returns their chunks, which other writers may have too.
std::vector<StoredChunk> StoreTarget::put_in_place(const Own& own) {
  std::vector<StoredChunk> stored;
  if (own.parts.empty()) {
    return stored;
  }
  open_shard();
  if (own.is_full) {  // else holes remain: direct writes into room that is there get along faster
    (void)!::fallocate(shard_.file.raw(), 0, 0, own.laid.chunks.all_bytes());
  }
  JoinedWrites writes{shard_.file, shard_.path, options_.bypasses_cache};
  for (const auto& part : own.parts) {
    const auto& [variable, chunks, first] = own.chunks.of(part.chunk);
    for_each_run(variable, part.selection, part.bytes,
                 [&](std::int64_t place, auto run) { writes.add(place, run); });
    stored.push_back({part.chunk, {part.chunk * chunks.bytes(), chunks.bytes()}});
  }
  writes.finish();
  return stored;
}

std::vector<StoredChunk> StoreTarget::put_chunks(const Own& own, std::int64_t& end) {
  const Compression& compression = own.laid.compression;
  Encode encode;
  if (compression.is_on()) {
    encode = [this, compression](const Variable& variable, std::span<const std::byte> whole,
                                 Packed& to) {
      encoder_.encode(whole, array::size_bytes(variable.type), compression, to.bytes);
    };
  }
  // The first writer has begun such a file with other steps, and makes it durable with this one.
  return write_chunks(
      own.chunks, own.parts,
      {packed_, encode, scratch_, writers_, policy_, compressed_, own.laid.steps_in_file > 1}, end);
}

void StoreTarget::write_shards(const std::vector<Part>& parts, std::int64_t step,
                               const Description& description) {
  const auto all = cut(parts, step, description);
  std::vector<Written> written;
  std::vector<std::int64_t> ends(all.size(), 0);
  Outcome mine;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Variable& variable = description.contents[i].variable;
    if (variable.bytes() == 0) {
      continue;
    }
    begin_shard(variable, all[i].laid);
    std::vector<StoredChunk> stored;
    Outcome put;
    if (all[i].goes_in_place) {
      put = outcome_of([&] { stored = put_in_place(all[i]); });
      ends[i] = all[i].laid.chunks.all_bytes();
    } else {
      ends[i] = all[i].laid.record % all[i].laid.steps_in_file * variable.bytes();
      stored = put_chunks(all[i], ends[i]);
    }
    for (const auto& chunk : stored) {
      if (all[i].laid.steps_in_file == 1) {
        written.push_back({static_cast<std::int64_t>(i), chunk});
      }
    }
    put = put.ok() ? outcome_of([this] { sync_shard(); }) : put;
    mine = mine.ok() ? put : mine;
  }
  shard_ = {};
  agree(mine);
  const auto gathered = mpi::gather(writers_, 0, written, policy_, other_writers);
  on_first([&] { end_shards(step, description, gathered, ends); });
}

// Writes the index of each shard behind its chunks. A file of several steps has none.
void StoreTarget::end_shards(std::int64_t step, const Description& description,
                             const std::vector<Written>& stored,
                             const std::vector<std::int64_t>& ends) {
  std::vector<std::vector<Extent>> chunks(description.contents.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const Variable& variable = description.contents[i].variable;
    if (variable.bytes() > 0) {
      const Laid laid{variable, step, options_};
      const auto count = laid.steps_in_file == 1 ? laid.chunks.per_record : 0;
      chunks[i].resize(static_cast<std::size_t>(count), no_chunk);
    }
  }
  for (const auto& [variable, chunk] : stored) {
    chunks[static_cast<std::size_t>(variable)][static_cast<std::size_t>(chunk.chunk)] = chunk.where;
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].empty()) {
      continue;
    }
    const Variable& variable = description.contents[i].variable;
    begin_shard(variable, Laid{variable, step, options_});
    if (std::ranges::any_of(chunks[i], [](const Extent& chunk) { return chunk.bytes >= 0; })) {
      // The file is there: a new one would lose its chunks.
      shard_.file = root_->folder(shard_.folder).open_own(shard_.name, O_RDWR);
    }
    open_shard();
    write_plainly(shard_.file, ends[i], index_of(chunks[i]), shard_.path);
    sync_shard();
  }
  shard_ = {};
}

Compressed StoreTarget::write_step(std::int64_t step, const Description& description) {
  auto parts = std::exchange(parts_, {});
  std::ranges::stable_sort(parts, {}, &Part::variable);
  on_first([&] {
    for (const auto& placed : description.contents) {
      store_->make_place(placed.variable, step);
    }
  });
  try {
    write_shards(parts, step, description);
    if (!options_.one_step) {
      on_first([&] { store_->commit(description, step); });
    }
  } catch (...) {
    if (store_) {
      store_->drop(description, step);
    }
    throw;
  }
  return std::exchange(compressed_, {});
}

void StoreTarget::finish(const Description& description) {
  parts_.clear();
  on_first([&] { store_->finish(description); });
}

}  // namespace iocomp::formats::zarr

namespace iocomp::formats {
namespace {

std::string version() { return "Zarr 3"; }

const Format& zarr_format(const FormatOptions& options) {
  static const Format format{{.rules = rules::zarr,
                              .extension = ".zarr",
                              .kind = Kind::step,
                              .goes_on = true,
                              .folder_mark = mark_of_zarr_folder,
                              .is_durable_itself = true,
                              .allows_threads = true},
                             [](const auto& path, const auto& given, const auto& writers) {
                               return std::make_unique<zarr::StoreTarget>(path, given, writers.raw);
                             }};
  zarr::check_methods(options);
  return format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::zarr_format};
