// SPDX-License-Identifier: BSD-3-Clause
#include <hdf5.h>
#include <netcdf.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "contents/dimensions.h"
#include "formats/cdf/types.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/record_file.h"
#include "formats/hdf5/record_format.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/hdf5/types.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/netcdf/attributes.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/netcdf/look.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A variable of a NetCDF-4 file that earlier jobs have written.
struct EarlierVariable {
  h5::EarlierDataset dataset;  ///< its variable with the fill value
  contents::Dimensions dimensions;
};

/// The contents of a series of NetCDF-4 at the moment when a job goes on with it.
struct EarlierVariables {
  /// @throws Error{storage_failure}; Error{unsupported} where the file has what iocomp does not
  /// write.
  EarlierVariables(const Descriptor& opened, const std::string& path);

  std::vector<EarlierVariable> variables;         ///< in their order in the file
  Attributes attributes;                          ///< of the file
  std::map<std::string, Attributes> of_variable;  ///< by name
};

namespace {

class Opened {
 public:
  Opened(const Descriptor& opened, const std::string& path) {
    check_netcdf(nc_open(name_of(opened).c_str(), NC_NOWRITE, &number_), "open", path);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { nc_close(number_); }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_ = -1;
};

EarlierVariable variable_of(const Looked& looked, const Attributes& attributes,
                            const std::string& path) {
  EarlierVariable earlier;
  Variable& variable = earlier.dataset.variable;
  variable.name = looked.name;
  auto& dimensions = earlier.dimensions;
  auto type = type_of(looked.type);
  array::Extents extents{};
  for (const auto& dimension : looked.dimensions) {
    if (const auto complex = type ? complex_type(*type, dimension.name) : std::nullopt) {
      type = complex;
      break;
    }
    if (!dimensions.has_time && dimensions.names.empty() &&
        dimension.name == contents::time_dimension) {
      dimensions.has_time = true;
      continue;
    }
    if (dimensions.names.size() < array::max_dimensions) {
      extents.at(dimensions.names.size()) = dimension.length;
    }
    dimensions.names.push_back(dimension.name);
  }
  if (!type || dimensions.names.size() > array::max_dimensions) {
    throw Error{ErrorCode::unsupported, "cannot go on with " + path + ": its variable \"" +
                                            looked.name + "\" is none that iocomp writes"};
  }
  variable.type = *type;
  variable.shape = array::make_shape(static_cast<int>(dimensions.names.size()), extents.data());
  variable.fill_value = own_fill_value(*type, attributes);
  return earlier;
}

}  // namespace

EarlierVariables::EarlierVariables(const Descriptor& opened, const std::string& path) {
  {
    const Opened file{opened, path};
    int count = 0;
    check_netcdf(nc_inq_nvars(file.number(), &count), "look through", path);
    for (int number = 0; number < count; ++number) {
      const Looked looked = look_at(file.number(), number, path);
      auto own = attributes_in(file.number(), number, path);
      variables.push_back(variable_of(looked, own, path));
      of_variable.emplace(looked.name, std::move(own));
    }
    attributes = attributes_in(file.number(), NC_GLOBAL, path);
  }
  std::vector<Scaled> scaled;
  for (const auto& [dataset, dimensions] : variables) {
    scaled.push_back({dataset.variable.name, H5I_INVALID_HID, {}});
    if (dimensions.has_time) {
      scaled.back().dimensions.push_back({contents::time_dimension, 0, true});
    }
    for (const auto& name : dimensions.names) {
      scaled.back().dimensions.push_back({name, 0, false});
    }
  }
  const auto names = names_in_file(scaled);
  const h5::File file{
      h5::check(H5Fopen(name_of(opened).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path)};
  for (std::size_t i = 0; i < variables.size(); ++i) {
    auto& dataset = variables[i].dataset;
    auto variable = std::move(dataset.variable);
    dataset = h5::earlier_dataset(file.raw(), names[i], path);
    dataset.variable = std::move(variable);
  }
}

/// A NetCDF-4 file is an HDF5 file in which dimensions are datasets of their own: made with the
/// variables, when it is known which of them have the name of a dimension.
///
/// One that goes on keeps all variables of earlier jobs. Those with time get more records, or fill
/// values where this job does not put them. One without time stays as it is until this job puts it
/// again, to another place.
class NetcdfFile : public h5::RecordFile {
 public:
  NetcdfFile(const Path& path, const FormatOptions& options);

  void keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) override;

 private:
  struct Defined {
    Variable variable;
    contents::Dimensions dimensions;
    std::unique_ptr<h5::TimeDataset> records;  // where it has one per step, or is compressed
    std::int64_t offset = -1;                  // where not
    std::int64_t placed_in = -1;               // the one step of a variable without time
    std::int64_t put_in = -1;                  // the first step that has it
  };

  std::int64_t find_place(const Variable& variable, std::int64_t step) override;
  /// True if a variable has a record for each step of a file of all steps.
  [[nodiscard]] bool grows(const Defined& defined) const {
    return defined.dimensions.has_time && !one_step_;
  }
  [[nodiscard]] std::int64_t record_of(std::int64_t step) const { return one_step_ ? 0 : step; }
  void go_on(const EarlierVariable& earlier, int number);
  void check_that_it_goes_on(const Defined& earlier, const Variable& variable);
  [[nodiscard]] int number_of(const Variable& variable);
  Defined& defined(const Variable& variable);
  Defined& define(const Variable& variable);
  [[nodiscard]] std::unique_ptr<h5::TimeDataset> records_of(const Defined& defined);
  [[nodiscard]] h5::Dataset make_once(hid_t root, const std::string& name, const Defined& defined);
  [[nodiscard]] std::vector<Scaled::Dimension> dimensions(const Defined& defined) const;
  void write_attributes_of(hid_t dataset, const Variable& variable, const Told& told);

  std::vector<int> take_note(const Description& description, std::int64_t from) override;
  void end_datasets() override;
  [[nodiscard]] std::int64_t records(const h5::TimeDataset* /*dataset*/) const override {
    return records_;
  }
  [[nodiscard]] h5::Properties of_root() const override;
  [[nodiscard]] std::vector<Made> make(hid_t root, const Told& told) override;

  FormatOptions options_;
  bool one_step_;
  contents::DimensionTable table_;
  std::map<int, Defined> defined_;  // by id of the variable; negative: those of earlier jobs
  std::optional<EarlierVariables> earlier_;
  std::map<std::string, int> of_earlier_;  // their numbers
  std::int64_t records_ = 0;
};

namespace {

constexpr unsigned keeps_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

h5::Properties ordered_dataset() {
  h5::Properties creation{H5Pcreate(H5P_DATASET_CREATE)};
  H5Pset_attr_creation_order(creation.raw(), keeps_order);
  return creation;
}

}  // namespace

NetcdfFile::NetcdfFile(const Path& path, const FormatOptions& options)
    : RecordFile{path, options}, options_{options}, one_step_{options.one_step} {
  if (options.earlier_steps < 0) {
    return;
  }
  earlier_.emplace(plain(), this->path());
  int number = -static_cast<int>(earlier_->variables.size());
  for (const auto& earlier : earlier_->variables) {
    if (earlier.dimensions.has_time ||
        options.earlier_variables.contains(earlier.dataset.variable.name)) {
      go_on(earlier, number++);  // else it is of a step that is dropped
    }
  }
}

void NetcdfFile::go_on(const EarlierVariable& earlier, int number) {
  Defined defined{earlier.dataset.variable, earlier.dimensions, {}};
  defined.variable.id = number;
  defined.put_in = 0;
  (void)table_.add(defined.variable, defined.dimensions);
  if (earlier.dataset.chunk.empty()) {
    defined.offset = earlier.dataset.offset;
  } else {
    defined.records = records_of(defined);
    defined.records->go_on(earlier.dataset, options_);
  }
  if (grows(defined)) {
    records_ = std::max(records_, std::min(earlier.dataset.records, options_.earlier_steps));
  }
  of_earlier_.emplace(defined.variable.name, number);
  defined_.emplace(number, std::move(defined));
}

void NetcdfFile::check_that_it_goes_on(const Defined& earlier, const Variable& variable) {
  const auto dimensions = contents::dimensions_of(variable, one_step_);
  if (earlier.variable.type != variable.type || earlier.variable.shape != variable.shape ||
      earlier.dimensions.has_time != dimensions.has_time ||
      earlier.dimensions.names != dimensions.names) {
    throw Error{ErrorCode::unsupported, "cannot go on with the variable \"" + variable.name +
                                            "\" in " + path() +
                                            ": it has another type, shape, or other dimensions"};
  }
}

// A variable that earlier jobs have written once stays as it is, whatever this job puts under its
// name.
int NetcdfFile::number_of(const Variable& variable) {
  const auto found = of_earlier_.find(variable.name);
  if (found == of_earlier_.end()) {
    return variable.id;
  }
  const Defined& earlier = defined_.at(found->second);
  check_that_it_goes_on(earlier, variable);
  return grows(earlier) ? found->second : variable.id;
}

// netCDF lists variables and attributes in the order in which they were made.
h5::Properties NetcdfFile::of_root() const {
  h5::Properties creation{H5Pcreate(H5P_GROUP_CREATE)};
  H5Pset_link_creation_order(creation.raw(), keeps_order);
  H5Pset_attr_creation_order(creation.raw(), keeps_order);
  return creation;
}

std::int64_t NetcdfFile::find_place(const Variable& variable, std::int64_t step) {
  const auto known = defined_.find(number_of(variable));
  if (known != defined_.end() && known->second.variable.shape != variable.shape) {
    defined_.erase(known);
    table_ = {};
    for (const auto& [id, other] : defined_) {
      (void)table_.add(other.variable, other.dimensions);
    }
  }
  Defined& defined = this->defined(variable);
  if (!one_step_ && !defined.dimensions.has_time) {
    if (defined.placed_in >= 0 && defined.placed_in != step) {
      throw contents::once_only(variable, defined.placed_in, step);
    }
    defined.placed_in = step;
  }
  return defined.records ? defined.records->place(record_of(step)) : defined.offset;
}

void NetcdfFile::keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) {
  defined(variable).records->keep(record_of(step), std::move(chunks));
}

