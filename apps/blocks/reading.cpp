// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/reading.h"

#include <stdexcept>

#include "blocks/iocomp_reader.h"
#include "common/huge_memory.h"
#include "common/ranks.h"
#include "common/stopwatch.h"

namespace iocomp::apps::blocks {
namespace {

std::unique_ptr<BlockReader> open_reader(const Session* session, const Way& way, const Part& part,
                                         const Target& target) {
  if (way.baseline != nullptr) return way.baseline->open(target);
  return IocompReader::open(*session, way.name + part.suffix(), target);
}

/// True if a way can read no other box than the one that the rank wrote.
bool reads_own_only(const Way& way, const Part& part) {
  return !part.is_global() || (way.baseline != nullptr && way.baseline->name == "posix");
}

/// A slab of whole planes, of other ranks where there are others.
Box slab_of(const Extents& shape, MPI_Comm comm) {
  std::vector<int> grid(shape.size(), 1);
  grid[0] = size_of(comm);
  return part_of(shape, grid, size_of(comm) - 1 - rank_in(comm));
}

}  // namespace

double timed_read(const Session* session, const Way& way, const Part& part, const Target& target,
                  const Box& box, MPI_Comm comm) {
  const Box& wanted = reads_own_only(way, part) ? part.block().own : box;
  HugeArray values{static_cast<std::size_t>(wanted.elements())};
  MPI_Barrier(comm);
  const double begin = now_seconds();
  const std::unique_ptr<BlockReader> reader = open_reader(session, way, part, target);
  if (!reader) return 0;
  for (int step = 0; step < target.steps; ++step) reader->read(step, wanted, values.values());
  reader->close();
  return max_over(comm, now_seconds() - begin);
}

bool is_as_written(const Session* session, const Way& way, const ReadBack& expected,
                   const Target& target) {
  const std::unique_ptr<BlockReader> reader = open_reader(session, way, expected.part, target);
  if (!reader) return false;
  const bool own = reads_own_only(way, expected.part);
  const Box in_file =
      own ? expected.part.block().own : slab_of(expected.global.shape, expected.part.comm());
  const Box in_array = own ? expected.global.own : in_file;
  HugeArray values{static_cast<std::size_t>(in_file.elements())};
  for (int step = 0; step < target.steps; ++step) {
    reader->read(step, in_file, values.values());
    const std::string mistake =
        mistake_in(expected.global.shape, in_array, expected.pattern(step), values.values());
    if (!mistake.empty()) {
      throw std::runtime_error(target.path + " (" + way.label + "), step " + std::to_string(step) +
                               ": " + mistake);
    }
  }
  reader->close();
  return true;
}

}  // namespace iocomp::apps::blocks
