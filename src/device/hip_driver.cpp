// SPDX-License-Identifier: BSD-3-Clause
// The functions and numbers of hip_runtime_api.h that are needed here, as ROCm documents them.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "device/driver.h"
#include "device/loaded_library.h"

namespace iocomp::device {
namespace hip {
namespace {

using Result = int;
using Stream = void*;
using Event = void*;

constexpr int memory_type_attribute = 2;
constexpr int device_attribute = 9;

// ROCm 6 has other numbers for kinds of memory.
constexpr int first_with_new_kinds = 60'000'000;

constexpr unsigned portable = 1;            // pinned for all GPUs
constexpr unsigned sleeping_event = 1 | 2;  // blocking, without timing
constexpr int to_host = 2;

struct HipFunctions {
  explicit HipFunctions(const LoadedLibrary& library) {
    library.need("hipGetErrorString", error_string);
    library.need("hipGetDevice", device);
    library.need("hipSetDevice", set_device);
    library.need("hipStreamCreate", create_stream);
    library.need("hipStreamDestroy", destroy_stream);
    library.need("hipEventCreateWithFlags", create_event);
    library.need("hipEventRecord", record);
    library.need("hipEventSynchronize", synchronize);
    library.need("hipEventDestroy", destroy_event);
    library.need("hipHostMalloc", allocate_host);
    library.need("hipHostFree", free_host);
    library.need("hipMemcpyAsync", copy);
  }

  void check(Result result, const char* call) const {
    if (result != 0) {
      const char* text = error_string(result);
      throw Error{ErrorCode::invalid_argument,
                  std::string{"HIP's "} + call +
                      " failed: " + (text != nullptr ? text : "error " + std::to_string(result)) +
                      "; it may be a failure of what the program did before"};
    }
  }

  const char* (*error_string)(Result) = nullptr;
  Result (*device)(int*) = nullptr;
  Result (*set_device)(int) = nullptr;
  Result (*create_stream)(Stream*) = nullptr;
  Result (*destroy_stream)(Stream) = nullptr;
  Result (*create_event)(Event*, unsigned) = nullptr;
  Result (*record)(Event, Stream) = nullptr;
  Result (*synchronize)(Event) = nullptr;
  Result (*destroy_event)(Event) = nullptr;
  Result (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Result (*free_host)(void*) = nullptr;
  Result (*copy)(void*, const void*, std::size_t, int, Stream) = nullptr;
};

/// A GPU is current while this lives.
class CurrentGpu {
 public:
  CurrentGpu(const HipFunctions& hip, int gpu) : hip_{hip} {
    hip_.check(hip_.device(&before_), "hipGetDevice");
    hip_.check(hip_.set_device(gpu), "hipSetDevice");
  }
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
  ~CurrentGpu() { hip_.set_device(before_); }

 private:
  const HipFunctions& hip_;
  int before_ = 0;
};

class HipWindow : public Window {
 public:
  HipWindow(std::shared_ptr<const HipFunctions> hip, int gpu, std::size_t bytes)
      : hip_{std::move(hip)}, gpu_{gpu} {
    const CurrentGpu current{*hip_, gpu_};
    try {
      hip_->check(hip_->create_stream(&stream_), "hipStreamCreate");
      hip_->check(hip_->create_event(&event_, sleeping_event), "hipEventCreateWithFlags");
      void* first = nullptr;
      hip_->check(hip_->allocate_host(&first, bytes, portable), "hipHostMalloc");
      memory_ = {static_cast<std::byte*>(first), bytes};
    } catch (...) {
      release();
      throw;
    }
  }
  HipWindow(const HipWindow&) = delete;
  HipWindow& operator=(const HipWindow&) = delete;
  ~HipWindow() override { release(); }

  [[nodiscard]] std::span<std::byte> memory() noexcept override { return memory_; }

  void fetch(const std::byte* from, std::size_t bytes) override {
    const CurrentGpu current{*hip_, gpu_};
    hip_->check(hip_->copy(memory_.data(), from, bytes, to_host, stream_), "hipMemcpyAsync");
    hip_->check(hip_->record(event_, stream_), "hipEventRecord");
    hip_->check(hip_->synchronize(event_), "hipEventSynchronize");
  }

 private:
  void release() noexcept {
    if (!memory_.empty()) {
      hip_->free_host(memory_.data());
    }
    if (event_ != nullptr) {
      hip_->destroy_event(event_);
    }
    if (stream_ != nullptr) {
      hip_->destroy_stream(stream_);
    }
  }

  std::shared_ptr<const HipFunctions> hip_;
  int gpu_;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  std::span<std::byte> memory_{};
};

// As for CUDA: a program that has loaded it may have no values there.
class HipDriver : public Driver {
 public:
  explicit HipDriver(const std::string& path) : library_{path} {
    library_.find("hipPointerGetAttribute", attribute_);
    library_.find("hipPeekAtLastError", peek_);
    library_.find("hipGetLastError", take_last_error_);
    Result (*version_of)(int*) = nullptr;
    library_.find("hipRuntimeGetVersion", version_of);
    int version = 0;
    has_new_kinds_ =
        version_of == nullptr || version_of(&version) != 0 || version >= first_with_new_kinds;
  }

  [[nodiscard]] std::optional<Owner> owner_of(const void* address) override {
    int kind = 0;
    const int of_device = has_new_kinds_ ? 2 : 1;
    if (!ask(memory_type_attribute, address, kind) || kind < of_device) {
      return std::nullopt;  // no memory of HIP's, or of the host
    }
    if (kind == (has_new_kinds_ ? 10 : 2)) {
      throw Error{ErrorCode::unsupported,
                  "the values are in an array of textures of HIP; iocomp takes memory of "
                  "hipMalloc, hipMallocAsync and hipMallocManaged"};
    }
    Owner owner;
    (void)ask(device_attribute, address, owner.gpu);
    return owner;
  }

  [[nodiscard]] std::unique_ptr<Window> make_window(const Owner& owner,
                                                    std::size_t bytes) override {
    if (!hip_) {
      hip_ = std::make_shared<const HipFunctions>(library_);
    }
    return std::make_unique<HipWindow>(hip_, owner.gpu, bytes);
  }

 private:
  // HIP remembers failures, and the program looks for its own.
  bool ask(int attribute, const void* address, int& answer) const {
    if (attribute_ == nullptr) {
      return false;
    }
    const bool had_error = peek_ != nullptr && peek_() != 0;
    if (attribute_(&answer, attribute, address) == 0) {
      return true;
    }
    if (!had_error && take_last_error_ != nullptr) {
      (void)take_last_error_();
    }
    return false;
  }

  LoadedLibrary library_;
  Result (*attribute_)(void*, int, const void*) = nullptr;
  Result (*peek_)() = nullptr;
  Result (*take_last_error_)() = nullptr;
  bool has_new_kinds_ = true;
  std::shared_ptr<const HipFunctions> hip_;  // when values are there
};

}  // namespace
}  // namespace hip

std::unique_ptr<Driver> hip_driver(const std::string& path) {
  return std::make_unique<hip::HipDriver>(path);
}

}  // namespace iocomp::device
