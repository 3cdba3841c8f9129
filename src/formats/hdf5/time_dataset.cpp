// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_dataset.h"

#include <fcntl.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/repeat.h"
#include "base/error.h"
#include "base/plain_io.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/chunk_index.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/earlier_dataset.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/object_header.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

using Extents = std::array<hsize_t, array::max_dimensions + 2>;

// The number of dimensions before those of the variable.
std::size_t in_front(Time time) { return time == Time::none ? 0 : 1; }

// Records of a variable.
Extents extents(Time time, std::int64_t records, const array::Shape& shape) {
  Extents all{static_cast<hsize_t>(records)};
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    all.at(d + in_front(time)) = static_cast<hsize_t>(shape.extent.at(d));
  }
  return all;
}

// The position of an element of a record.
Extents position(Time time, std::int64_t record, const array::Shape& shape, std::int64_t index) {
  Extents at{static_cast<hsize_t>(record)};
  for (auto d = static_cast<std::size_t>(shape.dimensions); d-- > 0;) {
    at.at(d + in_front(time)) = static_cast<hsize_t>(index % shape.extent.at(d));
    index /= shape.extent.at(d);
  }
  return at;
}

// The extent of a chunk as HDF5 sees it.
std::vector<std::int64_t> extent_of_chunk(const TimeChunks& chunks, Time time) {
  return {chunks.shape.begin() + (time == Time::none ? 1 : 0), chunks.shape.end()};
}

void describe_chunks(const Properties& create, const Variable& variable, const TimeChunks& chunks,
                     Time time, const Type& type, const std::string& action,
                     const std::string& path) {
  const auto shape = extent_of_chunk(chunks, time);
  const std::vector<hsize_t> chunk{shape.begin(), shape.end()};
  check(H5Pset_chunk(create.raw(), static_cast<int>(chunk.size()), chunk.data()), action, path);
  // No chunk is made unasked; those that are not there are read as the fill value.
  H5Pset_alloc_time(create.raw(), H5D_ALLOC_TIME_INCR);
  H5Pset_fill_time(create.raw(), H5D_FILL_TIME_ALLOC);
  H5Pset_obj_track_times(create.raw(), false);
  if (variable.has_fill_value()) {
    std::vector<std::byte> value(chunks.stored_bytes);
    const auto element = fill_bytes(variable);
    array::repeat(std::span{element}.first(std::min(element.size(), value.size())), value);
    check(H5Pset_fill_value(create.raw(), type.raw(), value.data()), action, path);
  }
  const Compression& compression = chunks.compression;
  if (chunks.is_filtered && compression.shuffle) {
    check(H5Pset_shuffle(create.raw()), action, path);
  }
  if (chunks.is_filtered) {
    const bool is_of_library = compression.method == Compression::Method::filter;
    const auto level = static_cast<unsigned>(compression.level);
    check(H5Pset_filter(create.raw(), filter_of(compression), H5Z_FLAG_OPTIONAL,
                        is_of_library ? compression.value_count : 1,
                        is_of_library ? compression.values.data() : &level),
          action, path);
  }
}

}  // namespace

TimeDataset::TimeDataset(BufferedFile& file, const Variable& variable, const FormatOptions& options,
                         Time time)
    : file_{file},
      variable_{variable},
      has_strings_{options.has_strings},
      chunks_{variable, options},
      time_{time},
      index_{file, extent_of_chunk(chunks_, time),
             static_cast<std::int64_t>(chunks_.stored_bytes)} {}

