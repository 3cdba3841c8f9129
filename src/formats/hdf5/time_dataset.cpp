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
#include "base/write_plainly.h"
#include "formats/format.h"
#include "formats/hdf5/buffer_driver.h"
#include "formats/hdf5/buffered_file.h"
#include "formats/hdf5/error.h"
#include "formats/hdf5/handle.h"
#include "formats/hdf5/time_chunks.h"
#include "formats/hdf5/types.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

using Extents = std::array<hsize_t, array::max_dimensions + 1>;

// How many dimensions are in front of the variable's.
std::size_t in_front(Time time) { return time == Time::none ? 0 : 1; }

// Records of a variable.
Extents extents(Time time, std::int64_t records, const array::Shape& shape) {
  Extents all{static_cast<hsize_t>(records)};
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    all.at(d + in_front(time)) = static_cast<hsize_t>(shape.extent.at(d));
  }
  return all;
}

// Of an element of a record.
Extents position(Time time, std::int64_t record, const array::Shape& shape, std::int64_t index) {
  Extents at{static_cast<hsize_t>(record)};
  for (auto d = static_cast<std::size_t>(shape.dimensions); d-- > 0;) {
    at.at(d + in_front(time)) = static_cast<hsize_t>(index % shape.extent.at(d));
    index /= shape.extent.at(d);
  }
  return at;
}

void describe_chunks(const Properties& create, const Variable& variable, const TimeChunks& chunks,
                     Time time, const Type& type, const FormatOptions& options,
                     const std::string& action, const std::string& path) {
  const std::vector<hsize_t> chunk{
      chunks.shape.end() - variable.shape.dimensions - static_cast<std::ptrdiff_t>(in_front(time)),
      chunks.shape.end()};
  check(H5Pset_chunk(create.raw(), static_cast<int>(chunk.size()), chunk.data()), action, path);
  // No chunk is made unasked; those that are not there are read as the fill value.
  H5Pset_alloc_time(create.raw(), H5D_ALLOC_TIME_INCR);
  H5Pset_fill_time(create.raw(), H5D_FILL_TIME_ALLOC);
  H5Pset_obj_track_times(create.raw(), false);
  if (variable.has_fill_value()) {
    check(H5Pset_fill_value(create.raw(), type.raw(), variable.fill_value->values.data()), action,
          path);
  }
  if (chunks.is_filtered && options.shuffle) {
    check(H5Pset_shuffle(create.raw()), action, path);
  }
  if (chunks.is_filtered) {
    check(H5Pset_deflate(create.raw(), static_cast<unsigned>(options.deflate_level)), action, path);
  }
}

}  // namespace

std::string time_dataset_name(const Variable& variable) { return '/' + variable.name; }

std::vector<std::byte> fill_bytes(const Variable& variable) {
  return variable.has_fill_value() ? variable.fill_value->values
                                   : std::vector<std::byte>(array::size_bytes(variable.type));
}

TimeDataset::TimeDataset(BufferedFile& file, const Variable& variable, const FormatOptions& options,
                         const Type& type, const Properties& create, Time time)
    : file_{file}, variable_{variable}, chunks_{variable, options}, time_{time} {
  const std::string name = time_dataset_name(variable);
  const std::string action = "create the dataset " + name + " in";
  const std::string& path = file.path();
  const Properties link{H5Pcreate(H5P_LINK_CREATE)};
  H5Pset_create_intermediate_group(link.raw(), 1);
  H5Pset_char_encoding(link.raw(), H5T_CSET_UTF8);
  describe_chunks(create, variable, chunks_, time, type, options, action, path);
  const Extents extent = extents(time, time == Time::grows ? 0 : 1, variable.shape);
  // A chunk has some length, and fits only into what is as long, or could be.
  Extents most = extent;
  std::ranges::replace(most, hsize_t{0}, H5S_UNLIMITED);
  const int dimensions = variable.shape.dimensions + static_cast<int>(in_front(time));
  const Space space{check(H5Screate_simple(dimensions, extent.data(), most.data()), action, path)};
  dataset_ = Dataset{check(H5Dcreate2(file.raw(), name.c_str(), type.raw(), space.raw(), link.raw(),
                                      create.raw(), H5P_DEFAULT),
                           action, path)};
}

std::int64_t TimeDataset::place(std::int64_t step) {
  if (chunks_.is_filtered || variable_.bytes() == 0) {
    return -1;
  }
  const std::int64_t in_chunk = step % chunks_.steps;
  const auto [place, is_new] = offsets_.try_emplace(step - in_chunk, 0);
  if (is_new) {
    place->second = allot(file_.raw(), chunks_.all_bytes());
  }
  return place->second + in_chunk * variable_.bytes();
}

void TimeDataset::keep(std::int64_t step, std::vector<Extent> chunks) {
  filtered_.insert_or_assign(step, std::move(chunks));
}

void TimeDataset::note(std::int64_t first_step, const std::vector<Extent>& chunks) {
  std::int64_t index = 0;
  for (const auto& chunk : chunks) {
    const Extents corner = position(time_, first_step, variable_.shape, index);
    check(note_chunk(file_.raw(), dataset_.raw(), corner.data(), chunk.offset, chunk.bytes),
          "write the index of the variable \"" + variable_.name + "\" in", file_.path());
    index += chunks_.elements;
  }
}

// Also behind the last record: somebody may go on with the file.
void TimeDataset::fill_others(std::int64_t first_step, std::int64_t offset,
                              const std::set<std::int64_t>& steps) {
  std::vector<std::byte> values(static_cast<std::size_t>(chunks_.bytes()));
  array::repeat(fill_bytes(variable_), values);
  const std::int64_t end = first_step + chunks_.steps;
  for (std::int64_t begin = first_step; begin < end; ++begin) {
    const auto next = steps.lower_bound(begin);
    const std::int64_t put = next == steps.end() ? end : std::min(*next, end);
    if (put > begin) {
      const auto bytes = static_cast<std::size_t>((put - begin) * variable_.bytes());
      write_plainly(file_.plain(), offset + (begin - first_step) * variable_.bytes(),
                    std::span{values}.first(bytes), file_.path());
    }
    begin = put;
  }
}

void TimeDataset::finish(const std::set<std::int64_t>& steps, std::int64_t records) {
  if (time_ == Time::grows) {
    const Extents extent = extents(time_, records, variable_.shape);
    check(H5Dset_extent(dataset_.raw(), extent.data()),
          "make room for the steps of the variable \"" + variable_.name + "\" in", file_.path());
  }
  for (const auto& [step, chunks] : filtered_) {
    if (steps.contains(step)) {
      note(step, chunks);
    }
  }
  for (const auto& [first, offset] : offsets_) {
    const auto put = steps.lower_bound(first);
    if (put == steps.end() || *put >= first + chunks_.steps) {
      // Nobody will read it, and a full disk may need it for what is left to write.
      (void)!::fallocate(file_.plain().raw(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                         chunks_.all_bytes());
      continue;
    }
    std::vector<Extent> chunks(static_cast<std::size_t>(chunks_.per_record));
    for (std::int64_t i = 0; i < chunks_.per_record; ++i) {
      chunks[static_cast<std::size_t>(i)] = {offset + i * chunks_.bytes(), chunks_.bytes()};
    }
    note(first, chunks);
    if (chunks_.steps > 1) {
      fill_others(first, offset, steps);
    }
  }
}

}  // namespace iocomp::formats::h5
