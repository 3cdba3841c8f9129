#include "storage/hdf5/time_target.h"

#include <hdf5.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/region.h"
#include "array/runs.h"
#include "mpi/error.h"
#include "storage/cdf/attempts.h"
#include "storage/cdf/reserved_room.h"
#include "storage/failure.h"
#include "storage/file_system.h"
#include "storage/format.h"
#include "storage/hdf5/attributes.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/room.h"
#include "storage/hdf5/time_dataset.h"
#include "storage/mpi_hints.h"
#include "storage/open_together.h"
#include "storage/sub_boxes.h"
#include "storage/variable.h"

namespace iocomp::storage::h5 {
namespace {

constexpr std::int64_t smallest_object_bytes = 4096;
// Groups, headers, nodes of the index: more than one call makes.
constexpr std::int64_t objects_per_call = 64;

// Parts of a record in the order of the file, which is how HDF5 takes what is selected.
std::vector<std::byte> packed(const array::Shape& shape, std::size_t element_bytes,
                              const std::vector<std::pair<array::Box, const std::byte*>>& parts) {
  struct Piece {
    std::int64_t index;
    std::int64_t elements;
    const std::byte* bytes;
  };
  std::vector<Piece> pieces;
  std::size_t bytes = 0;
  for (const auto& [box, first] : parts) {
    const std::byte* next = first;
    array::RunCursor cursor{shape, box, 0, array::elements(box)};
    array::Run run;
    while (cursor.next(run)) {
      pieces.push_back({run.index, run.elements, next});
      next += static_cast<std::size_t>(run.elements) * element_bytes;
    }
    bytes += static_cast<std::size_t>(next - first);
  }
  std::ranges::sort(pieces, {}, &Piece::index);
  std::vector<std::byte> all(bytes);
  std::byte* to = all.data();
  for (const auto& piece : pieces) {
    const auto length = static_cast<std::size_t>(piece.elements) * element_bytes;
    std::memcpy(to, piece.bytes, length);
    to += length;
  }
  return all;
}

}  // namespace

TimeTarget::TimeTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)},
      options_{options},
      writers_{writers},
      plain_{open_together(path_, writers)},
      room_{path_, plain_, writers} {
  const Quiet quiet;
  mpi::check(MPI_Comm_rank(writers_, &rank_));
  metadata_bytes_ = objects_per_call * std::max(options.alignment_bytes, smallest_object_bytes);
  room_.reserve(metadata_bytes_, "create");
  const MpiHints hints{options, file_system_hints(path_, writers)};
  const Properties access = file_access(options);
  check(H5Pset_fapl_mpio(access.raw(), writers, hints.raw()), "open", path_);
  check(H5Pset_coll_metadata_write(access.raw(), true), "open", path_);
  file_ =
      check(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.raw()), "create", path_);
}

void TimeTarget::reserve(std::int64_t more_bytes, const std::string& action) {
  room_.reserve(end_ + metadata_bytes_ + more_bytes, action);
  end_ += more_bytes;
}

TimeDataset& TimeTarget::dataset(const Variable& variable) {
  auto& known = datasets_[variable.id];
  if (!known) {
    reserve(metadata_bytes_, "make room for the variable \"" + variable.name + "\" in");
    known = std::make_unique<TimeDataset>(file_, variable, options_, path_);
  }
  return *known;
}

std::int64_t TimeTarget::place(const Variable& variable, std::int64_t step) {
  if (variable.bytes() == 0) {
    return -1;
  }
  const Quiet quiet;
  TimeDataset& growing = dataset(variable);
  reserve(growing.bytes_to(step + 1, options_.alignment_bytes),
          "make room for step " + std::to_string(step) + " of the variable \"" + variable.name +
              "\" in");
  growing.grow_to(step + 1);
  placed_.emplace(step, variable.id);
  return -1;
}

void TimeTarget::write(const Placed& where, const Selection& selection,
                       std::span<const std::byte> bytes) {
  if (selection.count == 0) {
    return;
  }
  const Quiet quiet;
  const std::byte* next = bytes.data();
  for (const auto& box : sub_boxes(selection.box, selection.first, selection.count)) {
    const std::int64_t elements = array::elements(box);
    if (options_.deflate_level > 0) {
      parts_.push_back({where.variable.id, box, next});
    } else {
      TimeDataset& growing = *datasets_.at(where.variable.id);
      growing.write(growing.select(where.step, {box}), elements, next, false);
    }
    next += static_cast<std::size_t>(elements) * array::size_bytes(where.variable.type);
  }
}

