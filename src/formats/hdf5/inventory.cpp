// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/inventory.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/error.h"
#include "contents/description.h"
#include "contents/variable.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/types.h"
#include "formats/source.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

std::optional<std::int64_t> step_number(std::string_view name) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool is_one = error == std::errc{} && end == name.data() + name.size() && step >= 0;
  return is_one && std::to_string(step) == name ? std::optional{step} : std::nullopt;
}

bool are_called_by_number(hid_t file, std::int64_t newest) {
  return H5Lexists(file, std::to_string(newest).c_str(), H5P_DEFAULT) > 0;
}

bool grows(hid_t dataset) {
  const Space space{H5Dget_space(dataset)};
  std::array<hsize_t, H5S_MAX_RANK> most{};
  return H5Sget_simple_extent_ndims(space.raw()) > 0 &&
         H5Sget_simple_extent_dims(space.raw(), nullptr, most.data()) > 0 &&
         most.front() == H5S_UNLIMITED;
}

namespace {

struct Names {
  std::vector<std::string> datasets;  // without the '/' at the beginning
  std::set<std::string> groups;       // of the root
};

herr_t note(hid_t /*root*/, const char* name, const H5O_info_t* object, void* noted) {
  auto& names = *static_cast<Names*>(noted);
  const std::string_view called{name};
  if (object->type == H5O_TYPE_DATASET) {
    names.datasets.emplace_back(called);
  } else if (object->type == H5O_TYPE_GROUP && called != "." &&
             called.find('/') == std::string_view::npos) {
    names.groups.emplace(called);
  }
  return 0;
}

constexpr std::size_t most_dimensions = array::max_dimensions + 1;  // one may count the steps

// Of a dataset that grows: a record, and how many there are.
struct Records {
  Variable variable;
  std::int64_t count = 0;
};

std::optional<Records> records_of(hid_t dataset) {
  const Type stored{H5Dget_type(dataset)};
  const Space space{H5Dget_space(dataset)};
  const bool is_text = H5Tget_class(stored.raw()) == H5T_STRING;
  if (is_text && H5Tis_variable_str(stored.raw()) > 0) {
    return std::nullopt;
  }
  const auto type = is_text ? array::ElementType::character : element_type_of(stored.raw());
  int dimensions = H5Sget_simple_extent_ndims(space.raw());
  const std::size_t length = is_text ? H5Tget_size(stored.raw()) : 1;  // of 1: characters
  if (!type || dimensions < 1 ||
      dimensions + (length > 1 ? 1 : 0) > static_cast<int>(most_dimensions)) {
    return std::nullopt;
  }
  std::array<hsize_t, most_dimensions> extent{};
  H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr);
  if (length > 1) {
    extent.at(static_cast<std::size_t>(dimensions++)) = static_cast<hsize_t>(length);
  }
  Records records;
  records.count = static_cast<std::int64_t>(extent.front());
  records.variable.type = *type;
  array::Extents extents{};
  std::ranges::transform(extent.begin() + 1, extent.end(), extents.begin(),
                         [](hsize_t each) { return static_cast<std::int64_t>(each); });
  const Outcome fits = outcome_of([&] {
    records.variable.shape = array::make_shape(dimensions - 1, extents.data());
    contents::check_bytes(records.variable);
  });
  return fits.ok() && records.count >= 0 && records.count <= contents::most_silent_steps
             ? std::optional{records}
             : std::nullopt;
}

