// SPDX-License-Identifier: BSD-3-Clause
// libamdhip64.so of the stand-in: the functions of HIP that iocomp calls, as of ROCm 6. The memory
// is that of GPU 1; the program works with GPU 0.
#include <cstddef>

#include "mpi/gpu/stand_in.h"

namespace {

constexpr int success = 0;
constexpr int invalid_value = 1;
constexpr int illegal_address = 700;
constexpr int gpu_of_memory = 1;

int current = 0;
int last_error = 0;

}  // namespace

extern "C" {

const char* hipGetErrorString(int error) {
  return error == illegal_address ? "an illegal memory access was encountered" : "unknown error";
}

int hipPeekAtLastError() { return last_error; }

int hipGetLastError() {
  const int error = last_error;
  last_error = success;
  return error;
}

int hipRuntimeGetVersion(int* version) {
  *version = 60'032'830;
  return success;
}

int hipPointerGetAttribute(void* answer, int attribute, const void* address) {
  const int kind = stand_in::kind_of(address);
  if (kind == 0 || (attribute != 2 && attribute != 9)) {
    last_error = invalid_value;
    return invalid_value;
  }
  *static_cast<int*>(answer) = attribute == 2 ? kind : gpu_of_memory;
  return success;
}

int hipGetDevice(int* gpu) {
  *gpu = current;
  return success;
}

int hipSetDevice(int gpu) {
  current = gpu;
  return success;
}

int hipStreamCreate(void** stream) {
  *stream = stand_in::make();
  return success;
}

int hipStreamDestroy(void* stream) {
  stand_in::destroy(stream);
  return success;
}

int hipEventCreateWithFlags(void** event, unsigned /*flags*/) {
  *event = stand_in::make();
  return success;
}

int hipEventRecord(void* event, void* stream) {
  return event != nullptr && stream != nullptr ? success : invalid_value;
}

int hipEventSynchronize(void* /*event*/) {
  stand_in::end_copies();
  return success;
}

int hipEventDestroy(void* event) {
  stand_in::destroy(event);
  return success;
}

int hipHostMalloc(void** memory, std::size_t bytes, unsigned /*flags*/) {
  *memory = stand_in::pin(bytes);
  return success;
}

int hipHostFree(void* memory) { return stand_in::unpin(memory) ? success : invalid_value; }

int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* stream) {
  const bool can = current == gpu_of_memory && kind == 2 && stream != nullptr &&
                   stand_in::begin_copy(to, from, bytes);
  return can ? success : illegal_address;
}

}  // extern "C"
