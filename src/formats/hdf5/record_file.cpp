// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/record_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/plain_io.h"
#include "contents/step_numbers.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

std::int64_t RecordFile::end() const { return next_allotted(raw()); }

void RecordFile::extend(std::int64_t end) { (void)allot(raw(), end - this->end()); }

// The numbers lie in chunks like other small records. They are few bytes, so the lead writes them.
Description RecordFile::with_numbers(Description description, std::int64_t from) {
  if (is_numbered_) {
    numbers_.tell(description, from);
  }
  if (!numbers_.are_needed()) {
    return description;
  }
  const Variable variable = contents::step_numbers_variable();
  for (auto step = std::min(from, numbers_told_); step < numbers_.end(); ++step) {
    const std::int64_t number = numbers_.at(step);
    const std::int64_t offset = find_place(variable, step);
    write_plainly(plain(), offset, std::as_bytes(std::span{&number, 1}), path());
    description.contents.push_back({step, variable, offset});
  }
  std::ranges::stable_sort(description.contents, {}, &Placed::step);
  return description;
}

// The description has no offsets of variables if a library writes whole steps.
std::int64_t RecordFile::end_of_data(const Description& description, std::int64_t from) const {
  const std::int64_t told = end_of(description.contents);
  return ends_with(description, from) ? std::max(told, end_of_rooms()) : told;
}

std::optional<BufferedFile::Root> RecordFile::write_root(const Description& put, std::int64_t from,
                                                         bool is_last) {
  const bool has_new_steps = !put.contents.empty() || from < steps_;
  const Edition& seen = made_.at(static_cast<std::size_t>(editions_.seen()));
  if (is_last && goes_on_ && !has_new_steps && seen.root == undefined_address) {
    end_datasets();
    return {};  // a job that adds nothing: what earlier ones have written stays
  }
  const Description description = with_numbers(put, from);
  steps_ =
      description.contents.empty() ? std::min(steps_, from) : description.contents.back().step + 1;
  Told told{take_note(description, from), description.attributes, description.of_variable};
  if (is_last) {
    end_datasets();
    if (seen.root != undefined_address && !editions_.is_begun() && !has_new_steps &&
        told == seen.told) {
      return {};
    }
  }
  const int number = editions_.begin();
  Edition& edition = made_.at(static_cast<std::size_t>(number));
  if (edition.root == undefined_address || edition.told != told) {
    make(edition, std::move(told));
  }
  Root root{.address = edition.root, .durable_end = end_of_data(description, from)};
  root.end = root.durable_end;
  for (auto& [header, dataset] : edition.growing) {
    if (dataset == nullptr || dataset->grows()) {
      header.set_records(records(dataset));
    }
    if (dataset != nullptr) {
      header.set_index(dataset->index().write(number));
      root.end = std::max(root.end, dataset->chunks_end());
    }
    header.store(buffer());
  }
  return root;
}

void RecordFile::make(Edition& edition, Told told) {
  edition.root = undefined_address;
  edition.growing.clear();
  const Properties properties = of_root();
  const Object root =
      make_group(raw(), properties.raw() < 0 ? H5P_DEFAULT : properties.raw(), path());
  const auto made = make(root.raw(), told);
  flush();
  for (const auto& [object, dataset] : made) {
    edition.growing.push_back({ObjectHeader{buffer(), address_of(object.raw(), path())}, dataset});
  }
  edition.told = std::move(told);
  edition.root = address_of(root.raw(), path());
}

}  // namespace iocomp::formats::h5
