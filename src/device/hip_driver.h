// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "device/driver.h"

namespace iocomp::device {

/// The driver of AMD: libamdhip64.so.
/// @param path  of the library, which is loaded.
[[nodiscard]] std::unique_ptr<Driver> hip_driver(const std::string& path);

}  // namespace iocomp::device
