#include "formats/cdf/reserved_room.h"

#include <mpi.h>

#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>

#include "base/descriptor.h"
#include "formats/hdf5/room.h"
#include "formats/open_together.h"
#include "formats/words.h"
#include "mpi/error.h"

namespace iocomp::formats::cdf {
namespace {

constexpr std::int64_t at_once_bytes = std::int64_t{1} << 20;
constexpr std::int64_t bytes_around_an_attribute = 512;

std::int64_t size_of(const Attributes& attributes) {
  return std::accumulate(attributes.begin(), attributes.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) {
                           return sum + bytes_around_an_attribute + std::ssize(entry.first) +
                                  std::ssize(entry.second.values);
                         });
}

}  // namespace

ReservedRoom::ReservedRoom(const std::string& path, const Descriptor& file, MPI_Comm writers)
    : path_{path}, file_{file}, writers_{writers} {}

// Only the first writer asks, for all: the others would set the same bytes aside.
void ReservedRoom::reserve(std::int64_t bytes, const std::string& action) {
  if (bytes <= reserved_) {
    return;
  }
  int rank = 0;
  mpi::check(MPI_Comm_rank(writers_, &rank));
  const std::int64_t ahead = (bytes / at_once_bytes + 1) * at_once_bytes;
  agree_on_errno(rank == 0 ? h5::reserve(file_, ahead) : 0, action, path_, writers_);
  reserved_ = ahead;
}

std::int64_t ReservedRoom::size_of_attributes(const Description& description) {
  std::int64_t sum = size_of(description.attributes);
  for (const auto& of_variable : description.of_variable) {
    sum += size_of(of_variable);
  }
  return sum;
}

}  // namespace iocomp::formats::cdf
