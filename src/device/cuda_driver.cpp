// SPDX-License-Identifier: BSD-3-Clause
// The functions and numbers of cuda.h that are needed here, as NVIDIA's driver API documents them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "device/driver.h"
#include "device/loaded_library.h"

namespace iocomp::device {
namespace cuda {
namespace {

using Result = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Address = std::uintptr_t;  // CUdeviceptr

constexpr int context_attribute = 1;
constexpr int memory_type_attribute = 2;
constexpr int device_attribute = 9;

constexpr unsigned of_host = 1;
constexpr unsigned of_device = 2;
constexpr unsigned unified = 4;

constexpr unsigned default_stream_flags = 0;  // waits for the default stream
constexpr unsigned portable = 1;              // pinned for all contexts
constexpr unsigned sleeping_event = 1 | 2;    // blocking, without timing

struct CudaFunctions {
  explicit CudaFunctions(const LoadedLibrary& library) {
    library.need("cuGetErrorString", error_string);
    library.need("cuDevicePrimaryCtxRetain", retain_primary);
    library.need("cuCtxPushCurrent_v2", push);
    library.need("cuCtxPopCurrent_v2", pop);
    library.need("cuStreamCreate", create_stream);
    library.need("cuStreamDestroy_v2", destroy_stream);
    library.need("cuEventCreate", create_event);
    library.need("cuEventRecord", record);
    library.need("cuEventSynchronize", synchronize);
    library.need("cuEventDestroy_v2", destroy_event);
    library.need("cuMemHostAlloc", allocate_host);
    library.need("cuMemFreeHost", free_host);
    library.need("cuMemcpyDtoHAsync_v2", copy);
  }

  void check(Result result, const char* call) const {
    if (result == 0) {
      return;
    }
    const char* text = nullptr;
    const bool has_text = error_string(result, &text) == 0 && text != nullptr;
    throw Error{ErrorCode::invalid_argument,
                std::string{"CUDA's "} + call +
                    " failed: " + (has_text ? text : "error " + std::to_string(result)) +
                    "; it may be a failure of what the program did before"};
  }

  Result (*error_string)(Result, const char**) = nullptr;
  Result (*retain_primary)(Context*, int) = nullptr;
  Result (*push)(Context) = nullptr;
  Result (*pop)(Context*) = nullptr;
  Result (*create_stream)(Stream*, unsigned) = nullptr;
  Result (*destroy_stream)(Stream) = nullptr;
  Result (*create_event)(Event*, unsigned) = nullptr;
  Result (*record)(Event, Stream) = nullptr;
  Result (*synchronize)(Event) = nullptr;
  Result (*destroy_event)(Event) = nullptr;
  Result (*allocate_host)(void**, std::size_t, unsigned) = nullptr;
  Result (*free_host)(void*) = nullptr;
  Result (*copy)(void*, Address, std::size_t, Stream) = nullptr;
};

/// A context is current while this lives.
class CurrentContext {
 public:
  CurrentContext(const CudaFunctions& cuda, Context context) : cuda_{cuda} {
    cuda_.check(cuda_.push(context), "cuCtxPushCurrent");
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext() {
    Context popped = nullptr;
    cuda_.pop(&popped);
  }

 private:
  const CudaFunctions& cuda_;
};

class CudaWindow : public Window {
 public:
  CudaWindow(std::shared_ptr<const CudaFunctions> cuda, Context context, std::size_t bytes)
      : cuda_{std::move(cuda)}, context_{context} {
    const CurrentContext current{*cuda_, context_};
    try {
      cuda_->check(cuda_->create_stream(&stream_, default_stream_flags), "cuStreamCreate");
      cuda_->check(cuda_->create_event(&event_, sleeping_event), "cuEventCreate");
      void* first = nullptr;
      cuda_->check(cuda_->allocate_host(&first, bytes, portable), "cuMemHostAlloc");
      memory_ = {static_cast<std::byte*>(first), bytes};
    } catch (...) {
      release();
      throw;
    }
  }
  CudaWindow(const CudaWindow&) = delete;
  CudaWindow& operator=(const CudaWindow&) = delete;
  // The program may have ended the context; then all of it is gone.
  ~CudaWindow() override {
    if (cuda_->push(context_) == 0) {
      release();
      Context popped = nullptr;
      cuda_->pop(&popped);
    }
  }

  [[nodiscard]] std::span<std::byte> memory() noexcept override { return memory_; }

  void fetch(const std::byte* from, std::size_t bytes) override {
    const CurrentContext current{*cuda_, context_};
    cuda_->check(cuda_->copy(memory_.data(), reinterpret_cast<Address>(from), bytes, stream_),
                 "cuMemcpyDtoHAsync");
    cuda_->check(cuda_->record(event_, stream_), "cuEventRecord");
    cuda_->check(cuda_->synchronize(event_), "cuEventSynchronize");
  }

 private:
  void release() noexcept {
    if (!memory_.empty()) {
      cuda_->free_host(memory_.data());
    }
    if (event_ != nullptr) {
      cuda_->destroy_event(event_);
    }
    if (stream_ != nullptr) {
      cuda_->destroy_stream(stream_);
    }
  }

  std::shared_ptr<const CudaFunctions> cuda_;
  Context context_;
  Stream stream_ = nullptr;
  Event event_ = nullptr;
  std::span<std::byte> memory_{};
};

// Programs that have no values there may have loaded it, however old it is: only what they need is
// looked for.
class CudaDriver : public Driver {
 public:
  explicit CudaDriver(const std::string& path) : library_{path} {
    library_.find("cuPointerGetAttribute", attribute_);
  }

  [[nodiscard]] std::optional<Owner> owner_of(const void* address) override {
    unsigned type = 0;
    const auto at = reinterpret_cast<Address>(address);
    if (attribute_ == nullptr || attribute_(&type, memory_type_attribute, at) != 0 ||
        type == of_host) {
      return std::nullopt;  // no memory of CUDA's, or of a driver that was never initialized
    }
    if (type != of_device && type != unified) {
      throw Error{ErrorCode::unsupported,
                  "the values are in memory of CUDA of kind " + std::to_string(type) +
                      "; iocomp takes memory of cudaMalloc, cudaMallocAsync and "
                      "cudaMallocManaged"};
    }
    Owner owner;
    (void)attribute_(&owner.gpu, device_attribute, at);
    Context context = nullptr;  // memory of pools has none
    if (attribute_(static_cast<void*>(&context), context_attribute, at) == 0) {
      owner.context = reinterpret_cast<std::uintptr_t>(context);
    }
    return owner;
  }

  [[nodiscard]] std::unique_ptr<Window> make_window(const Owner& owner,
                                                    std::size_t bytes) override {
    if (!cuda_) {
      cuda_ = std::make_shared<const CudaFunctions>(library_);
    }
    auto* context = reinterpret_cast<Context>(owner.context);
    if (context == nullptr) {
      cuda_->check(cuda_->retain_primary(&context, owner.gpu), "cuDevicePrimaryCtxRetain");
    }
    return std::make_unique<CudaWindow>(cuda_, context, bytes);
  }

 private:
  LoadedLibrary library_;
  Result (*attribute_)(void*, int, Address) = nullptr;
  std::shared_ptr<const CudaFunctions> cuda_;  // when values are there
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Driver> cuda_driver(const std::string& path) {
  return std::make_unique<cuda::CudaDriver>(path);
}

}  // namespace iocomp::device
