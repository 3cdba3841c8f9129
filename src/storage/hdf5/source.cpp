#include "storage/hdf5/source.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/runs.h"
#include "base/error.h"
#include "storage/hdf5/dataset.h"
#include "storage/hdf5/error.h"
#include "storage/hdf5/handle.h"
#include "storage/hdf5/inventory.h"
#include "storage/hdf5/types.h"
#include "storage/plain_source.h"
#include "storage/source.h"

namespace iocomp::storage::h5 {
namespace {

using Extents = std::array<hsize_t, array::max_dimensions>;

Extents extents(const array::Extents& entries) {
  Extents all{};
  for (std::size_t d = 0; d < all.size(); ++d) {
    all.at(d) = static_cast<hsize_t>(entries.at(d));
  }
  return all;
}

// Of elements that lie in the file as in memory, one after another; -1 for all others.
std::int64_t raw_offset(hid_t dataset, hid_t element) {
  const Type stored{H5Dget_type(dataset)};
  const Properties created{H5Dget_create_plist(dataset)};
  const bool is_text = H5Tget_class(stored.raw()) == H5T_STRING;  // whose padding is no matter
  if ((!is_text && H5Tequal(stored.raw(), element) <= 0) ||
      H5Pget_layout(created.raw()) != H5D_CONTIGUOUS || H5Pget_external_count(created.raw()) != 0) {
    return -1;
  }
  const haddr_t offset = H5Dget_offset(dataset);
  return offset == HADDR_UNDEF ? -1 : static_cast<std::int64_t>(offset);
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

}  // namespace

Hdf5Source::Hdf5Source(std::string path) : path_{std::move(path)} {
  const Quiet quiet;
  file_ = File{check(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path_)};
}

Dataset Hdf5Source::open_dataset(const Placed& where) const {
  const std::string name = dataset_name(where.variable, where.step);
  Dataset dataset{H5Dopen2(file_.raw(), name.c_str(), H5P_DEFAULT)};
  if (dataset.raw() < 0 && where.step == 0) {  // of a file that knows no steps
    dataset = Dataset{H5Dopen2(file_.raw(), ('/' + where.variable.name).c_str(), H5P_DEFAULT)};
  }
  check(dataset.raw(), "open the dataset " + name + " in", path_);
  return dataset;
}

void Hdf5Source::check_shape(hid_t dataset, const Placed& where) const {
  const Space space{H5Dget_space(dataset)};
  const Stored wanted = stored_as(where.variable);
  const Type type{H5Dget_type(dataset)};
  const bool is_text = H5Tget_class(wanted.type.raw()) == H5T_STRING;
  const bool has_type = !is_text || (H5Tget_class(type.raw()) == H5T_STRING &&
                                     H5Tget_size(type.raw()) == H5Tget_size(wanted.type.raw()));
  const int dimensions = H5Sget_simple_extent_ndims(space.raw());
  Extents extent{};
  if (dimensions >= 0 && dimensions <= array::max_dimensions) {
    H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr);
  }
  if (!has_type || dimensions != wanted.shape.dimensions ||
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
  const Quiet quiet;
  const Dataset dataset = open_dataset(where);
  check_shape(dataset.raw(), where);
  const Type element = element_type(where.variable.type);
  Placed raw = where;
  raw.offset = raw_offset(dataset.raw(), element.raw());
  if (raw.offset >= 0) {
    if (!plain_) {
      plain_ = std::make_unique<PlainSource>(path_);
    }
    plain_->read(raw, box, to);
    return;
  }
  if (where.variable.type == array::ElementType::character) {
    read_text(dataset.raw(), where, box, to);
    return;
  }
  const Space in_file = selected(where.variable.shape, box);
  const Space in_memory = selected(to.memory.shape, to.memory.box);
  check(
      H5Dread(dataset.raw(), element.raw(), in_memory.raw(), in_file.raw(), H5P_DEFAULT, to.local),
      "read the variable \"" + where.variable.name + "\" from", path_);
}

// HDF5 reads whole strings only.
void Hdf5Source::read_text(hid_t dataset, const Placed& where, const array::Box& box,
                           const Destination& to) const {
  std::vector<std::byte> all(static_cast<std::size_t>(where.variable.bytes()));
  check(H5Dread(dataset, stored_as(where.variable).type.raw(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                all.data()),
        "read the variable \"" + where.variable.name + "\" from", path_);
  DenseBlock block{to, 1};
  std::byte* next = block.bytes();
  array::RunCursor cursor{where.variable.shape, box, 0, array::elements(box)};
  array::Run run;
  while (cursor.next(run)) {
    next = std::copy_n(all.begin() + run.index, run.elements, next);
  }
  block.scatter();
}

Inventory Hdf5Source::inventory() {
  const Quiet quiet;
  return inventory_of(file_.raw(), path_);
}

}  // namespace iocomp::storage::h5
