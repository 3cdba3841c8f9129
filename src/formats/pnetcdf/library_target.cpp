#include "formats/pnetcdf/library_target.h"

#include <mpi.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/write_plainly.h"
#include "formats/cdf/agree_on_names.h"
#include "formats/cdf/attempts.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/fill.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/hdf5/room.h"
#include "formats/mpi_hints.h"
#include "formats/open_together.h"
#include "formats/pnetcdf/header.h"
#include "formats/pnetcdf/mpi_type.h"
#include "formats/sub_boxes.h"
#include "formats/words.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::formats::cdf {
namespace {

constexpr std::int64_t header_room_bytes = std::int64_t{64} << 10;
constexpr std::int64_t records_field = 4;  // its offset in the header

}  // namespace

void LibraryTarget::check(int code, const std::string& action) const {
  if (code != NC_NOERR) {
    throw Error{ErrorCode::storage_failure, "cannot " + action + ' ' + path_ +
                                                ": PnetCDF: " + ncmpi_strerror(code) + "; " +
                                                cause_of_short_write(path_)};
  }
}

LibraryTarget::LibraryTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)},
      writers_{writers},
      alignment_{std::max<std::int64_t>(options.alignment_bytes, 4)},
      one_step_{options.one_step},
      plain_{open_together(path_, writers)},
      room_{path_, plain_, writers},
      fixed_bytes_{4 * header_room_bytes} {
  reserve(0, "create");
  FormatOptions asked = options;
  // The memory is not ours to swap in.
  asked.hints.emplace_back("nc_in_place_swap", "disable");
  const MpiHints hints{asked};
  check(ncmpi_create(writers, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, hints.raw(), &file_),
        "create");
  check(ncmpi_enddef(file_), "create");
  check(ncmpi_begin_indep_data(file_), "create");
}

std::int64_t LibraryTarget::place(const Variable& variable, std::int64_t step) {
  if (variable.bytes() == 0) {
    return -1;
  }
  if (!defined_.contains(variable.id)) {
    add(agree_on_names(variable, writers_));
  }
  Defined& defined = defined_.at(variable.id);
  if (!one_step_ && !defined.has_time && defined.placed_in >= 0 && defined.placed_in != step) {
    throw once_only(variable, defined.placed_in, step);
  }
  defined.placed_in = step;
  if (defined.has_records) {
    records_ = std::max(records_, step + 1);
    reserve(0, "make room for step " + std::to_string(step) + " of the variable \"" +
                   variable.name + "\" in");
  }
  return -1;
}

void LibraryTarget::reserve(std::int64_t more_bytes, const std::string& action) {
  room_.reserve(fixed_bytes_ + records_ * record_bytes_ + more_bytes, action);
}

void LibraryTarget::add(const Variable& variable) {
  const auto dimensions = dimensions_of(variable, one_step_);
  const auto numbers = table_.add(variable, dimensions);
  const std::string action = "define the variable \"" + variable.name + "\" in";
  Defined defined{-1, dimensions.has_time && !one_step_, dimensions.has_time, -1, variable};
  (defined.has_records ? record_bytes_ : fixed_bytes_) += padded(variable.bytes()) + alignment_;
  reserve(0, action);
  Attempts attempt;
  attempt([&] { check(ncmpi_end_indep_data(file_), action); });
  attempt([&] { check(ncmpi_redef(file_), action); });
  attempt([&] {
    std::vector<int> used;
    if (dimensions.has_time) {
      if (time_ < 0) {
        check(ncmpi_def_dim(file_, time_name, one_step_ ? 1 : NC_UNLIMITED, &time_), action);
      }
      used.push_back(time_);
    }
    for (auto next = dimensions_.size(); next < table_.entries().size(); ++next) {
      const auto& entry = table_.entries()[next];
      int number = -1;
      check(ncmpi_def_dim(file_, entry.name.c_str(), entry.length, &number), action);
      dimensions_.push_back(number);
    }
    for (const auto number : numbers) {
      used.push_back(dimensions_.at(number));
    }
    check(ncmpi_def_var(file_, variable.name.c_str(),
                        type_number(variable.type, "pnetcdf", variable.name),
                        static_cast<int>(used.size()), used.data(), &defined.number),
          action);
    if (variable.has_fill_value()) {  // PnetCDF takes it before there are data, and only then
      check(ncmpi_put_att(file_, defined.number, "_FillValue",
                          type_number(variable.type, "pnetcdf", variable.name), 1,
                          variable.fill_value->values.data()),
            action);
    }
  });
  attempt(
      [&] { check(ncmpi__enddef(file_, header_room_bytes, alignment_, 0, alignment_), action); });
  attempt([&] { check(ncmpi_begin_indep_data(file_), action); });
  // It may have moved what there is of the records, on some writers only.
  mpi::gate(writers_, {}, "the other writers of a variable's room");
  attempt.rethrow();
  defined_.emplace(variable.id, std::move(defined));
}

