// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "array/element_type.h"
#include "base/descriptor.h"
#include "base/path.h"
#include "base/plain_io.h"
#include "formats/words.h"

namespace iocomp::formats {

std::vector<std::byte> fill_bytes(const Variable& variable) {
  return variable.has_fill_value() ? variable.fill_value->values
                                   : std::vector<std::byte>(array::size_bytes(variable.type));
}

void make_visible(const Descriptor& file, const Switch& visible, const std::string& path) {
  write_plainly(file, visible.offset, visible.bytes, path);
}

void finish(const Target& target, const Description& description) {
  if (const auto* const shared = std::get_if<std::unique_ptr<SharedTarget>>(&target);
      shared != nullptr && *shared) {
    (*shared)->finish(description);
  }
  if (const auto* const steps = std::get_if<std::unique_ptr<StepTarget>>(&target);
      steps != nullptr && *steps) {
    (*steps)->finish(description);
  }
}

void close(const Target& target, const Description& description) {
  if (const auto* const steps = std::get_if<std::unique_ptr<StepTarget>>(&target);
      steps != nullptr && *steps) {
    (*steps)->close(description);
  }
}

}  // namespace iocomp::formats
