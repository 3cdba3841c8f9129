// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/format.h"

namespace iocomp::formats::cdf {

/// What the formats have in common that netCDF reads.
class CdfFormat : public Format {
 public:
  using Format::Format;
  [[nodiscard]] std::unique_ptr<Source> open(const Path& path) const override;
};

/// "netCDF 4.9.0"
[[nodiscard]] std::string library_version();

}  // namespace iocomp::formats::cdf