NetcdfFile::Defined& NetcdfFile::defined(const Variable& variable) {
  const auto known = defined_.find(number_of(variable));
  Defined& defined = known == defined_.end() ? define(variable) : known->second;
  defined.variable.id = variable.id;
  return defined;
}

std::unique_ptr<h5::TimeDataset> NetcdfFile::records_of(const Defined& defined) {
  Variable filled = defined.variable;  // for records that nobody puts
  filled.fill_value = Attribute{filled.type, false, fill_value(filled.type, filled.fill_value)};
  const h5::Time time = grows(defined)                ? h5::Time::grows
                        : defined.dimensions.has_time ? h5::Time::one
                                                      : h5::Time::none;
  return std::make_unique<h5::TimeDataset>(*this, filled, options_, time);
}

NetcdfFile::Defined& NetcdfFile::define(const Variable& variable) {
  Defined defined{variable, contents::dimensions_of(variable, one_step_), {}};
  (void)table_.add(variable, defined.dimensions);
  // A variable has chunks if it grows, is compressed, or is empty: netCDF allows length 0 in an
  // unlimited dimension only.
  if (grows(defined) || variable.bytes() == 0 || h5::TimeChunks{variable, options_}.is_filtered) {
    defined.records = records_of(defined);
  } else {
    defined.offset = h5::allot(raw(), variable.bytes());
  }
  return defined_.insert_or_assign(variable.id, std::move(defined)).first->second;
}