std::optional<Variable> variable_of(hid_t dataset) {
  const Type stored{H5Dget_type(dataset)};
  const Space space{H5Dget_space(dataset)};
  const bool is_text = H5Tget_class(stored.raw()) == H5T_STRING;
  if (is_text && H5Tis_variable_str(stored.raw()) > 0) {
    return std::nullopt;
  }
  const auto type = is_text ? array::ElementType::character : element_type_of(stored.raw());
  const auto kind = H5Sget_simple_extent_type(space.raw());
  const int dimensions = H5Sget_simple_extent_ndims(space.raw());
  if (!type || kind == H5S_NULL || dimensions < 0 ||
      dimensions + (is_text ? 1 : 0) > array::max_dimensions) {
    return std::nullopt;
  }
  std::array<hsize_t, array::max_dimensions> extent{};
  H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr);
  Variable variable;
  variable.type = *type;
  array::Extents extents{};
  std::ranges::transform(extent, extents.begin(),
                         [](hsize_t each) { return static_cast<std::int64_t>(each); });
  if (is_text) {
    extents.at(static_cast<std::size_t>(dimensions)) =
        static_cast<std::int64_t>(H5Tget_size(stored.raw()));
  }
  const Outcome fits = outcome_of([&] {
    variable.shape = array::make_shape(dimensions + (is_text ? 1 : 0), extents.data());
    contents::check_bytes(variable);
  });
  return fits.ok() ? std::optional{variable} : std::nullopt;
}

Dataset open_dataset(hid_t file, const std::string& name, const std::string& path) {
  return Dataset{
      check(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "open the dataset " + name + " in", path)};
}

}  // namespace

std::optional<Inventory> inventory_along_time(hid_t file, const std::string& path) {
  Names names;
  check(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, &note, &names, H5O_INFO_BASIC), "look through",
        path);
  std::vector<Records> all;
  Inventory inventory;
  for (const auto& name : names.datasets) {
    const Dataset dataset = open_dataset(file, name, path);
    auto records = grows(dataset.raw()) ? records_of(dataset.raw()) : std::nullopt;
    if (!records) {
      return std::nullopt;
    }
    records->variable.name = name;
    inventory.of_variable[name] = read_attributes(dataset.raw(), path);
    all.push_back(std::move(*records));
  }
  const auto longest = std::ranges::max_element(all, {}, &Records::count);
  for (std::int64_t step = 0; longest != all.end() && step < longest->count; ++step) {
    inventory.steps.push_back(step);
    for (const auto& records : all) {
      if (step < records.count) {
        inventory.contents.push_back({step, records.variable, -1});
      }
    }
  }
  const Object root{check(H5Oopen(file, "/", H5P_DEFAULT), "open the root of", path)};
  inventory.attributes = read_attributes(root.raw(), path);
  return inventory.steps.empty() ? std::nullopt : std::optional{std::move(inventory)};
}

Inventory inventory_of(hid_t file, const std::string& path) {
  Names names;
  check(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, &note, &names, H5O_INFO_BASIC), "look through",
        path);
  const bool has_steps =
      !names.groups.empty() &&
      std::ranges::all_of(names.groups,
                          [](const std::string& name) { return step_number(name).has_value(); }) &&
      std::ranges::all_of(names.datasets, [](const std::string& name) {
        return name.find('/') != std::string::npos;
      });
  Inventory inventory;
  for (const auto& group : names.groups) {
    if (has_steps) {
      inventory.steps.push_back(*step_number(group));
    }
  }
  if (!has_steps) {
    inventory.steps.push_back(0);
  }
  std::ranges::sort(inventory.steps);
  for (const auto& name : names.datasets) {
    const Dataset dataset = open_dataset(file, name, path);
    auto variable = variable_of(dataset.raw());
    if (!variable) {
      continue;
    }
    const auto slash = has_steps ? name.find('/') : std::string::npos;
    variable->name = slash == std::string::npos ? name : name.substr(slash + 1);
    const auto step = has_steps ? *step_number(name.substr(0, slash)) : 0;
    inventory.contents.push_back({step, *variable, -1});
    inventory.of_variable[variable->name] = read_attributes(dataset.raw(), path);
  }
  std::ranges::stable_sort(inventory.contents, {}, &Placed::step);
  const Object root{check(H5Oopen(file, "/", H5P_DEFAULT), "open the root of", path)};
  inventory.attributes = read_attributes(root.raw(), path);
  return inventory;
}

}  // namespace iocomp::formats::h5