// All writers, also those who have nothing of it, or could not pack it.
void TimeTarget::write_variable(const Placed& placed) {
  TimeDataset& growing = *datasets_.at(placed.variable.id);
  std::vector<array::Box> boxes;
  std::vector<std::pair<array::Box, const std::byte*>> parts;
  for (const auto& part : parts_) {
    if (part.variable == placed.variable.id) {
      boxes.push_back(part.box);
      parts.emplace_back(part.box, part.bytes);
    }
  }
  std::vector<std::byte> own;
  const std::byte* bytes = parts.empty() ? nullptr : parts.front().second;
  cdf::Attempts attempt;
  attempt([&] {
    if (parts.size() > 1) {
      own = packed(placed.variable.shape, array::size_bytes(placed.variable.type), parts);
      bytes = own.data();
    }
  });
  try {
    attempt.rethrow();
  } catch (...) {
    boxes.clear();
  }
  std::int64_t elements = 0;
  for (const auto& box : boxes) {
    elements += array::elements(box);
  }
  attempt([&] { growing.write(growing.select(placed.step, boxes), elements, bytes, true); });
  attempt.rethrow();
}

void TimeTarget::write_step(std::int64_t step, const Description& description) {
  const Quiet quiet;
  for (const auto& placed : description.contents) {
    place(placed.variable, step);
  }
  cdf::Attempts attempt;
  for (const auto& placed : description.contents) {
    if (placed.variable.bytes() > 0) {
      attempt([&] { write_variable(placed); });
    }
  }
  parts_.clear();
  attempt([&] { flush(); });
  end_ = std::min(end_, size_on_disk());
  attempt.rethrow();
}

// After a flush, which gives the file the size that is allotted: of what was set aside for chunks
// as they are, most is free again. With this driver HDF5 does not tell where its file ends.
std::int64_t TimeTarget::size_on_disk() const {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  struct stat status{};
  if (rank_ == 0 && ::fstat(plain_.raw(), &status) == 0) {
    bytes = status.st_size;
  }
  mpi::check(MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, writers_));
  return bytes;
}

void TimeTarget::flush() {
  const Quiet quiet;
  check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush", path_);
}

// Records of steps that failed, or in which others were put. What went through a filter has the
// fill value already.
void TimeTarget::fill_what_nobody_put(const Description& description) {
  std::set<std::pair<std::int64_t, int>> put;
  for (const auto& placed : description.contents) {
    put.emplace(placed.step, placed.variable.id);
  }
  constexpr std::int64_t part_bytes = std::int64_t{1} << 20;
  for (const auto& [id, growing] : datasets_) {
    const Variable& variable = growing->variable();
    const auto element_bytes = array::size_bytes(variable.type);
    const array::Box whole = array::whole(variable.shape);
    const std::int64_t all = array::elements(whole);
    const auto most =
        std::min<std::int64_t>(all, part_bytes / static_cast<std::int64_t>(element_bytes));
    std::vector<std::byte> values(static_cast<std::size_t>(most) * element_bytes);
    if (const auto& fill = variable.fill_value; fill && fill->values.size() == element_bytes) {
      for (std::size_t at = 0; at < values.size(); at += element_bytes) {
        std::memcpy(values.data() + at, fill->values.data(), element_bytes);
      }
    }
    for (std::int64_t step = 0; step < growing->records() && options_.deflate_level == 0; ++step) {
      for (std::int64_t first = 0; !put.contains({step, id}) && first < all; first += most) {
        for (const auto& box : sub_boxes(whole, first, std::min(most, all - first))) {
          growing->write(growing->select(step, {box}), array::elements(box), values.data(), false);
        }
      }
    }
  }
}

void TimeTarget::finish(const Description& description) {
  const Quiet quiet;
  std::int64_t attributes = cdf::ReservedRoom::size_of(description.attributes);
  for (const auto& of_variable : description.of_variable) {
    attributes += cdf::ReservedRoom::size_of(of_variable);
  }
  // All steps, whatever fails: each is collective, and the other writers will be in them.
  cdf::Attempts attempt;
  bool has_room = false;  // on all writers alike
  attempt([&] {
    reserve(2 * attributes, "make room for the attributes in");
    has_room = true;
  });
  if (rank_ == 0) {
    attempt([&] { fill_what_nobody_put(description); });
  }
  if (has_room) {
    attempt([&] {
      write_attributes(file_, description.attributes, path_);
      for (const auto& [id, growing] : datasets_) {
        const auto of_variable = static_cast<std::size_t>(id);
        if (of_variable < description.of_variable.size()) {
          write_attributes(growing->raw(), description.of_variable[of_variable], path_);
        }
      }
    });
  }
  datasets_.clear();
  attempt([&] { flush(); });
  attempt([&] { check(H5Fclose(file_), "close", path_); });
  file_ = H5I_INVALID_HID;
  attempt([&] {
    give_back_the_rest(plain_);
    if (::fsync(plain_.raw()) != 0) {
      throw failure("fsync", path_, errno);
    }
  });
  attempt.rethrow();
}

}  // namespace iocomp::storage::h5
