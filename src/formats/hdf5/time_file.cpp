#include "formats/hdf5/time_file.h"

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "formats/format.h"
#include "formats/hdf5/attributes.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_dataset.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

TimeDataset& TimeFile::dataset(const Variable& variable) {
  auto known = datasets_.find(variable.id);
  if (known == datasets_.end()) {
    const Quiet quiet;
    const Properties create{H5Pcreate(H5P_DATASET_CREATE)};
    known = datasets_
                .emplace(variable.id,
                         std::make_unique<TimeDataset>(file(), variable, options_,
                                                       element_type(variable.type), create))
                .first;
  }
  return *known->second;
}

std::int64_t TimeFile::place(const Variable& variable, std::int64_t step) {
  return dataset(variable).place(step);
}

void TimeFile::keep(const Variable& variable, std::int64_t step, std::vector<Extent> chunks) {
  dataset(variable).keep(step, std::move(chunks));
}

void TimeFile::finish(const Description& description) {
  const Quiet quiet;
  std::map<int, std::set<std::int64_t>> steps;
  for (const auto& placed : description.contents) {
    steps[placed.variable.id].insert(placed.step);
  }
  for (const auto& [id, dataset] : datasets_) {
    const auto& of_variable = steps[id];
    dataset->finish(of_variable, of_variable.empty() ? 0 : *of_variable.rbegin() + 1);
  }
  write_attributes(file().raw(), description.attributes, file().path());
  for (const auto& [id, dataset] : datasets_) {
    const auto number = static_cast<std::size_t>(id);
    if (number < description.of_variable.size()) {
      write_attributes(dataset->raw(), description.of_variable[number], file().path());
    }
  }
  datasets_.clear();
  file().close();
}

}  // namespace iocomp::formats::h5
