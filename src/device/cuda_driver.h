// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "device/driver.h"

namespace iocomp::device {

/// The driver of NVIDIA: libcuda.so, which programs of the CUDA runtime load too.
/// @param path  of the library, which is loaded.
[[nodiscard]] std::unique_ptr<Driver> cuda_driver(const std::string& path);

}  // namespace iocomp::device
