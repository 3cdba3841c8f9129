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
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/error.h"
#include "contents/description.h"
#include "contents/step_numbers.h"
#include "contents/variable.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/types.h"
#include "formats/padded_texts.h"
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

namespace {

struct Names {
  std::vector<std::string> datasets;  // without the '/' at the beginning
  std::set<std::string> groups;       // of the root
  std::set<std::string> looked_into;  // the places of all groups
  std::map<std::string, std::string> not_read;
};

#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info2_t;
constexpr auto visit_links = H5Lvisit2;
constexpr auto iterate = H5Literate2;
constexpr auto look_at_link = H5Lget_info2;
const auto& place_in(const LinkInfo& link) { return link.u.token; }
#else
using LinkInfo = H5L_info_t;
constexpr auto visit_links = H5Lvisit;
constexpr auto iterate = H5Literate;
constexpr auto look_at_link = H5Lget_info;
const auto& place_in(const LinkInfo& link) { return link.u.address; }
#endif

// HDF5 looks into a group once, under the first of its names.
bool is_looked_into(const LinkInfo& link, Names& names) {
  const auto& place = place_in(link);
  return names.looked_into.emplace(reinterpret_cast<const char*>(&place), sizeof place).second;
}

// It is called for each link, so a dataset is there under each of its names.
herr_t note(hid_t root, const char* name, const LinkInfo* link, void* noted) {
  auto& names = *static_cast<Names*>(noted);
  const std::string_view called{name};
  if (link->type == H5L_TYPE_EXTERNAL) {
    names.not_read.emplace(name, "a link to another file");
    return 0;
  }
  const Object object{H5Oopen(root, name, H5P_DEFAULT)};
  if (object.raw() < 0 && link->type != H5L_TYPE_SOFT) {
    return -1;
  }
  const auto type = object.raw() < 0 ? H5I_BADID : H5Iget_type(object.raw());
  if (type == H5I_BADID) {
    names.not_read.emplace(name, "a link to what is not there");
  } else if (type == H5I_DATASET) {
    names.datasets.emplace_back(called);
  } else if (type != H5I_GROUP || link->type != H5L_TYPE_HARD) {
    return 0;
  } else if (!is_looked_into(*link, names)) {
    names.not_read.emplace(name, "another name of a group");
  } else if (called.find('/') == std::string_view::npos) {
    names.groups.emplace(called);
  }
  return 0;
}

constexpr int most_dimensions = array::max_dimensions + 1;  // one may count the steps

// The text's length is the last extent of texts, as in the variables that they are written from.
struct Looks {
  array::ElementType type;
  std::vector<std::int64_t> extents;
};

std::optional<std::vector<std::int64_t>> extents_of(hid_t dataset) {
  const Space space{H5Dget_space(dataset)};
  const int dimensions = H5Sget_simple_extent_ndims(space.raw());
  if (H5Sget_simple_extent_type(space.raw()) == H5S_NULL || dimensions < 0 ||
      dimensions > most_dimensions) {
    return std::nullopt;
  }
  std::array<hsize_t, most_dimensions> extent{};
  H5Sget_simple_extent_dims(space.raw(), extent.data(), nullptr);
  return std::vector<std::int64_t>{extent.begin(), extent.begin() + dimensions};
}

bool is_text(hid_t stored) { return H5Tget_class(stored) == H5T_STRING && !is_any_text(stored); }

// Elements of a type. @param stored  of the dataset, or of a member of its compounds.
std::optional<Looks> looks_of(hid_t dataset, hid_t stored) {
  const auto type = is_text(stored) ? array::ElementType::character : element_type_of(stored);
  auto extents = extents_of(dataset);
  if (!type || !extents) {
    return std::nullopt;
  }
  // HDF5 has no text of no characters. Such texts are stored as characters one by one, none of
  // them.
  const std::size_t length = is_text(stored) ? H5Tget_size(stored) : 0;
  const bool have_none = length == 1 && !extents->empty() && extents->back() == 0;
  if (length > 0 && !have_none) {
    extents->push_back(static_cast<std::int64_t>(length));
  }
  return Looks{*type, *std::move(extents)};
}

// A dataset of texts of any length. All are read.
std::optional<Looks> looks_of_any_texts(hid_t dataset, const std::string& path) {
  const Space space{H5Dget_space(dataset)};
  const auto texts = H5Sget_simple_extent_npoints(space.raw());
  auto extents = extents_of(dataset);
  if (!extents || are_too_many(texts)) {
    return std::nullopt;
  }
  const auto longest =
      texts == 0
          ? 1
          : longest_of(AnyTexts{dataset, space.raw(), static_cast<hsize_t>(texts), path}.texts());
  if (are_too_many(texts, longest)) {
    return std::nullopt;
  }
  extents->push_back(longest);
  return Looks{array::ElementType::character, *std::move(extents)};
}

// The reason why a dataset, or a member of its compounds, is no variable.
std::string why_left_out(hid_t dataset, hid_t stored) {
  const Space space{H5Dget_space(dataset)};
  if (H5Sget_simple_extent_type(space.raw()) == H5S_NULL) {
    return "an empty dataspace";
  }
  if (is_any_text(Type{H5Dget_type(dataset)}.raw())) {
    return too_many_texts();
  }
  return is_text(stored) || element_type_of(stored)
             ? "more dimensions or bytes than a variable can have"
             : why_not_read(stored);
}

std::optional<Variable> variable_with(array::ElementType type,
                                      std::span<const std::int64_t> extents) {
  Variable variable;
  variable.type = type;
  const Outcome fits = outcome_of([&] {
    variable.shape = array::make_shape(static_cast<int>(extents.size()), extents.data());
    contents::check_bytes(variable);
  });
  return fits.ok() ? std::optional{variable} : std::nullopt;
}

// A dataset that grows: one record, and the number of records.
struct Records {
  Variable variable;
  std::int64_t count = 0;
};

std::optional<Records> records_of(hid_t dataset) {
  const auto looks = looks_of(dataset, Type{H5Dget_type(dataset)}.raw());
  if (!looks || looks->extents.empty()) {
    return std::nullopt;
  }
  const auto count = looks->extents.front();
  const auto variable = variable_with(looks->type, std::span{looks->extents}.subspan(1));
  return variable && count >= 0 && count <= contents::most_silent_steps
             ? std::optional{Records{*variable, count}}
             : std::nullopt;
}

// True if the first dimension has no limit and the others are fixed; HDF5 limits none of length 0.
bool grows(hid_t dataset) {
  const Space space{H5Dget_space(dataset)};
  std::array<hsize_t, H5S_MAX_RANK> now{};
  std::array<hsize_t, H5S_MAX_RANK> most{};
  const auto is_fixed = [](hsize_t is, hsize_t may_be) { return is == may_be || is == 0; };
  return H5Sget_simple_extent_ndims(space.raw()) > 0 &&
         H5Sget_simple_extent_dims(space.raw(), now.data(), most.data()) > 0 &&
         most.front() == H5S_UNLIMITED &&
         std::equal(now.begin() + 1, now.end(), most.begin() + 1, is_fixed);
}

}  // namespace

