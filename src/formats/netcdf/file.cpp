#include "formats/netcdf/file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "formats/cdf/dimensions.h"
#include "formats/cdf/fill.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/netcdf/attributes.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

constexpr unsigned keeps_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

// netCDF lists variables and attributes in the order in which they were made.
h5::Properties ordered_file() {
  h5::Properties creation{H5Pcreate(H5P_FILE_CREATE)};
  H5Pset_link_creation_order(creation.raw(), keeps_order);
  H5Pset_attr_creation_order(creation.raw(), keeps_order);
  return creation;
}

h5::Properties ordered_dataset() {
  h5::Properties creation{H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_attr_creation_order(creation.raw(), keeps_order);
  return creation;
}

}  // namespace

NetcdfFile::NetcdfFile(std::string path, const FormatOptions& options)
    : RecordFile{std::move(path), options, ordered_file()},
      options_{options},
      one_step_{options.one_step} {}

std::int64_t NetcdfFile::place(const Variable& variable, std::int64_t step) {
  const h5::Quiet quiet;
  auto known = defined_.find(variable.id);
  if (known != defined_.end() && known->second.variable.shape != variable.shape) {
    h5::unlink(file().raw(), known->second.variable.name, file().path());
    defined_.erase(known);
    table_ = {};
    for (const auto& [id, other] : defined_) {
      (void)table_.add(other.variable, other.dimensions);
    }
    known = defined_.end();
  }
  Defined& defined = known == defined_.end() ? define(variable) : known->second;
  if (!one_step_ && !defined.dimensions.has_time) {
    if (defined.placed_in >= 0 && defined.placed_in != step) {
      throw once_only(variable, defined.placed_in, step);
    }
    defined.placed_in = step;
  }
  return defined.records ? defined.records->place(record_of(step)) : defined.offset;
}

void NetcdfFile::keep(const Variable& variable, std::int64_t step, std::vector<h5::Extent> chunks) {
  defined_.at(variable.id).records->keep(record_of(step), std::move(chunks));
}

NetcdfFile::Defined& NetcdfFile::define(const Variable& variable) {
  Defined defined{variable, dimensions_of(variable, one_step_), {}, {}};
  (void)table_.add(variable, defined.dimensions);
  // What netCDF calls unlimited has chunks, and so has what is empty: no other dimension has length
  // 0.
  if (grows(defined) || variable.bytes() == 0 || h5::TimeChunks{variable, options_}.is_filtered) {
    Variable filled = variable;  // for records that nobody puts
    filled.fill_value =
        Attribute{variable.type, false, fill_value(variable.type, variable.fill_value)};
    const h5::Time time = grows(defined)                ? h5::Time::grows
                          : defined.dimensions.has_time ? h5::Time::one
                                                        : h5::Time::none;
    defined.records = std::make_unique<h5::TimeDataset>(
        file(), filled, options_, netcdf_type(variable.type), ordered_dataset(), time);
  } else {
    create_once(defined);
  }
  return defined_.insert_or_assign(variable.id, std::move(defined)).first->second;
}

void NetcdfFile::create_once(Defined& defined) {
  const Variable& variable = defined.variable;
  const std::string action = "define the variable \"" + variable.name + "\" in";
  const h5::Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  const h5::Properties create = ordered_dataset();
  h5::let_others_write(create);
  const h5::Type type = netcdf_type(variable.type);
  if (variable.has_fill_value()) {
    h5::check(H5Pset_fill_value(create.raw(), type.raw(), variable.fill_value->values.data()),
              action, file().path());
  }
  std::vector<hsize_t> extent;
  if (defined.dimensions.has_time) {
    extent.push_back(1);
  }
  extent.insert(extent.end(), variable.shape.extent.begin(),
                variable.shape.extent.begin() + variable.shape.dimensions);
  const h5::Space space{
      extent.empty() ? H5Screate(H5S_SCALAR)
                     : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)};
  defined.once =
      h5::Dataset{h5::check(H5Dcreate2(file().raw(), variable.name.c_str(), type.raw(), space.raw(),
                                       link.raw(), create.raw(), H5P_DEFAULT),
                            action, file().path())};
  const haddr_t offset = H5Dget_offset(defined.once.raw());
  if (offset == HADDR_UNDEF) {
    h5::fail("find the offset of the variable \"" + variable.name + "\" in", file().path());
  }
  defined.offset = static_cast<std::int64_t>(offset);
}

// All variables have as many records; steps at the end that failed are cut off.
void NetcdfFile::finish_records(const Description& description) {
  std::map<int, std::set<std::int64_t>> put;
  for (const auto& placed : description.contents) {
    const auto known = defined_.find(placed.variable.id);
    if (known != defined_.end() && known->second.records) {
      put[placed.variable.id].insert(record_of(placed.step));
      records_ = grows(known->second) ? std::max(records_, placed.step + 1) : records_;
    }
  }
  for (const auto& [id, defined] : defined_) {
    if (defined.records) {
      defined.records->finish(put[id], records_);
    }
  }
}

void NetcdfFile::remove_what_nobody_put(const Description& description) {
  std::set<int> put;
  for (const auto& placed : description.contents) {
    put.insert(placed.variable.id);
  }
  std::erase_if(defined_, [&](const auto& entry) {
    const auto& [id, defined] = entry;
    if (grows(defined) || put.contains(id)) {
      return false;
    }
    h5::unlink(file().raw(), defined.variable.name, file().path());
    return true;
  });
}

std::vector<Scaled> NetcdfFile::with_dimensions() const {
  std::vector<Scaled> all;
  for (const auto& [id, defined] : defined_) {
    Scaled one{defined.variable.name, defined.dataset(), {}};
    if (defined.dimensions.has_time) {
      one.dimensions.push_back({time_name, one_step_ ? 1 : records_, !one_step_});
    }
    for (std::size_t d = 0; d < defined.dimensions.names.size(); ++d) {
      const std::int64_t extent = defined.variable.shape.extent.at(d);
      one.dimensions.push_back({defined.dimensions.names[d], extent, extent == 0});
    }
    all.push_back(std::move(one));
  }
  return all;
}

void NetcdfFile::finish(const Description& description) {
  const h5::Quiet quiet;
  finish_records(description);
  remove_what_nobody_put(description);
  add_dimensions(file().raw(), with_dimensions(), file().path());
  write_netcdf_attributes(file().raw(), without_dimensions(description.attributes), file().path());
  for (const auto& [id, defined] : defined_) {
    auto own = without_dimensions(attributes_of(id, description.of_variable));
    if (own.contains("_FillValue")) {
      // netCDF takes it when the variable is defined, and only then.
      own.erase("_FillValue");
      if (!defined.variable.has_fill_value()) {
        tell_of_left_out_fill_value(file().path(), defined.variable.name);
      }
    }
    if (defined.variable.has_fill_value()) {
      own.emplace("_FillValue", *defined.variable.fill_value);
    }
    write_netcdf_attributes(defined.dataset(), own, file().path());
  }
  defined_.clear();
  file().close();
}

}  // namespace iocomp::formats::cdf
