// SPDX-License-Identifier: BSD-3-Clause
#include "formats/netcdf/earlier_variables.h"

#include <hdf5.h>
#include <netcdf.h>

#include <cstddef>
#include <string>
#include <utility>

#include "array/box.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "contents/dimensions.h"
#include "formats/cdf/types.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/netcdf/dimension_scales.h"
#include "formats/netcdf/look.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
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

}  // namespace iocomp::formats::cdf
