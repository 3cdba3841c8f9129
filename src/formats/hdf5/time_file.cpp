// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_file.h"

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/inventory.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
EarlierRecords::EarlierRecords(const Descriptor& opened, const std::string& path) {
  const Quiet quiet;
  const File file{
      check(H5Fopen(name_of(opened).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open", path)};
  auto inventory = inventory_of(file.raw(), path);
  attributes = std::move(inventory.attributes);
  of_variable = std::move(inventory.of_variable);
  for (const auto& placed : inventory.contents) {
    const Variable& found = placed.variable;
    if (datasets.contains(found.name)) {
      continue;  // it is in several steps
    }
    const Dataset dataset{H5Dopen2(file.raw(), found.name.c_str(), H5P_DEFAULT)};
    if (dataset.raw() < 0 || !counts_steps(dataset.raw())) {
      throw Error{ErrorCode::unsupported, "cannot go on with " + path + ": \"" + found.name +
                                              "\" was not written with layout = \"time\""};
    }
    auto earlier = earlier_dataset(file.raw(), found.name, path);
    earlier.variable = found;
    datasets.emplace(found.name, std::move(earlier));
  }
}

// A variable that this job puts late replaces the one that was kept under its name.
TimeDataset& TimeFile::dataset(const Variable& variable) {
  auto known = datasets_.find(variable.id);
  if (known == datasets_.end()) {
    names_.add(variable.name, path());
    auto records = std::make_unique<TimeDataset>(*this, variable, options_);
    if (earlier_ && earlier_->datasets.contains(variable.name)) {
      records->go_on(earlier_->datasets.at(variable.name), options_);
      std::erase_if(datasets_, [&](const auto& entry) {
        return entry.first < 0 && entry.second.variable.name == variable.name;
      });
    }
    known = datasets_.emplace(variable.id, Defined{variable, std::move(records)}).first;
  }
  return *known->second.records;
}

std::int64_t TimeFile::find_place(const Variable& variable, std::int64_t step) {
  return dataset(variable).place(step);
}

void TimeFile::keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) {
  dataset(variable).keep(step, std::move(chunks));
}

std::vector<int> TimeFile::take_note(const Description& description, std::int64_t from) {
  std::map<int, std::set<std::int64_t>> steps;
  for (const auto& placed : description.contents) {
    (void)dataset(placed.variable);  // nobody asked for room where it has no elements
    steps[placed.variable.id].insert(placed.step);
  }
  if (earlier_ && !std::exchange(is_kept_, true)) {
    keep_what_is_not_put();
  }
  std::vector<int> variables;
  for (auto& [id, defined] : datasets_) {
    defined.records->tell(steps[id], from);
    if (defined.records->records() > 0) {
      variables.push_back(id);
    }
  }
  return variables;
}

// The new root leads to what is defined here.
void TimeFile::keep_what_is_not_put() {
  std::set<std::string> put;
  for (const auto& [id, defined] : datasets_) {
    put.insert(defined.variable.name);
  }
  int number = -static_cast<int>(earlier_->datasets.size());
  for (const auto& [name, earlier] : earlier_->datasets) {
    if (put.contains(name) || earlier.records == 0 || !options_.earlier_variables.contains(name)) {
      continue;
    }
    Variable variable = earlier.variable;
    variable.id = number++;
    if (const auto found = earlier_->of_variable.find(name);
        found != earlier_->of_variable.end() && found->second.contains(contents::fill_attribute)) {
      variable.fill_value = found->second.at(contents::fill_attribute);
    }
    (void)dataset(variable);
  }
}

void TimeFile::end_datasets() {
  for (auto& [id, defined] : datasets_) {
    defined.records->end(defined.records->records());
  }
}

std::vector<RecordFile::Made> TimeFile::make(hid_t root, const Told& told) {
  std::vector<Made> all;
  for (const auto id : told.variables) {
    const Defined& defined = datasets_.at(id);
    const Properties create{H5Pcreate(H5P_DATASET_CREATE)};
    Dataset dataset = defined.records->make(root, defined.variable.name,
                                            stored_as(defined.variable).type, create);
    auto attributes = contents::attributes_of(id, told.of_variable);  // below 0: of earlier jobs
    if (earlier_ && earlier_->of_variable.contains(defined.variable.name)) {
      const auto& before = earlier_->of_variable.at(defined.variable.name);
      attributes.insert(before.begin(), before.end());
    }
    write_attributes(dataset.raw(), attributes, path());
    all.push_back({std::move(dataset), defined.records.get()});
  }
  auto attributes = told.attributes;
  if (earlier_) {
    attributes.insert(earlier_->attributes.begin(), earlier_->attributes.end());
  }
  write_attributes(root, attributes, path());
  return all;
}

}  // namespace iocomp::formats::h5
