// How the records of a NetCDF-4 file come to be, and what they hold where nobody put anything.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/region.h"
#include "formats/cdf/attempts.h"
#include "formats/cdf/types.h"
#include "formats/format.h"
#include "formats/netcdf/target.h"
#include "formats/sub_boxes.h"
#include "mpi/agree.h"

namespace iocomp::formats::cdf {
namespace {

constexpr std::int64_t record_bytes = std::int64_t{4} << 10;  // metadata, at most
using Places = std::array<std::size_t, array::max_dimensions + 1>;

}  // namespace

// A variable grows only in a collective write. One writer has one element for it, which is written
// before anybody leaves: the data of others may go to the same place.
void NetcdfTarget::add_record(Defined& defined, std::int64_t step) {
  const std::string action = "make room for step " + std::to_string(step) + " of the variable \"" +
                             defined.variable.name + "\" in";
  const auto chunk_bytes = static_cast<std::int64_t>(
      std::accumulate(defined.chunk.begin(), defined.chunk.end(),
                      array::size_bytes(defined.variable.type), std::multiplies<>{}));
  const std::int64_t chunks = 2 + defined.variable.bytes() / chunk_bytes;
  reserve((step + 1 - defined.records) * (chunks * chunk_bytes + record_bytes), action);
  Places start{};
  Places count{};
  start[0] = static_cast<std::size_t>(step);
  std::fill(count.begin(), count.end(), rank_ == 0 ? 1 : 0);
  const std::array<std::byte, sizeof(double)> zero{};  // like what nobody puts
  Attempts attempt;
  attempt([&] { check(nc_var_par_access(file_, defined.number, NC_COLLECTIVE), action); });
  attempt([&] {
    check(nc_put_vara(file_, defined.number, start.data(), count.data(), zero.data()), action);
  });
  attempt([&] { check(nc_var_par_access(file_, defined.number, NC_INDEPENDENT), action); });
  mpi::gate(writers_, {}, "the other writers of a record's room");
  attempt.rethrow();
  defined.records = step + 1;
}

// Of variables with records: steps that failed, or in which others were put.
void NetcdfTarget::fill_what_nobody_put(const Description& description) {
  auto missing = placed_;
  std::int64_t records = 0;
  for (const auto& [step, id] : placed_) {
    records = std::max(records, step + 1);
  }
  for (const auto& [id, defined] : defined_) {
    for (std::int64_t step = 0; step < std::min(records, defined.records); ++step) {
      missing.emplace(step, id);
    }
  }
  for (const auto& placed : description.contents) {
    missing.erase({placed.step, placed.variable.id});
  }
  constexpr std::int64_t part_bytes = std::int64_t{1} << 20;
  for (const auto& [step, id] : missing) {
    const Defined& defined = defined_.at(id);
    const auto value = fill_value(defined.variable.type, defined.variable.fill_value);
    const array::Box whole = array::whole(defined.variable.shape);
    const std::int64_t all = array::elements(whole);
    const std::int64_t most = std::min(all, part_bytes / std::ssize(value));
    std::vector<std::byte> values;
    for (std::int64_t i = 0; i < most; ++i) {
      values.insert(values.end(), value.begin(), value.end());
    }
    for (std::int64_t first = 0; first < all; first += most) {
      for (const auto& part : sub_boxes(whole, first, std::min(most, all - first))) {
        put(defined, step, part, values.data());
      }
    }
  }
}

}  // namespace iocomp::formats::cdf
