#include "formats/netcdf/target.h"

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/failure.h"
#include "formats/cdf/agree_on_names.h"
#include "formats/cdf/attempts.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/hdf5/room.h"
#include "formats/mpi_hints.h"
#include "formats/open_together.h"
#include "formats/sub_boxes.h"
#include "formats/words.h"
#include "mpi/error.h"

namespace iocomp::formats::cdf {
namespace {

// What metadata take at most, generously: room that is not used is given back.
constexpr std::int64_t file_bytes = std::int64_t{256} << 10;
constexpr std::int64_t variable_bytes = std::int64_t{64} << 10;
constexpr std::size_t small_chunk_bytes = 4096;
constexpr std::size_t largest_chunk_bytes = std::size_t{1} << 30;  // HDF5 takes less than 4 GiB

using Places = std::array<std::size_t, array::max_dimensions + 1>;

// One record, so that it lies in the file in one piece; several of small variables.
std::vector<std::size_t> chunk_of(const Variable& variable) {
  const auto bytes = static_cast<std::size_t>(variable.bytes());
  std::vector<std::size_t> chunk{std::max<std::size_t>(1, small_chunk_bytes / bytes)};
  std::size_t left = bytes;
  for (std::size_t d = 0; d < static_cast<std::size_t>(variable.shape.dimensions); ++d) {
    const auto extent = static_cast<std::size_t>(variable.shape.extent[d]);
    const std::size_t parts = (left + largest_chunk_bytes - 1) / largest_chunk_bytes;
    chunk.push_back(std::max<std::size_t>(1, (extent + parts - 1) / parts));
    left = left / extent * chunk.back();
  }
  return chunk;
}

}  // namespace

void NetcdfTarget::check(int code, const std::string& action) const {
  if (code != NC_NOERR) {
    throw Error{ErrorCode::storage_failure, "cannot " + action + ' ' + path_ +
                                                ": netCDF: " + nc_strerror(code) + "; " +
                                                cause_of_short_write(path_)};
  }
}

NetcdfTarget::NetcdfTarget(std::string path, const FormatOptions& options, MPI_Comm writers)
    : path_{std::move(path)},
      writers_{writers},
      one_step_{options.one_step},
      plain_{open_together(path_, writers)},
      room_{path_, plain_, writers} {
  mpi::check(MPI_Comm_rank(writers_, &rank_));
  reserve(file_bytes, "create");
  const MpiHints hints{options};
  check(nc_create_par(path_.c_str(), NC_CLOBBER | NC_NETCDF4, writers, hints.raw(), &file_),
        "create");
}

void NetcdfTarget::reserve(std::int64_t more_bytes, const std::string& action) {
  room_.reserve(wanted_ + more_bytes, action);
  wanted_ += more_bytes;
}

std::int64_t NetcdfTarget::place(const Variable& variable, std::int64_t step) {
  if (variable.bytes() == 0) {
    return -1;
  }
  const auto known = defined_.find(variable.id);
  Defined& defined =
      known == defined_.end() ? add(agree_on_names(variable, writers_)) : known->second;
  if (!one_step_ && !defined.has_time && defined.placed_in >= 0 && defined.placed_in != step) {
    throw once_only(variable, defined.placed_in, step);
  }
  defined.placed_in = step;
  if (!defined.chunk.empty()) {
    placed_.emplace(step, variable.id);
    if (step >= defined.records) {
      add_record(defined, step);
    }
  }
  return -1;
}

NetcdfTarget::Defined& NetcdfTarget::add(const Variable& variable) {
  const auto dimensions = dimensions_of(variable, one_step_);
  const auto numbers = table_.add(variable, dimensions);
  const std::string action = "define the variable \"" + variable.name + "\" in";
  Defined defined;
  defined.has_time = dimensions.has_time;
  defined.variable = variable;
  if (dimensions.has_time && !one_step_) {
    defined.chunk = chunk_of(variable);
  }
  reserve(variable_bytes + (defined.chunk.empty() ? variable.bytes() : 0), action);
  Attempts attempt;
  attempt([&] {
    const int code = nc_redef(file_);
    check(code == NC_EINDEFINE ? NC_NOERR : code, action);
  });
  attempt([&] {
    std::vector<int> used;
    define_dimensions(dimensions, numbers, used);
    define_variable(defined, used);
  });
  attempt([&] { check(nc_enddef(file_), action); });
  attempt.rethrow();
  return defined_.emplace(variable.id, std::move(defined)).first->second;
}

void NetcdfTarget::define_dimensions(const Dimensions& dimensions,
                                     const std::vector<std::size_t>& numbers,
                                     std::vector<int>& used) {
  if (dimensions.has_time) {
    if (time_ < 0) {
      check(nc_def_dim(file_, time_name, one_step_ ? 1 : NC_UNLIMITED, &time_),
            "define the dimension time in");
    }
    used.push_back(time_);
  }
  for (auto next = dimensions_.size(); next < table_.entries().size(); ++next) {
    const auto& entry = table_.entries()[next];
    int number = -1;
    check(nc_def_dim(file_, entry.name.c_str(), static_cast<std::size_t>(entry.length), &number),
          "define the dimension \"" + entry.name + "\" in");
    dimensions_.push_back(number);
  }
  for (const auto number : numbers) {
    used.push_back(dimensions_.at(number));
  }
}

void NetcdfTarget::define_variable(Defined& defined, const std::vector<int>& used) {
  const Variable& variable = defined.variable;
  const std::string action = "define the variable \"" + variable.name + "\" in";
  check(nc_def_var(file_, variable.name.c_str(), type_number(variable.type, "netcdf", action),
                   static_cast<int>(used.size()), used.data(), &defined.number),
        action);
  if (!used.empty()) {
    const int layout = defined.chunk.empty() ? NC_CONTIGUOUS : NC_CHUNKED;
    check(nc_def_var_chunking(file_, defined.number, layout, defined.chunk.data()), action);
  }
  check(nc_def_var_fill(file_, defined.number, NC_NOFILL, nullptr), action);
  // netCDF takes it before there are data, and only then.
  if (variable.has_fill_value()) {
    check(nc_put_att(file_, defined.number, "_FillValue",
                     type_number(variable.type, "netcdf", action), 1,
                     variable.fill_value->values.data()),
          action);
  }
}

void NetcdfTarget::put(const Defined& defined, std::int64_t step, const array::Box& part,
                       const std::byte* bytes) {
  Places start{};
  Places count{};
  std::size_t d = 0;
  if (defined.has_time) {
    start.at(d) = one_step_ ? 0 : static_cast<std::size_t>(step);
    count.at(d++) = 1;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(part.dimensions); ++i) {
    start.at(d) = static_cast<std::size_t>(part.start[i]);
    count.at(d++) = static_cast<std::size_t>(part.count[i]);
  }
  const std::array<std::byte, 2 * sizeof(double)> nothing{};
  if (bytes == nullptr) {
    count.fill(0);
    bytes = nothing.data();
  }
  check(nc_put_vara(file_, defined.number, start.data(), count.data(), bytes),
        "write to the variable \"" + defined.variable.name + "\" in");
}

void NetcdfTarget::write(const Placed& where, const Selection& selection,
                         std::span<const std::byte> bytes) {
  if (selection.count == 0) {
    return;
  }
  const Defined& defined = defined_.at(where.variable.id);
  for (const auto& part : sub_boxes(selection.box, selection.first, selection.count)) {
    put(defined, where.step, part, bytes.data());
    bytes = bytes.subspan(static_cast<std::size_t>(array::elements(part)) *
                          array::size_bytes(where.variable.type));
  }
}

void NetcdfTarget::write_together(const Placed& where, const array::Box& box,
                                  std::span<const std::byte> bytes) {
  const Defined& defined = defined_.at(where.variable.id);
  if (where.variable.shape.dimensions == 0 && !defined.has_time) {  // netCDF always writes it
    if (!bytes.empty()) {
      put(defined, where.step, box, bytes.data());
    }
    return;
  }
  const std::string action =
      "write collectively to the variable \"" + where.variable.name + "\" in";
  Attempts attempt;
  attempt([&] { check(nc_var_par_access(file_, defined.number, NC_COLLECTIVE), action); });
  attempt([&] { put(defined, where.step, box, bytes.empty() ? nullptr : bytes.data()); });
  attempt([&] { check(nc_var_par_access(file_, defined.number, NC_INDEPENDENT), action); });
  attempt.rethrow();
}

void NetcdfTarget::flush() {
  if (::fdatasync(plain_.raw()) != 0) {
    throw failure("fsync", path_, errno);
  }
}

void NetcdfTarget::put_attributes(int number, const Attributes& attributes) {
  for (const auto& [name, attribute] : without_dimensions(attributes)) {
    if (number != NC_GLOBAL && name == "_FillValue") {
      continue;  // since it was defined, or left out
    }
    const std::string action = "write the attribute \"" + name + "\" to";
    const auto* values = attribute.values.data();
    const auto count = static_cast<std::size_t>(attribute.count());
    check(attribute.is_text
              ? nc_put_att_text(file_, number, name.c_str(), count,
                                reinterpret_cast<const char*>(values))
              : nc_put_att(file_, number, name.c_str(), type_number(attribute.type, "netcdf", name),
                           count, values),
          action);
  }
}

void NetcdfTarget::finish(const Description& description) {
  // All steps, whatever fails: each is collective, and the other writers will be in them.
  Attempts attempt;
  bool has_room = false;  // on all writers alike
  attempt([&] {
    reserve(2 * ReservedRoom::size_of_attributes(description), "make room for the attributes in");
    has_room = true;
  });
  if (rank_ == 0) {
    attempt([&] { fill_what_nobody_put(description); });
  }
  if (has_room) {
    attempt([&] {
      put_attributes(NC_GLOBAL, description.attributes);
      for (const auto& [id, defined] : defined_) {
        const auto of_variable = static_cast<std::size_t>(id);
        if (of_variable < description.of_variable.size()) {
          const auto& own = description.of_variable[of_variable];
          if (own.contains("_FillValue") && !defined.variable.has_fill_value()) {
            tell_of_left_out_fill_value(path_, defined.variable.name);
          }
          put_attributes(defined.number, own);
        }
      }
    });
  }
  attempt([&] { check(nc_close(file_), "close"); });
  attempt([&] {
    h5::give_back_the_rest(plain_);
    if (::fsync(plain_.raw()) != 0) {
      throw failure("fsync", path_, errno);
    }
  });
  attempt.rethrow();
}

}  // namespace iocomp::formats::cdf
