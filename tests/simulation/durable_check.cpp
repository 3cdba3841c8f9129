// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "check.h"

namespace simulation {
namespace {

// True if the bytes of a put lie where its variable is.
bool is_there(const PlannedFile& file, const PutName& name, const FileBytes& bytes,
              const BytesAt& where) {
  const auto [step, v, p] = name;
  const auto& part = file.steps[static_cast<std::size_t>(step)].variables[v];
  const Put& put = part.puts[p];
  const std::size_t size = iocomp::array::size_bytes(file.variables[v].type);
  const auto row = static_cast<std::size_t>(put.count.back()) * size;
  auto expected = values_of(file, v, step, put.start, put.count);
  if (where.are_big_endian) {
    iocomp::array::swap_bytes(expected, size);
  }
  std::vector<std::int64_t> index = put.start;
  std::vector<std::byte> found(row);
  for (std::size_t at = 0; at < expected.size(); at += row) {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      element = element * part.shape[d] + index[d];
    }
    const std::int64_t offset = where.offset + element * static_cast<std::int64_t>(size);
    if (bytes.read(offset, found) != row ||
        !std::equal(found.begin(), found.end(),
                    expected.begin() + static_cast<std::ptrdiff_t>(at))) {
      return false;
    }
    for (std::size_t d = index.size() - 1; d-- > 0;) {
      if (++index[d] < put.start[d] + put.count[d]) {
        break;
      }
      index[d] = put.start[d];
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> check_durable(const Plan& plan, const std::vector<Told>& told,
                                       const Disk& disk, const std::string& when,
                                       const std::vector<Seen>& places) {
  std::vector<std::string> violations;
  for (std::size_t number = 0; number < plan.files.size(); ++number) {
    const PlannedFile& file = plan.files[number];
    for (const PutName& put : told[number].durable) {
      const auto [step, v, p] = put;
      const auto where = places[number].places.find({step, v});
      if (where != places[number].places.end() &&
          !is_there(file, put, disk.bytes(where->second.inode), where->second)) {
        violations.push_back(when + ": a ticket of " + file.variables[v].name + " in step " +
                             std::to_string(step) + " of " + file.name +
                             " was called durable, and its bytes are gone");
      }
    }
  }
  return violations;
}

}  // namespace simulation
