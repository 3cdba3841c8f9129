// SPDX-License-Identifier: BSD-3-Clause
// libcuda.so of the stand-in: the functions of CUDA's driver that iocomp calls. One context has all
// the memory; memory of kind 4 has none, as that of pools.
#include <cstddef>
#include <cstdint>

#include "mpi/gpu/stand_in.h"

namespace {

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int invalid_context = 201;
constexpr int illegal_address = 700;

int context_of_all = 0;
int depth = 0;  // of the stack of contexts

}  // namespace

extern "C" {

int cuGetErrorString(int error, const char** text) {
  *text = error == illegal_address ? "an illegal memory access was encountered" : "unknown error";
  return success;
}

int cuPointerGetAttribute(void* answer, int attribute, std::uintptr_t address) {
  const int kind = stand_in::kind_of(reinterpret_cast<void*>(address));
  if (kind == 0) {
    return invalid_value;
  }
  switch (attribute) {
    case 1:
      *static_cast<void**>(answer) = kind == 4 ? nullptr : &context_of_all;
      return success;
    case 2:
      *static_cast<unsigned*>(answer) = static_cast<unsigned>(kind);
      return success;
    case 9:
      *static_cast<int*>(answer) = 0;
      return success;
    default:
      return invalid_value;
  }
}

int cuDevicePrimaryCtxRetain(void** context, int /*gpu*/) {
  *context = &context_of_all;
  return success;
}

int cuCtxPushCurrent_v2(void* context) {
  depth += context == &context_of_all ? 1 : 0;
  return context == &context_of_all ? success : invalid_context;
}

int cuCtxPopCurrent_v2(void** context) {
  *context = &context_of_all;
  --depth;
  return success;
}

int cuStreamCreate(void** stream, unsigned flags) {
  *stream = stand_in::make();
  return depth > 0 && flags == 0 ? success : invalid_context;
}

int cuStreamDestroy_v2(void* stream) {
  stand_in::destroy(stream);
  return success;
}

int cuEventCreate(void** event, unsigned /*flags*/) {
  *event = stand_in::make();
  return depth > 0 ? success : invalid_context;
}

int cuEventRecord(void* event, void* stream) {
  return event != nullptr && stream != nullptr && depth > 0 ? success : invalid_value;
}

int cuEventSynchronize(void* /*event*/) {
  stand_in::end_copies();
  return success;
}

int cuEventDestroy_v2(void* event) {
  stand_in::destroy(event);
  return success;
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  *memory = stand_in::pin(bytes);
  return success;
}

int cuMemFreeHost(void* memory) { return stand_in::unpin(memory) ? success : invalid_value; }

int cuMemcpyDtoHAsync_v2(void* to, std::uintptr_t from, std::size_t bytes, void* stream) {
  const bool can = depth > 0 && stream != nullptr &&
                   stand_in::begin_copy(to, reinterpret_cast<void*>(from), bytes);
  return can ? success : illegal_address;
}

}  // extern "C"