void LibraryTarget::write(const Placed& where, const Selection& selection,
                          std::span<const std::byte> bytes) {
  if (selection.count == 0) {
    return;
  }
  const Defined& defined = defined_.at(where.variable.id);
  const std::string action = "write to the variable \"" + where.variable.name + "\" in";
  const auto element_bytes = array::size_bytes(where.variable.type);
  for (const auto& box : sub_boxes(selection.box, selection.first, selection.count)) {
    const Part part = part_of(defined, where.step, box);
    const std::int64_t all = array::elements(box);
    check(ncmpi_put_vara(file_, defined.number, part.start.data(), part.count.data(), bytes.data(),
                         all, mpi_type(where.variable.type)),
          action);
    bytes = bytes.subspan(static_cast<std::size_t>(all) * element_bytes);
  }
}

LibraryTarget::Part LibraryTarget::part_of(const Defined& defined, std::int64_t step,
                                           const array::Box& box) {
  Part part;
  std::size_t d = 0;
  if (defined.has_time) {
    part.start.at(d) = defined.has_records ? step : 0;
    part.count.at(d++) = 1;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(box.dimensions); ++i) {
    part.start.at(d) = box.start[i];
    part.count.at(d++) = box.count[i];
  }
  return part;
}

void LibraryTarget::write_together(const Placed& where, const array::Box& box,
                                   std::span<const std::byte> bytes) {
  const Defined& defined = defined_.at(where.variable.id);
  if (where.variable.shape.dimensions == 0 && !defined.has_time) {  // PnetCDF always writes it
    write(where, {box, 0, bytes.empty() ? 0 : 1}, bytes);
    return;
  }
  const std::string action =
      "write collectively to the variable \"" + where.variable.name + "\" in";
  Part part = part_of(defined, where.step, box);
  if (bytes.empty()) {
    part.count.fill(0);
  }
  Attempts attempt;
  attempt([&] { check(ncmpi_end_indep_data(file_), action); });
  attempt([&] {
    check(ncmpi_put_vara_all(file_, defined.number, part.start.data(), part.count.data(),
                             bytes.data(), bytes.empty() ? 0 : array::elements(box),
                             mpi_type(where.variable.type)),
          action);
  });
  attempt([&] { check(ncmpi_begin_indep_data(file_), action); });
  attempt.rethrow();
}

void LibraryTarget::flush() {
  if (::fdatasync(plain_.raw()) != 0) {
    throw failure("fsync", path_, errno);
  }
}

void LibraryTarget::put_attributes(int number, const Attributes& attributes) {
  for (const auto& [name, attribute] : without_dimensions(attributes)) {
    if (number != NC_GLOBAL && name == "_FillValue") {
      continue;  // since it was defined, or left out
    }
    const std::string action = "write the attribute \"" + name + "\" to";
    const auto* values = attribute.values.data();
    check(attribute.is_text ? ncmpi_put_att_text(file_, number, name.c_str(), attribute.count(),
                                                 reinterpret_cast<const char*>(values))
                            : ncmpi_put_att(file_, number, name.c_str(),
                                            type_number(attribute.type, "pnetcdf", name),
                                            attribute.count(), values),
          action);
  }
}