Dataset TimeDataset::make(hid_t group, const std::string& name, const Type& type,
                          const Properties& create) const {
  const std::string action = "create the dataset " + root_dataset_name(variable_) + " in";
  const std::string& path = file_.path();
  const Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_create_intermediate_group(link.raw(), 1);
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  describe_chunks(create, variable_, chunks_, time_, type, action, path);
  const auto dimensions = extent_of_chunk(chunks_, time_).size();
  Extents extent = extents(time_, time_ == Time::grows ? 0 : 1, variable_.shape);
  if (const auto own = in_front(time_) + static_cast<std::size_t>(variable_.shape.dimensions);
      dimensions > own) {
    extent.at(own) = static_cast<hsize_t>(chunks_.shape.back());  // of the parts of complex numbers
  }
  // A chunk has a fixed length, and fits only into a dimension that is, or may become, as long.
  Extents most = extent;
  std::ranges::replace(most, hsize_t{0}, H5S_UNLIMITED);
  const Space space{check(
      H5Screate_simple(static_cast<int>(dimensions), extent.data(), most.data()), action, path)};
  return Dataset{check(H5Dcreate2(group, name.c_str(), type.raw(), space.raw(), link.raw(),
                                  create.raw(), H5P_DEFAULT),
                       action, path)};
}

// Readers take one set of values of a filter of HDF5 for all chunks, those of earlier jobs too.
bool TimeDataset::is_filtered_like(const Filters& earlier, const FormatOptions& options) const {
  std::vector<int> numbers;
  if (chunks_.is_filtered && chunks_.compression.shuffle) {
    numbers.push_back(H5Z_FILTER_SHUFFLE);
  }
  if (chunks_.is_filtered) {
    numbers.push_back(filter_of(chunks_.compression));
  }
  const bool has_values =
      chunks_.is_filtered && chunks_.compression.method == Compression::Method::filter;
  return earlier.numbers == numbers &&
         (!has_values || earlier.values == LibraryFilter{variable_, options}.values());
}

void TimeDataset::go_on(const EarlierDataset& earlier, const FormatOptions& options) {
  const bool is_alike = has_strings_ ? stored_alike(earlier.variable, variable_)
                                     : earlier.variable.type == variable_.type &&
                                           earlier.variable.shape == variable_.shape;
  if (!is_alike || (variable_.bytes() > 0 && (earlier.chunk != extent_of_chunk(chunks_, time_) ||
                                              !is_filtered_like(earlier.filters, options)))) {
    throw Error{ErrorCode::unsupported,
                "cannot go on with the dataset " + root_dataset_name(variable_) + " in " +
                    file_.path() + ": it has another type, shape, size of chunks, or compression"};
  }
  const std::int64_t kept = grows() ? std::min(options.earlier_steps, earlier.records) : 1;
  if (variable_.bytes() > 0) {
    take_over(earlier, kept);
  }
  if (kept < earlier.records && kept % chunks_.steps != 0) {
    copy_last_chunk(kept);
  }
  for (std::int64_t step = 0; step < kept; ++step) {
    if (has_room(step)) {
      add(step);
    }
  }
  if (kept > 0) {  // in the last chunk, there may be room behind them
    fill(kept, chunk_of(kept - 1) + chunks_.steps);
  }
}

// Without filters the chunks of a record follow one another, so the place of the first one tells
// all.
void TimeDataset::take_over(const EarlierDataset& earlier, std::int64_t steps) {
  const auto index = ObjectHeader{file_.buffer(), earlier.header}.index();
  const auto front = static_cast<std::ptrdiff_t>(in_front(time_));
  for (const auto& chunk : indexed_chunks(file_.buffer(), index, earlier.chunk.size())) {
    const std::int64_t first = front == 0 ? 0 : chunk.corner.front();
    if (first >= steps) {
      continue;
    }
    if (chunks_.is_filtered) {
      filtered_[first].push_back(chunk.where);
    } else if (std::all_of(chunk.corner.begin() + front, chunk.corner.end(),
                           [](auto at) { return at == 0; })) {
      offsets_.emplace(first, chunk.where.offset);
    }
  }
}

// Other programs see the records that are dropped until the next commit. They must not see that
// they are written over.
void TimeDataset::copy_last_chunk(std::int64_t kept) {
  const auto place = offsets_.find(chunk_of(kept));
  if (place == offsets_.end()) {
    return;
  }
  std::vector<std::byte> records(
      static_cast<std::size_t>(kept % chunks_.steps * variable_.bytes()));
  read_plainly(file_.plain(), place->second, records, file_.path());
  place->second = allot(file_.raw(), chunks_.all_bytes());
  write_plainly(file_.plain(), place->second, records, file_.path());
}

