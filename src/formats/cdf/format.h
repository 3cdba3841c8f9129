// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// What the formats have in common that netCDF reads.
class CdfFormat : public Format {
 public:
  using Format::Format;
  [[nodiscard]] bool has_in_all_steps(const Variable& variable) const override;
  void check(const Variable& variable) const override;
  void check_attribute(const std::string& attribute_name,
                       const Attribute& attribute) const override;
  [[nodiscard]] std::unique_ptr<Source> open(const Path& path) const override;
};

/// "netCDF 4.9.0"
[[nodiscard]] std::string library_version();

}  // namespace iocomp::formats::cdf