// Others fill chunks where there is a fill value, and cut them otherwise.
bool counts_steps(hid_t dataset) {
  const Properties created{H5Dget_create_plist(dataset)};
  H5D_fill_time_t filled{};
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  if (!grows(dataset) || H5Pget_layout(created.raw()) != H5D_CHUNKED ||
      H5Pget_fill_time(created.raw(), &filled) < 0 || filled != H5D_FILL_TIME_ALLOC ||
      H5Pget_chunk(created.raw(), H5S_MAX_RANK, chunk.data()) < 1) {
    return false;
  }
  const auto records = records_of(dataset);
  return records &&
         static_cast<std::int64_t>(chunk.front()) == steps_in_chunk(records->variable.bytes());
}

namespace {

Dataset open_dataset(hid_t file, const std::string& name, const std::string& path) {
  return Dataset{
      check(H5Dopen2(file, name.c_str(), H5P_DEFAULT), "open the dataset " + name + " in", path)};
}

// A group at the root that holds a step: "12", or "Step12" where ADIOS2 has written it.
struct StepGroup {
  std::int64_t step = 0;
  bool is_of_adios2 = false;
};
std::optional<StepGroup> step_group(std::string_view name) {
  const bool is_of_adios2 = name.starts_with(adios2_group);
  const auto step = step_number(is_of_adios2 ? name.substr(adios2_group.size()) : name);
  return step ? std::optional{StepGroup{*step, is_of_adios2}} : std::nullopt;
}

// Groups at the root are steps only if all have names of steps; other programs may have put others.
bool has_steps(const Names& names) {
  return !names.groups.empty() && std::ranges::all_of(names.groups, [&](const std::string& name) {
    const auto group = step_group(name);
    return group && group->is_of_adios2 == step_group(*names.groups.begin())->is_of_adios2;
  });
}

herr_t note_group(hid_t root, const char* name, const LinkInfo* link, void* noted) {
  if (link->type != H5L_TYPE_HARD) {
    return 0;
  }
  const bool is_step = step_group(name).has_value();
  const Object object{is_step ? H5I_INVALID_HID : H5Oopen(root, name, H5P_DEFAULT)};
  if (is_step || H5Iget_type(object.raw()) == H5I_GROUP) {
    static_cast<Names*>(noted)->groups.emplace(name);
  }
  return is_step || object.raw() >= 0 ? 0 : -1;
}

// ADIOS2 keeps the attributes of variables at the root, called "u/units".
void sort_out_attributes_of_adios2(Inventory& inventory) {
  inventory.attributes.erase("NumSteps");
  for (auto& [name, attributes] : inventory.of_variable) {
    attributes.erase("ADIOSName");
  }
  for (auto entry = inventory.attributes.begin(); entry != inventory.attributes.end();) {
    const auto& [name, attribute] = *entry;
    const auto slash = name.rfind('/');
    const auto owner = slash == std::string::npos
                           ? inventory.of_variable.end()
                           : inventory.of_variable.find(name.substr(0, slash));
    if (owner == inventory.of_variable.end()) {
      ++entry;
    } else {
      owner->second.insert_or_assign(name.substr(slash + 1), attribute);
      entry = inventory.attributes.erase(entry);
    }
  }
}

class Look {
 public:
  Look(hid_t file, const std::string& path) : file_{file}, path_{path} {
    check(visit_links(file, H5_INDEX_NAME, H5_ITER_INC, &note, &names_), "look through", path);
    inventory_.not_read = names_.not_read;
    const Object root{check(H5Oopen(file, "/", H5P_DEFAULT), "open the root of", path)};
    inventory_.attributes = read_attributes(root.raw(), path);
  }