h5::Dataset NetcdfFile::make_once(hid_t root, const std::string& name, const Defined& defined) {
  const Variable& variable = defined.variable;
  const std::string action = "define the variable \"" + variable.name + "\" in";
  const h5::Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  const h5::Properties create = ordered_dataset();
  h5::let_others_write(create);
  const h5::Type type = netcdf_type(variable.type);
  if (variable.has_fill_value()) {
    h5::check(H5Pset_fill_value(create.raw(), type.raw(), variable.fill_value->values.data()),
              action, path());
  }
  std::vector<std::int64_t> extent;
  if (defined.dimensions.has_time) {
    extent.push_back(1);
  }
  extent.insert(extent.end(), variable.shape.extent.begin(),
                variable.shape.extent.begin() + variable.shape.dimensions);
  if (array::is_complex(variable.type)) {
    extent.push_back(2);
  }
  const h5::Space space = h5::space_of(extent);
  const h5::PlacedAt placed{raw(), defined.offset};
  h5::Dataset dataset{h5::check(H5Dcreate2(root, name.c_str(), type.raw(), space.raw(), link.raw(),
                                           create.raw(), H5P_DEFAULT),
                                action, path())};
  if (H5Dget_offset(dataset.raw()) != static_cast<haddr_t>(defined.offset)) {
    h5::fail("place the variable \"" + variable.name + "\" in", path());
  }
  return dataset;
}

