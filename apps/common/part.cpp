// SPDX-License-Identifier: BSD-3-Clause
#include "common/part.h"

#include <functional>
#include <numeric>
#include <utility>

#include "common/session.h"

namespace iocomp::apps {

std::int64_t product(const Indices& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

BoxPart::BoxPart(Indices shape, Indices start, Indices count)
    : Part{std::move(shape)}, start_{std::move(start)}, count_{std::move(count)} {}

std::size_t BoxPart::elements() const noexcept { return static_cast<std::size_t>(product(count_)); }

void BoxPart::put(iocomp_var* variable, const double* values, iocomp_ticket* ticket) const {
  check(iocomp_put(variable, start_.data(), count_.data(), values, ticket), "iocomp_put");
}

void BoxPart::read(iocomp_input* input, const std::string& variable, std::int64_t step,
                   std::span<double> values) const {
  check(iocomp_read(input, variable.c_str(), step, start_.data(), count_.data(), values.data()),
        "iocomp_read");
}

}  // namespace iocomp::apps
