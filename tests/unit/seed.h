// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace iocomp {

/// A new seed for each run of a test with random cases. Failures print it (SCOPED_TRACE);
/// IOCOMP_TEST_SEED repeats them.
inline std::uint32_t test_seed() {
  const char* chosen = std::getenv("IOCOMP_TEST_SEED");
  return chosen == nullptr ? std::random_device{}()
                           : static_cast<std::uint32_t>(std::stoul(chosen));
}

inline std::string seed_text(std::uint32_t seed) {
  return "IOCOMP_TEST_SEED=" + std::to_string(seed);
}

/// A number from `lowest` to `highest`, both included.
template <typename Generator>
std::int64_t draw(Generator& generator, std::int64_t lowest, std::int64_t highest) {
  return std::uniform_int_distribution<std::int64_t>{lowest, highest}(generator);
}

}  // namespace iocomp
