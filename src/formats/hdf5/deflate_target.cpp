// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/deflate_target.h"

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "formats/chunks/chunk_parts.h"
#include "formats/chunks/chunk_writer.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/open_together.h"
#include "formats/packed_writer.h"
#include "formats/words.h"
#include "formats/write_region.h"
#include "mpi/agree.h"
#include "mpi/error.h"

namespace iocomp::formats::h5 {

void RecordFilters::filter(const Variable& variable, std::span<const std::byte> whole, Packed& to) {
  const TimeChunks chunks{variable, options_};
  if (chunks.compression.method == Compression::Method::filter) {
    auto found = of_library_.find(variable.id);
    if (found == of_library_.end() || found->second.shape() != variable.shape) {
      found = of_library_.insert_or_assign(variable.id, LibraryFilter{variable, options_}).first;
    }
    to.filter_mask = found->second.filter(whole, to.bytes);
    return;
  }
  auto filter = spares_.take();
  const auto filtered = filter->filter(whole, chunks.stored_bytes, chunks.compression);
  to.bytes.assign(filtered.begin(), filtered.end());
  to.filter_mask = 0;
  spares_.give_back(std::move(filter));
}

namespace {

constexpr const char* other_members = "the other writers of a compressed file";

}  // namespace

DeflateTarget::DeflateTarget(const Path& path, const FormatOptions& options, MPI_Comm writers,
                             std::function<std::unique_ptr<RecordFile>()> create)
    : options_{options},
      writers_{writers},
      policy_{options.wait},
      plain_{path.text(), open_together(path, writers, policy_, options.earlier_steps >= 0)},
      packed_{{.path = plain_.path(),
               .file = plain_.file(),
               .writers = writers,
               .policy = policy_,
               .others = other_members,
               .crew = uses(options, Compression::Method::filter) ? nullptr : options.crew,
               .alignment_bytes = options.alignment_bytes,
               .bypasses_cache = options.bypasses_cache}},
      filters_{options_},
      create_{std::move(create)},
      from_{std::max<std::int64_t>(options.earlier_steps, 0)},
      visibility_{options.earlier_steps >= 0 ? std::optional{path} : std::nullopt} {
  mpi::check(MPI_Comm_rank(writers_, &rank_));
}

void DeflateTarget::begin() {
  if (rank_ == 0) {
    file_ = create_();
  }
}

void DeflateTarget::agree(const Outcome& mine) const {
  mpi::agree(writers_, mine, policy_, other_members).throw_unless_ok();
}

void DeflateTarget::write(const Placed& where, const Selection& selection,
                          std::span<const std::byte> bytes) {
  parts_.push_back({where.variable.id, selection, bytes});
}

void DeflateTarget::begin_step(std::int64_t step, const Description& description) noexcept {
  step_ = {};
  step_.placed = outcome_of([&] {
    step_.offsets.assign(description.contents.size() + 1, -1);
    for (std::size_t i = 0; file_ && i < description.contents.size(); ++i) {
      step_.offsets[i] = file_->place(description.contents[i].variable, step);
    }
    if (file_) {
      step_.offsets.back() = file_->end();
    }
  });
}

void DeflateTarget::write_plain(const std::vector<Part>& parts, const Variable& variable,
                                std::int64_t offset) const {
  for (const auto& part : parts) {
    if (part.variable == variable.id) {
      for_each_run(variable, part.selection, part.bytes, [&](std::int64_t place, auto run) {
        write_plainly(plain_.file(), offset + place, run, plain_.path());
      });
    }
  }
}

void DeflateTarget::write_parts(const std::vector<Part>& parts, const Description& description) {
  std::vector<ChunkPart> own;
  agree(outcome_of([&] {
    for (std::size_t i = 0; i < description.contents.size(); ++i) {
      const Variable& variable = description.contents[i].variable;
      if (step_.offsets[i] >= 0) {
        write_plain(parts, variable, step_.offsets[i]);
      } else if (variable.bytes() > 0) {
        step_.chunks.add(variable, TimeChunks{variable, options_});
      }
    }
    for (const auto& part : parts) {
      step_.chunks.cut(part.variable, part.selection, part.bytes, own);
    }
  }));
  step_.end = step_.offsets.back();
  const Encode encode = [this](const Variable& variable, std::span<const std::byte> whole,
                               Packed& to) { filters_.filter(variable, whole, to); };
  const auto stored = write_chunks(
      step_.chunks, own, {packed_, encode, scratch_, writers_, policy_, compressed_}, step_.end);
  step_.stored = mpi::gather(writers_, 0, stored, policy_, other_members);
  agree(outcome_of([&] { plain_.sync(); }));
}

// Everything that the switch leads to is durable before it is written.
void DeflateTarget::show(const Switch& visible) {
  plain_.sync();
  visibility_.show(
      visible,
      [this](const Switch& next) {
        make_visible(plain_.file(), next, plain_.path());
        plain_.sync();
      },
      [] {});
}

void DeflateTarget::check_that_it_goes_on() const {
  if (visibility_.is_stuck()) {
    throw Error{ErrorCode::storage_failure, "nothing more can be committed to " + plain_.path() +
                                                ": a failure could not be undone"};
  }
}

// Takes note of where the chunks of the step are.
void DeflateTarget::keep(std::int64_t step) {
  std::vector<Extent> extents(static_cast<std::size_t>(step_.chunks.count()));
  for (const auto& chunk : step_.stored) {
    extents[static_cast<std::size_t>(chunk.chunk)] = chunk.where;
  }
  for (const auto& of_variable : step_.chunks.variables()) {
    const auto first = extents.begin() + of_variable.first;
    file_->keep(of_variable.variable, step, {first, first + of_variable.chunks.per_record});
  }
  file_->extend(step_.end);
}

Compressed DeflateTarget::write_step(std::int64_t /*step*/, const Description& description) {
  const auto parts = std::exchange(parts_, {});
  agree(step_.placed);
  mpi::maximum(writers_, step_.offsets, policy_, other_members);
  try {
    write_parts(parts, description);
  } catch (...) {
    // Each writer tries: nobody writes there any more, and a full disk may need the room for what
    // is left to write.
    if (struct stat status{}; rank_ == 0 && ::fstat(plain_.file().raw(), &status) == 0 &&
                              status.st_size > step_.offsets.back()) {
      (void)!::ftruncate(plain_.file().raw(), step_.offsets.back());
    }
    throw;
  }
  return std::exchange(compressed_, {});
}

void DeflateTarget::end_step(std::int64_t step, const Description& description) {
  if (!file_) {
    return;
  }
  keep(step);
  if (!options_.one_step) {  // after a failure in there the metadata that are stored stay
    check_that_it_goes_on();
    show(file_->commit(description, from_));
    file_->is_visible();
    from_ = step + 1;
  }
}

void DeflateTarget::close(const Description& description) {
  if (!file_) {
    return;
  }
  check_that_it_goes_on();
  Description news = description;
  std::erase_if(news.contents, [this](const Placed& placed) { return placed.step < from_; });
  show(file_->finish(news, from_));
  file_.reset();
  plain_.sync();
}

}  // namespace iocomp::formats::h5
