// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/plugins.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/types.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/library_file.h"
#include "formats/padded_texts.h"
#include "formats/plain_source.h"
#include "formats/sources.h"

namespace iocomp::formats::h5 {

/// Reads datasets by the serial driver, so independently of other ranks. Contiguous ones of native
/// elements are read without the library, which tells only where they begin; of these, any number
/// of threads read at a time. Files that iocomp did not write are read too: see `inventory_of`.
class Hdf5Source : public Source {
 public:
  /// @throws Error{storage_failure}.
  Hdf5Source(const Path& path, std::mutex& library);
  ~Hdf5Source() override;

  void newest_step_is(std::int64_t number) override;
  void read(const Placed& where, const array::Box& box, const Destination& to) override;
  [[nodiscard]] Whereabouts whereabouts(const Placed& where) override;
  /// HDF5 opens no file that ends early.
  [[nodiscard]] bool is_whole(std::span<const Placed> /*contents*/) override { return true; }
  [[nodiscard]] bool is_of_netcdf() override;

 private:
  [[nodiscard]] Inventory look_through() override;
  struct Found {
    Dataset dataset;
    bool has_time = false;   ///< one more dimension in front, for the steps
    bool has_texts = false;  ///< its elements are texts, and their length is the last dimension
    std::string member{};    ///< of its compounds; empty: there are none
  };
  [[nodiscard]] std::int64_t read_by_library(const Placed& where, const array::Box& box,
                                             const Destination& to) const;
  [[nodiscard]] Found open_dataset(const Placed& where) const;
  [[nodiscard]] Dataset open_of_adios2(const Placed& where) const;
  [[nodiscard]] Found open_at_root(const Variable& variable) const;
  [[nodiscard]] Found open_member(const std::string& name, bool has_texts) const;
  void read_text(const Found& found, const Placed& where, const array::Box& box,
                 const Destination& to) const;
  [[nodiscard]] static Type stored_type(const Found& found);
  [[nodiscard]] static Type in_memory_as(const Found& found, hid_t element);
  void check_shape(const Found& found, const Placed& where) const;

