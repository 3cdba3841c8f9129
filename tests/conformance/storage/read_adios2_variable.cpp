// SPDX-License-Identifier: BSD-3-Clause
#include "read_adios2_variable.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "formats/format.h"
#include "read_adios2.h"

namespace iocomp::formats {
namespace {

std::string name_in_adios2(array::ElementType type) {
  static const std::map<std::string, std::string> others{{"char", "char"},
                                                         {"float32", "float"},
                                                         {"float64", "double"},
                                                         {"complex64", "float complex"},
                                                         {"complex128", "double complex"}};
  const std::string name{array::name(type)};
  const auto other = others.find(name);
  return other == others.end() ? name + "_t" : other->second;
}

}  // namespace

std::vector<std::byte> read_adios2_variable(const std::string& path, const std::string& engine,
                                            const Placed& placed) {
  const auto dataset = tests::read_adios2(path, engine);
  const auto step = static_cast<std::size_t>(placed.step);
  if (step >= dataset.steps.size()) {
    return {};
  }
  const auto found = dataset.steps[step].find(placed.variable.name);
  const auto& extents = placed.variable.shape.extent;
  const std::vector<std::int64_t> shape(extents.begin(),
                                        extents.begin() + placed.variable.shape.dimensions);
  const bool is_letter = placed.variable.type == array::ElementType::character && shape.empty();
  const auto type = is_letter ? array::ElementType::uint8 : placed.variable.type;
  const bool is_alike = found != dataset.steps[step].end() && found->second.shape == shape &&
                        found->second.type == name_in_adios2(type);
  return is_alike ? found->second.bytes : std::vector<std::byte>{};
}

}  // namespace iocomp::formats