std::int64_t TimeDataset::place(std::int64_t step) {
  if (chunks_.is_filtered || variable_.bytes() == 0) {
    return -1;
  }
  const std::int64_t first = chunk_of(step);
  const auto [place, is_new] = offsets_.try_emplace(first, 0);
  if (is_new) {
    place->second = allot(file_.raw(), chunks_.all_bytes());
  }
  return place->second + (step - first) * variable_.bytes();
}

void TimeDataset::keep(std::int64_t step, std::vector<Extent> chunks) {
  filtered_.insert_or_assign(step, std::move(chunks));
}

void TimeDataset::note(std::int64_t first_step, const std::vector<Extent>& chunks) {
  const auto dimensions = extent_of_chunk(chunks_, time_).size();  // without those inside strings
  std::int64_t element = 0;
  for (const auto& chunk : chunks) {
    const Extents corner = position(time_, first_step, variable_.shape, element);
    index_.add({corner.begin(), corner.begin() + static_cast<std::ptrdiff_t>(dimensions)}, chunk);
    element += chunks_.elements;
    chunks_end_ = std::max(chunks_end_, chunk.offset + chunk.bytes);
  }
}

// @pre it comes behind all steps that have a record.
void TimeDataset::add(std::int64_t step) {
  if (variable_.bytes() == 0) {
    // it has no chunks
  } else if (chunks_.is_filtered) {
    note(step, filtered_.at(step));
  } else if (steps_.empty() || chunk_of(*steps_.rbegin()) != chunk_of(step)) {
    const std::int64_t offset = offsets_.at(chunk_of(step));
    std::vector<Extent> chunks(static_cast<std::size_t>(chunks_.per_record));
    for (std::int64_t i = 0; i < chunks_.per_record; ++i) {
      chunks[static_cast<std::size_t>(i)] = {offset + i * chunks_.bytes(), chunks_.bytes()};
    }
    note(chunk_of(step), chunks);
  }
  steps_.insert(steps_.end(), step);
}

void TimeDataset::tell(const std::set<std::int64_t>& steps, std::int64_t from, std::int64_t until) {
  if (records() > from) {
    auto told = std::exchange(steps_, {});
    index_.clear();
    chunks_end_ = 0;
    told.erase(told.lower_bound(from), told.end());
    for (const auto step : told) {
      add(step);
    }
  }
  for (auto step = steps.lower_bound(records()); step != steps.end(); ++step) {
    if (has_room(*step)) {
      fill(records(), *step);
      add(*step);
    }
  }
  fill(records(), until);
}

// Records of steps that have none, in chunks that have others.
void TimeDataset::fill(std::int64_t from, std::int64_t until) {
  if (chunks_.is_filtered || chunks_.steps == 1) {
    return;
  }
  const auto value = fill_bytes(variable_);
  for (std::int64_t step = from; step < until;) {  // those of a chunk follow one another
    const std::int64_t next = std::min(chunk_of(step) + chunks_.steps, until);
    if (const auto place = offsets_.find(chunk_of(step)); place != offsets_.end()) {
      std::vector<std::byte> records(static_cast<std::size_t>((next - step) * variable_.bytes()));
      array::repeat(value, records);
      write_plainly(file_.plain(), place->second + step % chunks_.steps * variable_.bytes(),
                    records, file_.path());
    }
    step = next;
  }
}

void TimeDataset::end(std::int64_t records) {
  // Chunks are filled behind the last record too, since a later job may go on with the file.
  const std::int64_t own = this->records();
  fill(own, own == 0 ? 0 : std::max(chunk_of(own - 1) + chunks_.steps, records));
  for (const auto& [first, offset] : offsets_) {
    const auto put = steps_.lower_bound(first);
    if (put == steps_.end() || *put >= first + chunks_.steps) {
      // Nobody will read it, and a full disk may need it for what is left to write.
      (void)!::fallocate(file_.plain().raw(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                         chunks_.all_bytes());
    }
  }
}

}  // namespace iocomp::formats::h5