  std::string path_;
  bool is_by_number_ = true;  // groups of steps are called so
  std::mutex& library_;
  File file_;
  std::optional<LibraryFile> opened_;
  std::unique_ptr<PlainSource> plain_;  // of the same file
};

namespace {

using Extents = std::array<hsize_t, array::max_dimensions + 1>;  // the last one is for time

Extents extents(const array::Extents& entries) {
  Extents all{};
  for (std::size_t d = 0; d < entries.size(); ++d) {
    all.at(d) = static_cast<hsize_t>(entries.at(d));
  }
  return all;
}

// The offset of elements that lie in the file as in memory, one after another; -1 for all others.
std::int64_t raw_offset(hid_t dataset, hid_t element) {
  const Type stored{H5Dget_type(dataset)};
  const Properties created{H5Dget_create_plist(dataset)};
  const bool is_text =  // whose padding is no matter
      H5Tget_class(stored.raw()) == H5T_STRING && !is_any_text(stored.raw());
  if ((!is_text && H5Tequal(stored.raw(), element) <= 0) ||
      H5Pget_layout(created.raw()) != H5D_CONTIGUOUS || H5Pget_external_count(created.raw()) != 0) {
    return -1;
  }
  const haddr_t offset = H5Dget_offset(dataset);
  return offset == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(offset);
}

// HDF5 would turn the blanks at the end of a text into zeros, and UTF-8 is not turned into ASCII.
void keep_padding(hid_t element, hid_t stored) {
  if (H5Tget_class(element) == H5T_STRING && !is_any_text(stored)) {
    H5Tset_strpad(element, H5Tget_strpad(stored));
    H5Tset_cset(element, H5Tget_cset(stored));
  }
}

Space selected(const array::Shape& shape, const array::Box& box) {
  if (shape.dimensions == 0) {
    return Space{H5Screate(H5S_SCALAR)};
  }
  const Extents all = extents(shape.extent);
  const Extents start = extents(box.start);
  const Extents count = extents(box.count);
  Space space{H5Screate_simple(shape.dimensions, all.data(), nullptr)};
  H5Sselect_hyperslab(space.raw(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  return space;
}

Space selected_of_step(hid_t dataset, std::int64_t step, const array::Box& box) {
  Extents start = extents(box.start);
  Extents count = extents(box.count);
  std::rotate(start.begin(), start.end() - 1, start.end());
  std::rotate(count.begin(), count.end() - 1, count.end());
  start[0] = static_cast<hsize_t>(step);
  count[0] = 1;
  Space space{H5Dget_space(dataset)};
  H5Sselect_hyperslab(space.raw(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  return space;
}

// HDF5 names a filter that it does not find in the midst of its errors.
void check_read(herr_t status, hid_t dataset, const std::string& action, const std::string& path) {
  const Outcome read = outcome_of([&] { check(status, action, path); });
  if (read.ok()) {
    return;
  }
  const Properties created{H5Dget_create_plist(dataset)};
  const int filters = H5Pget_nfilters(created.raw());
  for (int i = 0; i < filters; ++i) {
    std::array<char, 256> name{};
    unsigned flags = 0;
    std::size_t values = 0;
    const auto number = H5Pget_filter2(created.raw(), static_cast<unsigned>(i), &flags, &values,
                                       nullptr, name.size(), name.data(), nullptr);
    if (number >= 0 && H5Zfilter_avail(number) <= 0) {
      const std::string called = name.data();
      throw Error{ErrorCode::unsupported,
                  "cannot " + action + ' ' + path + ": HDF5 does not find the filter " +
                      std::to_string(number) + (called.empty() ? "" : " (" + called + ')') + "; " +
                      where_plugins_are};
    }
  }
  read.throw_unless_ok();
}

}  // namespace

Hdf5Source::Hdf5Source(const Path& path, std::mutex& library)
    : path_{path.text()}, library_{library} {
  const std::lock_guard lock{library_};
  const Quiet quiet;
  opened_.emplace(
      path, LibraryFile::Calls{[this](const Descriptor& file) {
                                 file_ = File{check(
                                     H5Fopen(name_of(file).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
                                     "open", path_)};
                               },
                               [this] { file_ = File{}; }});
  plain_ = std::make_unique<PlainSource>(opened_->file(), path_);
}

Hdf5Source::~Hdf5Source() {
  const std::lock_guard lock{library_};
  opened_.reset();
}

void Hdf5Source::newest_step_is(std::int64_t number) {
  const std::lock_guard lock{library_};
  const Quiet quiet;
  opened_->look([&] { is_by_number_ = are_called_by_number(file_.raw(), number); });
}

// Along time, or in a file of one step.
Hdf5Source::Found Hdf5Source::open_at_root(const Variable& variable) const {
  Found found{Dataset{H5Dopen2(file_.raw(), root_dataset_name(variable).c_str(), H5P_DEFAULT)}};
  if (found.dataset.raw() < 0) {
    return found;
  }
  const int dimensions = H5Sget_simple_extent_ndims(Space{H5Dget_space(found.dataset.raw())}.raw());
  // Earlier files along time have characters one by one: an axis for the steps, one for these.
  found.has_texts = holds_texts(variable) && dimensions <= variable.shape.dimensions;
  found.has_time = dimensions == variable.shape.dimensions + (found.has_texts ? 0 : 1);
  return found;
}

// "table.x" is the member x of the compounds in the dataset table.
Hdf5Source::Found Hdf5Source::open_member(const std::string& name, bool has_texts) const {
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    Dataset dataset{H5Dopen2(file_.raw(), name.substr(0, dot).c_str(), H5P_DEFAULT)};
    const std::string member = name.substr(dot + 1);
    const Type stored{dataset.raw() < 0 ? H5I_INVALID_HID : H5Dget_type(dataset.raw())};
    if (stored.raw() >= 0 && H5Tget_class(stored.raw()) == H5T_COMPOUND &&
        H5Tget_member_index(stored.raw(), member.c_str()) >= 0) {
      return {std::move(dataset), false, has_texts, member};
    }
  }
  return {};
}

// A file of one step has it as its first, whatever its number.
Dataset Hdf5Source::open_of_adios2(const Placed& where) const {
  const auto name_in = [](std::int64_t step) {
    return '/' + std::string{adios2_group} + std::to_string(step);
  };
  const auto is_there = [&](std::int64_t step) {
    return H5Lexists(file_.raw(), name_in(step).c_str(), H5P_DEFAULT) > 0;
  };
  H5G_info_t root{};
  const bool has_others = H5Gget_info(file_.raw(), &root) < 0 || root.nlinks > 1;
  const std::int64_t step = is_there(where.step) || has_others ? where.step : 0;
  return is_there(step)
             ? Dataset{H5Dopen2(file_.raw(), (name_in(step) + '/' + where.variable.name).c_str(),
                                H5P_DEFAULT)}
             : Dataset{};
}

// Groups may be called as steps are where they are none. Then the inventory decides by all of them.
Hdf5Source::Found Hdf5Source::open_dataset(const Placed& where) const {
  const std::string name =
      dataset_name(where.variable, is_by_number_ ? where.number_of_step() : where.step);
  Found found{Dataset{H5Dopen2(file_.raw(), name.c_str(), H5P_DEFAULT)}, false,
              holds_texts(where.variable)};
  if (found.dataset.raw() < 0) {
    found.dataset = open_of_adios2(where);
  }
  Found at_root = open_at_root(where.variable);
  if (at_root.dataset.raw() >= 0 &&
      (found.dataset.raw() < 0 || !has_groups_of_steps(file_.raw(), path_))) {
    found = std::move(at_root);
  }
  if (found.dataset.raw() < 0) {
    found = open_member(name, holds_texts(where.variable));
  }
  if (found.dataset.raw() < 0) {
    found = open_member(root_dataset_name(where.variable), holds_texts(where.variable));
  }
  check(found.dataset.raw(), "open the dataset " + name + " in", path_);
  return found;
}

Type Hdf5Source::stored_type(const Found& found) {
  Type whole{H5Dget_type(found.dataset.raw())};
  if (found.member.empty()) {
    return whole;
  }
  const int member = H5Tget_member_index(whole.raw(), found.member.c_str());
  return Type{H5Tget_member_type(whole.raw(), static_cast<unsigned>(member))};
}

void Hdf5Source::check_shape(const Found& found, const Placed& where) const {
  const hid_t dataset = found.dataset.raw();
  const Space space{H5Dget_space(dataset)};
  const Stored wanted = found.has_texts
                            ? stored_as(where.variable)
                            : Stored{element_type(where.variable.type), where.variable.shape};
  const Type type = stored_type(found);
  const bool is_text = H5Tget_class(wanted.type.raw()) == H5T_STRING;
  const bool has_type = !is_text || is_any_text(type.raw()) ||
                        (H5Tget_class(type.raw()) == H5T_STRING &&
                         H5Tget_size(type.raw()) == H5Tget_size(wanted.type.raw()));
  const int dimensions = H5Sget_simple_extent_ndims(space.raw());
  Extents extent{};
  if (dimensions >= 0 && dimensions <= array::max_dimensions + 1) {
    H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr);
  }
  bool is_whole = true;
  if (found.has_time) {
    is_whole = where.step >= 0 && extent[0] > static_cast<hsize_t>(where.step);
    std::rotate(extent.begin(), extent.begin() + 1, extent.end());
    extent.back() = 0;
  }
  if (!is_whole || !has_type || dimensions != wanted.shape.dimensions + (found.has_time ? 1 : 0) ||
      extent != extents(wanted.shape.extent)) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path_ + ": the dataset of the variable \"" + where.variable.name +
                    "\" in step " + std::to_string(where.step) + " does not have the shape " +
                    array::text(where.variable.shape)};
  }
}

void Hdf5Source::read(const Placed& where, const array::Box& box, const Destination& to) {
  if (array::elements(box) == 0) {
    return;
  }
  Placed raw = where;
  {
    const std::lock_guard lock{library_};
    opened_->look([&] { raw.offset = read_by_library(where, box, to); });
  }
  if (raw.offset >= 0) {
    plain_->read(raw, box, to);
  }
}

Whereabouts Hdf5Source::whereabouts(const Placed& where) {
  const std::lock_guard lock{library_};
  const Quiet quiet;
  Whereabouts told;
  opened_->look([&] {
    const Found found = open_dataset(where);
    check_shape(found, where);
    if (!found.member.empty() || is_any_text(stored_type(found).raw())) {
      throw Error{ErrorCode::unsupported, "the values of \"" + where.variable.name +
                                              "\" do not lie one after another in " + path_};
    }
    const auto length = check(H5Iget_name(found.dataset.raw(), nullptr, 0), "look into", path_);
    std::string name(static_cast<std::size_t>(length), '\0');
    H5Iget_name(found.dataset.raw(), name.data(), name.size() + 1);
    told = {.dataset = std::move(name), .record = found.has_time ? where.step : -1};
  });
  return told;
}

// HDF5 reads only those members of a compound that the type in memory has.
Type Hdf5Source::in_memory_as(const Found& found, hid_t element) {
  if (found.member.empty()) {
    return Type{H5Tcopy(element)};
  }
  Type type{H5Tcreate(H5T_COMPOUND, H5Tget_size(element))};
  H5Tinsert(type.raw(), found.member.c_str(), 0, element);
  return type;
}

// @return where the elements of the step begin that nobody needs the library for; -1 if they were
// read.
std::int64_t Hdf5Source::read_by_library(const Placed& where, const array::Box& box,
                                         const Destination& to) const {
  const Quiet quiet;
  const Found found = open_dataset(where);
  check_shape(found, where);
  const Dataset& dataset = found.dataset;
  const Type element = element_type(where.variable.type);
  if (const auto offset = raw_offset(dataset.raw(), element.raw()); offset >= 0) {
    return offset + (found.has_time ? where.step * where.variable.bytes() : 0);
  }
  if (found.has_texts) {
    read_text(found, where, box, to);
    return -1;
  }
  keep_padding(element.raw(), stored_type(found).raw());
  const Space in_file = found.has_time ? selected_of_step(dataset.raw(), where.step, box)
                                       : selected(where.variable.shape, box);
  const Space in_memory = selected(to.memory.shape, to.memory.box);
  const Type wanted = in_memory_as(found, element.raw());
  const auto status =
      H5Dread(dataset.raw(), wanted.raw(), in_memory.raw(), in_file.raw(), H5P_DEFAULT, to.local);
  check_read(status, dataset.raw(), "read the variable \"" + where.variable.name + "\" from",
             path_);
  return -1;
}

// HDF5 reads whole strings only.
void Hdf5Source::read_text(const Found& found, const Placed& where, const array::Box& box,
                           const Destination& to) const {
  const hid_t dataset = found.dataset.raw();
  const Stored stored = stored_as(where.variable);
  const Space in_file = found.has_time
                            ? selected_of_step(dataset, where.step,
                                               {stored.shape.dimensions, {}, stored.shape.extent})
                            : Space{H5Dget_space(dataset)};
  const auto texts = static_cast<hsize_t>(array::elements(stored.shape));
  const Space in_memory{H5Screate_simple(1, &texts, nullptr)};
  std::vector<std::byte> all(static_cast<std::size_t>(where.variable.bytes()));
  const std::string action = "read the variable \"" + where.variable.name + "\" from";
  const Type in_dataset = stored_type(found);
  if (is_any_text(in_dataset.raw())) {
    all = pad_texts(AnyTexts{dataset, in_file.raw(), texts, path_}.texts(),
                    H5Tget_size(stored.type.raw()));
  } else {
    keep_padding(stored.type.raw(), in_dataset.raw());
    const auto status = H5Dread(dataset, in_memory_as(found, stored.type.raw()).raw(),
                                in_memory.raw(), in_file.raw(), H5P_DEFAULT, all.data());
    check_read(status, dataset, action, path_);
  }
  DenseBlock{to, 1}.scatter_of(all.data(), where.variable.shape, box);
}

bool Hdf5Source::is_of_netcdf() {
  const std::lock_guard lock{library_};
  const Quiet quiet;
  bool is_one = false;
  opened_->look([&] { is_one = h5::is_of_netcdf(file_.raw()); });
  return is_one;
}

Inventory Hdf5Source::look_through() {
  const std::lock_guard lock{library_};
  const Quiet quiet;
  Inventory inventory;
  opened_->look([&] { inventory = inventory_of(file_.raw(), path_); });
  return inventory;
}

namespace {

std::unique_ptr<Source> open_source(const Path& path, std::mutex& library) {
  {
    const std::lock_guard lock{library};
    static const std::string checked = library_version();
    make_zstd_known();
  }
  return std::make_unique<Hdf5Source>(path, library);
}

}  // namespace

}  // namespace iocomp::formats::h5

extern "C" __attribute__((visibility("default"))) const iocomp_source_entry iocomp_source{
    iocomp_source_interface_version, &iocomp::formats::h5::library_version,
    &iocomp::formats::h5::open_source};
