// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/record_file.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/plain_io.h"
#include "contents/step_numbers.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/encoding.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"

namespace iocomp::formats::h5 {

std::int64_t RecordFile::place(const Variable& variable, std::int64_t step) {
  if (others_write_) {
    keep_room_for_metadata(file_.raw());
  }
  const std::int64_t offset = find_place(variable, step);
  placed_.add(variable, step, offset);
  return offset;
}

std::int64_t RecordFile::end() const { return next_allotted(file_.raw()); }

void RecordFile::extend(std::int64_t end) { (void)allot(file_.raw(), end - this->end()); }

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
    write_plainly(file_.plain(), offset, std::as_bytes(std::span{&number, 1}), file_.path());
    description.contents.push_back({step, variable, offset});
  }
  std::ranges::stable_sort(description.contents, {}, &Placed::step);
  return description;
}

Switch RecordFile::commit(const Description& told, std::int64_t from) {
  const Quiet quiet;
  const Description description = with_numbers(told, from);
  steps_ =
      description.contents.empty() ? std::min(steps_, from) : description.contents.back().step + 1;
  return write({take_note(description, from), description.attributes, description.of_variable},
               end_of_data(description, from), placed_.end_with(description, from));
}

// The description has no offsets of variables if a library writes whole steps.
std::int64_t RecordFile::end_of_data(const Description& description, std::int64_t from) const {
  const std::int64_t told = end_of(description.contents);
  return placed_.end_with(description, from) ? std::max(told, placed_.end()) : told;
}

Switch RecordFile::finish(const Description& last_told, std::int64_t from) {
  const Quiet quiet;
  const bool has_new_steps = !last_told.contents.empty() || from < steps_;
  const Edition& seen = made_.at(static_cast<std::size_t>(editions_.seen()));
  if (goes_on_ && !has_new_steps && seen.root == undefined_address) {
    end_datasets();
    file_.trim();
    file_.close();
    return {};  // a job that adds nothing: what earlier ones have written stays
  }
  const Description description = with_numbers(last_told, from);
  Told told{take_note(description, from), description.attributes, description.of_variable};
  end_datasets();
  const bool is_told = seen.root != undefined_address && !editions_.is_begun() && !has_new_steps &&
                       told == seen.told;
  Switch last;
  if (is_told) {
    file_.trim();
  } else {
    last = write(std::move(told), end_of_data(description, from), true);
  }
  file_.close();
  return last;
}

Switch RecordFile::write(Told told, std::int64_t durable_end, bool is_last) {
  const int number = editions_.begin();
  Edition& edition = made_.at(static_cast<std::size_t>(number));
  if (edition.root == undefined_address || edition.told != told) {
    make(edition, std::move(told));
  }
  std::int64_t end = durable_end;
  for (auto& [header, dataset] : edition.growing) {
    if (dataset == nullptr || dataset->grows()) {
      header.set_records(records(dataset));
    }
    if (dataset != nullptr) {
      header.set_index(dataset->index().write(number));
      end = std::max(end, dataset->chunks_end());
    }
    header.store(file_.buffer());
  }
  return file_.store(edition.root, end, durable_end, is_last);
}

void RecordFile::make(Edition& edition, Told told) {
  edition.root = undefined_address;
  edition.growing.clear();
  const Properties properties = of_root();
  const Object root =
      make_group(file_.raw(), properties.raw() < 0 ? H5P_DEFAULT : properties.raw(), file_.path());
  const auto made = make(root.raw(), told);
  file_.flush();
  for (const auto& [object, dataset] : made) {
    edition.growing.push_back(
        {ObjectHeader{file_.buffer(), address_of(object.raw(), file_.path())}, dataset});
  }
  edition.told = std::move(told);
  edition.root = address_of(root.raw(), file_.path());
}

}  // namespace iocomp::formats::h5
