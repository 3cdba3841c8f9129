// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace iocomp::tests {

/// A variable in a step, or an attribute, as ADIOS2 reads it; types by its names: "double".
struct Adios2Values {
  std::string type;
  std::vector<std::int64_t> shape;  ///< of an attribute: its number of values
  std::vector<std::byte> bytes;     ///< packed; where nobody wrote, zeros
};

struct Adios2Dataset {
  std::vector<std::map<std::string, Adios2Values>> steps;
  std::map<std::string, Adios2Values> attributes;  ///< as they are in the last step
};

/// All of a dataset, read by ADIOS2 without MPI and without iocomp. Throws what ADIOS2 throws.
[[nodiscard]] Adios2Dataset read_adios2(const std::string& path, const std::string& engine);

}  // namespace iocomp::tests