// All variables that grow have as many records; steps at the end that failed are cut off.
std::vector<int> NetcdfFile::take_note(const Description& description, std::int64_t from) {
  std::map<int, std::set<std::int64_t>> put;
  records_ = std::min(records_, from);
  for (auto& [id, defined] : defined_) {
    defined.put_in = defined.put_in >= from ? -1 : defined.put_in;
  }
  std::set<std::string> put_again;  // they hide those that earlier jobs have put
  for (const auto& placed : description.contents) {
    Defined& defined = this->defined(placed.variable);  // where it has no elements nobody has asked
    defined.put_in = defined.put_in < 0 ? placed.step : defined.put_in;
    put[number_of(placed.variable)].insert(record_of(placed.step));
    records_ = grows(defined) ? std::max(records_, placed.step + 1) : records_;
  }
  for (const auto& [id, defined] : defined_) {
    if (id >= 0 && defined.put_in >= 0) {
      put_again.insert(defined.variable.name);
    }
  }
  std::vector<int> variables;
  for (auto& [id, defined] : defined_) {
    if (defined.records && (grows(defined) || put.contains(id))) {
      defined.records->tell(put[id], record_of(from), grows(defined) ? records_ : 0);
    }
    const bool is_hidden = id < 0 && put_again.contains(defined.variable.name);
    if (grows(defined) || (defined.put_in >= 0 && !is_hidden)) {
      variables.push_back(id);
    }
  }
  return variables;
}

void NetcdfFile::end_datasets() {
  for (auto& [id, defined] : defined_) {
    if (defined.records) {
      defined.records->end(records_);
    }
  }
}

std::vector<Scaled::Dimension> NetcdfFile::dimensions(const Defined& defined) const {
  std::vector<Scaled::Dimension> all;
  if (defined.dimensions.has_time) {
    all.push_back({contents::time_dimension, one_step_ ? 1 : 0, !one_step_});
  }
  for (std::size_t d = 0; d < defined.dimensions.names.size(); ++d) {
    const std::int64_t extent = defined.variable.shape.extent.at(d);
    all.push_back({defined.dimensions.names[d], extent, extent == 0});
  }
  if (array::is_complex(defined.variable.type)) {
    all.push_back({contents::complex_dimension, 2, false});
  }
  return all;
}

void NetcdfFile::write_attributes_of(hid_t dataset, const Variable& variable, const Told& told) {
  auto own = contents::attributes_of(variable.id, told.of_variable);
  if (earlier_ && earlier_->of_variable.contains(variable.name)) {
    const auto& before = earlier_->of_variable.at(variable.name);
    own.insert(before.begin(), before.end());
  }
  own.erase(contents::fill_attribute);  // of the one with which the dataset was made
  if (variable.has_fill_value()) {
    own.emplace(contents::fill_attribute, *variable.fill_value);
  }
  write_netcdf_attributes(dataset, attributes_in_file(own), path());
}

std::vector<h5::RecordFile::Made> NetcdfFile::make(hid_t root, const Told& told) {
  std::vector<Scaled> scaled;
  for (const auto id : told.variables) {
    const Defined& defined = defined_.at(id);
    scaled.push_back({defined.variable.name, H5I_INVALID_HID, dimensions(defined)});
  }
  const auto names = names_in_file(scaled);
  std::vector<Made> all;
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    const Defined& defined = defined_.at(told.variables[i]);
    all.push_back({defined.records
                       ? defined.records->make(root, names[i], netcdf_type(defined.variable.type),
                                               ordered_dataset())
                       : make_once(root, names[i], defined),
                   defined.records.get()});
    scaled[i].dataset = all.back().object.raw();
  }
  auto unlimited = add_dimensions(root, scaled, path());
  auto attributes = told.attributes;
  if (earlier_) {
    attributes.insert(earlier_->attributes.begin(), earlier_->attributes.end());
  }
  write_netcdf_attributes(root, attributes, path());
  for (std::size_t i = 0; i < told.variables.size(); ++i) {
    write_attributes_of(all[i].object.raw(), defined_.at(told.variables[i]).variable, told);
  }
  std::erase_if(all, [](const Made& made) { return made.dataset == nullptr; });
  for (auto& dimension : unlimited) {
    all.push_back({std::move(dimension), nullptr});
  }
  return all;
}

}  // namespace iocomp::formats::cdf

namespace iocomp::formats {
namespace {

const Format& netcdf(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  h5::make_zstd_known_to(reinterpret_cast<const void*>(&nc_open));
  static const h5::RecordFormats<cdf::NetcdfFile> all{
      {.rules = rules::netcdf, .extension = ".nc", .goes_on = true},
      &FormatOptions::splits_complex_numbers};
  return all.of(options);
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version,
    &iocomp::formats::netcdf};