  Inventory take() {
    if (has_steps(names_)) {
      take_groups();
    } else {
      take_root();
    }
    std::ranges::stable_sort(inventory_.contents, {}, &Placed::step);
    return std::move(inventory_);
  }

 private:
  void take_groups() {
    bool is_of_adios2 = false;
    for (const auto& name : names_.groups) {
      const auto group = step_group(name);
      inventory_.steps.push_back(group->step);
      is_of_adios2 = group->is_of_adios2;
    }
    std::ranges::sort(inventory_.steps);
    inventory_.tells_numbers = !is_of_adios2;
    const std::int64_t first = inventory_.steps.front();
    const std::string group_of_first =
        (is_of_adios2 ? std::string{adios2_group} : "") + std::to_string(first) + '/';
    for (const auto& name : names_.datasets) {
      if (const auto slash = name.find('/'); slash != std::string::npos) {
        add_whole(name, name.substr(slash + 1), step_group(name.substr(0, slash))->step);
      } else if (has_dataset(group_of_first + name)) {
        inventory_.not_read.emplace('/' + name, "a step has a variable of this name");
      } else {
        add_whole(name, name, first);
      }
    }
    if (is_of_adios2) {
      sort_out_attributes_of_adios2(inventory_);
    }
  }

  // As in netCDF, a dataset that counts no steps is in the first one.
  void take_root() {
    std::int64_t steps = 1;
    const bool has_names_of_steps = has_dataset(contents::step_numbers_name) || has_dataset("time");
    for (const auto& name : names_.datasets) {
      const Dataset dataset = open_dataset(file_, name, path_);
      const auto records = counts_steps(dataset.raw()) && (has_names_of_steps || is_ours(name))
                               ? records_of(dataset.raw())
                               : std::optional<Records>{};
      if (!records) {
        add_whole(name, name, 0);
        continue;
      }
      Variable variable = records->variable;
      variable.name = name;
      for (std::int64_t step = 0; step < records->count; ++step) {
        inventory_.contents.push_back({step, variable, -1});
      }
      inventory_.of_variable[name] = read_attributes(dataset.raw(), path_);
      steps = std::max(steps, records->count);
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      inventory_.steps.push_back(step);
    }
  }