void LibraryTarget::finish(const Description& description) {
  // All steps, whatever fails: each is collective, and the other writers will be in them.
  Attempts attempt;
  bool has_room = false;  // on all writers alike
  attempt([&] {
    reserve(2 * ReservedRoom::size_of_attributes(description), "make room for the attributes in");
    has_room = true;
  });
  attempt([&] { check(ncmpi_end_indep_data(file_), "end"); });
  attempt([&] { check(ncmpi_redef(file_), "end"); });
  attempt([&] {
    if (!has_room) {
      return;
    }
    put_attributes(NC_GLOBAL, description.attributes);
    for (const auto& [id, defined] : defined_) {
      const auto own = attributes_of(id, description.of_variable);
      if (own.contains("_FillValue") && !defined.variable.has_fill_value()) {
        tell_of_left_out_fill_value(path_, defined.variable.name);
      }
      put_attributes(defined.number, own);
    }
  });
  attempt(
      [&] { check(ncmpi__enddef(file_, header_room_bytes, alignment_, 0, alignment_), "end"); });
  MPI_Offset record_bytes = 0;
  std::map<int, std::int64_t> begins;
  attempt([&] {
    check(ncmpi_inq_recsize(file_, &record_bytes), "end");
    for (const auto& [id, defined] : defined_) {
      MPI_Offset begin = 0;
      check(ncmpi_inq_varoffset(file_, defined.number, &begin), "end");
      begins[id] = begin;
    }
  });
  attempt([&] { check(ncmpi_close(file_), "close"); });
  mpi::gate(writers_, {},
            "the other writers of the end of a file");  // from here on the file is one writer's
  int rank = 0;
  mpi::check(MPI_Comm_rank(writers_, &rank));
  if (rank == 0) {
    attempt([&] { end_the_file(description, record_bytes, begins); });
    h5::give_back_the_rest(plain_);
  }
  attempt([&] {
    if (::fsync(plain_.raw()) != 0) {
      throw failure("fsync", path_, errno);
    }
  });
  attempt.rethrow();
}

// Steps that failed may have made records too many, and left parts of others out. PnetCDF leaves a
// file as short as what was put into it, and readers take what they find in memory for the rest.
void LibraryTarget::end_the_file(const Description& description, std::int64_t record_bytes,
                                 const std::map<int, std::int64_t>& begins) const {
  std::set<std::pair<std::int64_t, int>> put;
  std::int64_t records = 0;
  for (const auto& placed : description.contents) {
    const auto defined = defined_.find(placed.variable.id);
    if (defined != defined_.end() && defined->second.has_records) {
      put.emplace(placed.step, placed.variable.id);
      records = std::max(records, placed.step + 1);
    }
  }
  std::int64_t end = 0;
  for (const auto& [id, defined] : defined_) {
    if (!defined.has_records || records > 0) {
      const std::int64_t begin =
          begins.at(id) + (defined.has_records ? (records - 1) * record_bytes : 0);
      end = std::max(end, begin + padded(defined.variable.bytes()));
    }
  }
  grow(end);
  for (const auto& [id, defined] : defined_) {
    for (std::int64_t step = 0; defined.has_records && step < records; ++step) {
      if (!put.contains({step, id})) {
        fill(plain_, path_, begins.at(id) + step * record_bytes, defined.variable.bytes(),
             defined.variable.type, std::endian::big, attributes_of(id, description.of_variable));
      }
    }
  }
  std::array<std::byte, sizeof(std::int64_t)> field{};
  for (std::size_t i = 0; i < field.size(); ++i) {
    field.at(i) = static_cast<std::byte>(
        static_cast<std::uint64_t>(records) >> (8 * (field.size() - 1 - i)) & 0xffU);
  }
  write_plainly(plain_, records_field, field, path_);
}

void LibraryTarget::grow(std::int64_t bytes) const {
  struct stat status{};
  if (::fstat(plain_.raw(), &status) != 0 ||
      (status.st_size < bytes && ::ftruncate(plain_.raw(), bytes) != 0)) {
    throw failure("set the size of", path_, errno);
  }
}

}  // namespace iocomp::formats::cdf
