#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace actor {

/// The type of that name: int8, int32, int64, float64. @throws std::runtime_error.
[[nodiscard]] iocomp_type type_of(const std::string& name);

/// The values of a block: each tells its global index and its step (stage.py computes the same).
[[nodiscard]] std::vector<std::byte> values_of(iocomp_type type,
                                               const std::vector<std::int64_t>& shape,
                                               const std::vector<std::int64_t>& start,
                                               const std::vector<std::int64_t>& count,
                                               std::int64_t step);

[[nodiscard]] std::int64_t product(const std::vector<std::int64_t>& extents);

}  // namespace actor
