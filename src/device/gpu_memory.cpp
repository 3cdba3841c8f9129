// SPDX-License-Identifier: BSD-3-Clause
#include "device/gpu_memory.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "device/driver.h"
#include "device/gpu_values.h"
#include "device/loaded_library.h"

namespace iocomp::device {
namespace {

constexpr std::string_view cuda_library = "libcuda.so";
constexpr std::string_view hip_library = "libamdhip64.so";

void need_support() {
#ifndef IOCOMP_WITH_GPU
  throw Error{ErrorCode::unsupported,
              "the values are in the memory of a GPU, and no GPU has run iocomp's code for it yet: "
              "build iocomp with -DIOCOMP_WITH_GPU=ON, or copy them to memory of the CPU"};
#endif
}

}  // namespace

void GpuMemory::look_ahead() {
  const unsigned long long now = loads();
  if (now != loads_ && loaded_path(cuda_library).empty() && loaded_path(hip_library).empty()) {
    loads_ = now;
  }
}

void GpuMemory::look_for_drivers() {
  const unsigned long long now = loads();
  if (now == loads_) {
    return;
  }
  if (const std::string path = loaded_path(cuda_library); !has_cuda_ && !path.empty()) {
    drivers_.push_back(cuda_driver(path));
    has_cuda_ = true;
  }
  if (const std::string path = loaded_path(hip_library); !has_hip_ && !path.empty()) {
    drivers_.push_back(hip_driver(path));
    has_hip_ = true;
  }
  loads_ = now;
}

std::shared_ptr<GpuValues> GpuMemory::find(const void* first, std::size_t begin, std::size_t end) {
  look_for_drivers();
  for (const auto& driver : drivers_) {
    if (const auto owner = driver->owner_of(first)) {
      need_support();
      auto& window = windows_[{driver.get(), *owner}];
      if (!window) {
        window = driver->make_window(*owner, window_bytes);
      }
      return std::make_shared<GpuValues>(*window, static_cast<const std::byte*>(first), begin, end);
    }
  }
  return nullptr;
}

bool GpuMemory::is_there(const void* address) {
  look_for_drivers();
  return std::ranges::any_of(
      drivers_, [&](const auto& driver) { return driver->owner_of(address).has_value(); });
}

}  // namespace iocomp::device
