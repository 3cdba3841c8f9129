// SPDX-License-Identifier: BSD-3-Clause
#include "formats/plain_source.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "array/paired_runs.h"
#include "array/runs.h"
#include "base/crew.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "formats/sieve.h"
#include "formats/source.h"

namespace iocomp::formats {
namespace {

// Reading from the page cache, a separate call costs about as much as copying so many bytes in
// vain.
constexpr std::size_t bytes_per_call = 4096;

std::size_t first_long_dimension(const array::Box& box) {
  std::size_t dimension = 0;
  while (static_cast<int>(dimension) + 1 < box.dimensions && box.count[dimension] == 1) {
    ++dimension;
  }
  return dimension;
}

const std::byte* first_byte(const Destination& to, array::ElementType type) {
  array::RunCursor cursor{to.memory.shape, to.memory.box, 0, 1};
  array::Run run;
  return cursor.next(run) ? to.local + static_cast<std::size_t>(run.index) * array::size_bytes(type)
                          : to.local;
}

}  // namespace

PlainSource::PlainSource(const Path& path)
    : path_{path.text()},
      own_{path.folder().open(path.name(), O_RDONLY, OpenFolder::Links::followed)},
      file_{own_} {}

PlainSource::PlainSource(const Descriptor& file, std::string path)
    : path_{std::move(path)}, file_{file} {}

void PlainSource::check_offset(const Placed& where) const {
  if (where.offset < 0) {
    throw Error{ErrorCode::storage_failure, "cannot read " + path_ +
                                                ": its manifest does not say where the variable "
                                                "\"" +
                                                where.variable.name + "\" lies in step " +
                                                std::to_string(where.step)};
  }
}

Whereabouts PlainSource::whereabouts(const Placed& where) {
  check_offset(where);
  return {.dataset = {}, .offset = where.offset};
}

void PlainSource::read(const Placed& where, const array::Box& box, const Destination& to) {
  if (array::elements(box) == 0) {
    return;
  }
  check_offset(where);
  // Shares are rows of the first dimension that has several.
  const std::size_t dimension = first_long_dimension(box);
  const std::size_t bytes =
      static_cast<std::size_t>(array::elements(box)) * array::size_bytes(where.variable.type);
  const std::size_t row =
      box.dimensions == 0 ? bytes : bytes / static_cast<std::size_t>(box.count[dimension]);
  share(to.crew, {first_byte(to, where.variable.type), bytes}, row,
        [&](std::size_t begin, std::size_t end) {
          if (end - begin == bytes) {
            read_part(where, box, to);
            return;
          }
          array::Box part = box;
          Destination there = to;
          const auto first = static_cast<std::int64_t>(begin / row);
          part.start[dimension] += first;
          there.memory.box.start[dimension] += first;
          part.count[dimension] = there.memory.box.count[dimension] =
              static_cast<std::int64_t>((end - begin) / row);
          read_part(where, part, there);
        });
}

void PlainSource::read_part(const Placed& where, const array::Box& box, const Destination& to) {
  const std::size_t size = array::size_bytes(where.variable.type);
  Sieve sieve;
  array::PairedRuns runs{where.variable.shape, box, to.memory};
  array::PairedRun run;
  while (runs.next(run)) {
    const Wanted wanted{where.offset + run.index * static_cast<std::int64_t>(size),
                        static_cast<std::size_t>(run.elements) * size,
                        to.local + static_cast<std::size_t>(run.local_index) * size};
    if (!sieve.takes(wanted)) {
      read_group(sieve);
      sieve.clear();
    }
    sieve.add(wanted);
  }
  read_group(sieve);
}

void PlainSource::read_group(const Sieve& sieve) {
  const auto& group = sieve.group();
  std::size_t next = 0;
  if (group.size() > 1 && sieve.span_bytes() / group.size() > bytes_per_call) {
    next = take_cached(sieve);
  }
  if (next == group.size()) {
    return;
  }
  const std::int64_t begin = group[next].offset;
  if (next + 1 == group.size()) {
    read_plainly(file_, begin, {group[next].to, group[next].bytes}, path_);
    return;
  }
  read_span(sieve, next);
}

// Reads the rest of a group, with the bytes between.
void PlainSource::read_span(const Sieve& sieve, std::size_t next) {
  auto scratch = spans_.take();
  const auto& group = sieve.group();
  const std::int64_t begin = group[next].offset;
  const auto span = scratch->room(SieveLimits{}.span_bytes)
                        .first(static_cast<std::size_t>(group.back().end() - begin));
  read_plainly(file_, begin, span, path_);
  for (; next < group.size(); ++next) {
    std::memcpy(group[next].to, span.data() + (group[next].offset - begin), group[next].bytes);
  }
  spans_.give_back(std::move(scratch));
}

// Reads what needs no disk, up to the first that does. @return how many of the group that are.
std::size_t PlainSource::take_cached(const Sieve& sieve) {
  std::size_t taken = 0;
  for (const auto& wanted : sieve.group()) {
    const iovec part{wanted.to, wanted.bytes};
    if (::preadv2(file_.raw(), &part, 1, wanted.offset, RWF_NOWAIT) !=
        static_cast<ssize_t>(wanted.bytes)) {
      break;
    }
    ++taken;
  }
  return taken;
}

}  // namespace iocomp::formats
