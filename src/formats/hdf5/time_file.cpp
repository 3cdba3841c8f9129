// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

TimeDataset& TimeFile::dataset(const Variable& variable) {
  auto known = datasets_.find(variable.id);
  if (known == datasets_.end()) {
    names_.add(variable.name, file().path());
    auto records = std::make_unique<TimeDataset>(room(), variable, options_);
    if (earlier_ && earlier_->datasets.contains(variable.name)) {
      records->go_on(earlier_->datasets.at(variable.name), options_.earlier_steps);
    }
    known = datasets_.emplace(variable.id, Defined{variable, std::move(records)}).first;
  }
  return *known->second.records;
}

std::int64_t TimeFile::place(const Variable& variable, std::int64_t step) {
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
  if (earlier_) {
    check_that_all_go_on();
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

// The new root leads to what this job has defined.
void TimeFile::check_that_all_go_on() {
  for (const auto& [name, earlier] : earlier_->datasets) {
    const bool is_here = std::ranges::any_of(
        datasets_, [&](const auto& entry) { return entry.second.variable.name == name; });
    if (!is_here && earlier.records > 0) {
      throw Error{ErrorCode::unsupported, "cannot go on with " + file().path() +
                                              ": it has the variable \"" + name +
                                              "\", of which no step of this job has anything"};
    }
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
                                            element_type(defined.variable.type), create);
    if (const auto number = static_cast<std::size_t>(id); number < told.of_variable.size()) {
      auto attributes = told.of_variable[number];
      if (earlier_ && earlier_->of_variable.contains(defined.variable.name)) {
        const auto& before = earlier_->of_variable.at(defined.variable.name);
        attributes.insert(before.begin(), before.end());
      }
      write_attributes(dataset.raw(), attributes, file().path());
    }
    all.push_back({std::move(dataset), defined.records.get()});
  }
  auto attributes = told.attributes;
  if (earlier_) {
    attributes.insert(earlier_->attributes.begin(), earlier_->attributes.end());
  }
  write_attributes(root, attributes, file().path());
  return all;
}

}  // namespace iocomp::formats::h5