  // Others may cut and fill a dataset in the same way. h5py says of such names that they are ASCII,
  // and iocomp that all are UTF-8. Programs that copy files forget that.
  [[nodiscard]] bool is_ours(const std::string& name) const {
    LinkInfo link{};
    return look_at_link(file_, name.c_str(), &link, H5P_DEFAULT) >= 0 && link.cset == H5T_CSET_UTF8;
  }

  [[nodiscard]] bool has_dataset(const std::string& name) const {
    return std::ranges::find(names_.datasets, name) != names_.datasets.end();
  }

  void add_whole(const std::string& dataset_name, const std::string& name, std::int64_t step) {
    const Dataset dataset = open_dataset(file_, dataset_name, path_);
    const Type stored{H5Dget_type(dataset.raw())};
    const bool has_members =
        H5Tget_class(stored.raw()) == H5T_COMPOUND && !element_type_of(stored.raw());
    const int members = has_members ? H5Tget_nmembers(stored.raw()) : 0;
    if (!has_members) {
      std::optional<Looks> looks;
      const Outcome read = outcome_of([&] {  // a filter may be missing
        looks = is_any_text(stored.raw()) ? looks_of_any_texts(dataset.raw(), path_)
                                          : looks_of(dataset.raw(), stored.raw());
      });
      add(dataset.raw(), stored.raw(), name, step, looks, read.story);
    }
    for (int member = 0; member < members; ++member) {
      const auto number = static_cast<unsigned>(member);
      char* const called = H5Tget_member_name(stored.raw(), number);
      const std::string end = std::string{'.'} + (called == nullptr ? "" : called);
      const std::string of_member = name + end;
      H5free_memory(called);
      if (has_dataset(dataset_name + end)) {
        inventory_.not_read.emplace(name, "a variable is called as its member, " + of_member);
        continue;
      }
      const Type type{H5Tget_member_type(stored.raw(), number)};
      add(dataset.raw(), type.raw(), of_member, step, looks_of(dataset.raw(), type.raw()));
    }
  }

  // @param why  it has no looks; empty: that is found out.
  void add(hid_t dataset, hid_t stored, const std::string& name, std::int64_t step,
           const std::optional<Looks>& looks, const std::string& why = {}) {
    auto variable = looks ? variable_with(looks->type, looks->extents) : std::nullopt;
    if (!variable) {
      inventory_.not_read.emplace(name, why.empty() ? why_left_out(dataset, stored) : why);
      return;
    }
    if (!added_.emplace(step, name).second) {
      inventory_.not_read.emplace(name, "another variable, or a member of one, has this name");
      return;
    }
    variable->name = name;
    inventory_.contents.push_back({step, *variable, -1});
    inventory_.of_variable[name] = read_attributes(dataset, path_);
  }

  std::set<std::pair<std::int64_t, std::string>> added_;
  hid_t file_;
  const std::string& path_;
  Names names_;
  Inventory inventory_;
};

}  // namespace

bool has_groups_of_steps(hid_t file, const std::string& path) {
  Names names;
  check(iterate(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, &note_group, &names), "look through",
        path);
  return has_steps(names);
}

bool is_of_netcdf(hid_t file) {
  struct Noted {
    bool has_group = false;
    bool has_dimension = false;
  } noted;
  const auto look = [](hid_t root, const char* name, const LinkInfo* /*link*/, void* to) -> herr_t {
    const Object object{H5Oopen(root, name, H5P_DEFAULT)};
    auto& found = *static_cast<Noted*>(to);
    found.has_group |= H5Iget_type(object.raw()) == H5I_GROUP;
    found.has_dimension |= object.raw() >= 0 && H5Aexists(object.raw(), "_Netcdf4Dimid") > 0;
    return found.has_group ? 1 : 0;  // the others need no look
  };
  return iterate(file, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, look, &noted) >= 0 &&
         !noted.has_group &&
         (noted.has_dimension || H5Aexists_by_name(file, "/", "_NCProperties", H5P_DEFAULT) > 0);
}

Inventory inventory_of(hid_t file, const std::string& path) { return Look{file, path}.take(); }

}  // namespace iocomp::formats::h5
