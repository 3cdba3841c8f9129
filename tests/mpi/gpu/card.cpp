// SPDX-License-Identifier: BSD-3-Clause
// The functions of stand_in.h for a real GPU of NVIDIA, by its driver: what the tests do with the
// stand-in they do with the card. Values arrive late: a kernel on the default stream waits before
// it writes them, as a kernel of a simulation may be under way when its array is put.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "mpi/gpu/stand_in.h"

namespace {

using Address = std::uintptr_t;  // CUdeviceptr

constexpr int managed = 4;
constexpr int of_pool = 5;
constexpr unsigned attach_global = 1;
constexpr unsigned long long late_by_ns = 20'000'000;
constexpr unsigned groups = 64;
constexpr unsigned threads_of_group = 256;

// One group of threads after the other copies bytes, once the time has passed.
constexpr const char* program = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry late_copy(.param .u64 to, .param .u64 from, .param .u64 bytes, .param .u64 ns)
{
  .reg .pred %p<3>;
  .reg .b16 %h<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<12>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d2, [from];
  ld.param.u64 %d3, [bytes];
  ld.param.u64 %d4, [ns];
  mov.u64 %d5, %globaltimer;
  add.u64 %d5, %d5, %d4;
WAIT:
  mov.u64 %d6, %globaltimer;
  setp.lt.u64 %p1, %d6, %d5;
  @%p1 bra WAIT;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %d7, %r4;
  mov.u32 %r1, %nctaid.x;
  mul.lo.u32 %r4, %r1, %r2;
  cvt.u64.u32 %d8, %r4;
NEXT:
  setp.ge.u64 %p2, %d7, %d3;
  @%p2 bra DONE;
  add.u64 %d9, %d2, %d7;
  add.u64 %d10, %d1, %d7;
  ld.global.u8 %h1, [%d9];
  st.global.u8 [%d10], %h1;
  add.u64 %d7, %d7, %d8;
  bra NEXT;
DONE:
  ret;
}
)";

/// The driver, with the context that all of the process use, current in this thread.
class Card {
 public:
  Card() : driver_{dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL)} {
    if (driver_ == nullptr) {
      std::fprintf(stderr, "no driver of NVIDIA: %s\n", dlerror());
      std::abort();
    }
    int gpu = 0;
    void* context = nullptr;
    void* module = nullptr;
    call<unsigned>("cuInit", 0);
    call<int*, int>("cuDeviceGet", &gpu, 0);
    call<void**, int>("cuDevicePrimaryCtxRetain", &context, gpu);
    call<void*>("cuCtxSetCurrent", context);
    call<void**, const void*>("cuModuleLoadData", &module, program);
    call<void**, void*, const char*>("cuModuleGetFunction", &late_copy_, module, "late_copy");
  }

  template <typename... Arguments>
  int ask(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver_, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  template <typename... Arguments>
  void call(const char* name, Arguments... arguments) {
    if (const int error = ask<Arguments...>(name, arguments...); error != 0) {
      std::fprintf(stderr, "%s failed: error %d\n", name, error);
      std::abort();
    }
  }

  void start_copy(Address to, Address from, std::size_t bytes, unsigned long long late) {
    std::size_t count = bytes;
    void* arguments[] = {&to, &from, &count, &late};
    call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
         void**>("cuLaunchKernel", late_copy_, groups, 1, 1, threads_of_group, 1, 1, 0, nullptr,
                 static_cast<void**>(arguments), nullptr);
  }

 private:
  void* driver_;
  void* late_copy_ = nullptr;
};

Card& card() {
  static Card one;
  return one;
}

struct Memory {
  int kind = 0;
  Address source = 0;  // of the copies under way into it
};

std::map<void*, Memory>& memories() {
  static std::map<void*, Memory> all;
  return all;
}

}  // namespace

extern "C" {

void* stand_in_allocate(std::size_t bytes, int kind) {
  Address address = 0;
  if (kind == managed) {
    card().call<Address*, std::size_t, unsigned>("cuMemAllocManaged", &address, bytes,
                                                 attach_global);
  } else if (kind == of_pool) {
    card().call<Address*, std::size_t, void*>("cuMemAllocAsync", &address, bytes, nullptr);
  } else {
    card().call<Address*, std::size_t>("cuMemAlloc_v2", &address, bytes);
  }
  auto* memory = reinterpret_cast<void*>(address);
  memories()[memory] = {.kind = kind};
  return memory;
}

void stand_in_free(void* memory) {
  const Memory known = memories().at(memory);
  memories().erase(memory);
  // All of it fails where a test has broken the context.
  (void)card().ask("cuCtxSynchronize");
  (void)card().ask<Address>("cuMemFree_v2", reinterpret_cast<Address>(memory));
  if (known.source != 0) {
    (void)card().ask<Address>("cuMemFree_v2", known.source);
  }
}

void stand_in_set(void* to, const void* from, std::size_t bytes) {
  Address& source = memories().at(to).source;
  if (source != 0) {
    card().call("cuCtxSynchronize");
    card().call<Address>("cuMemFree_v2", source);
  }
  card().call<Address*, std::size_t>("cuMemAlloc_v2", &source, bytes);
  card().call<Address, const void*, std::size_t>("cuMemcpyHtoD_v2", source, from, bytes);
  card().start_copy(reinterpret_cast<Address>(to), source, bytes, late_by_ns);
}

// A kernel that writes where nothing is breaks the context: each copy fails from then on, for good.
void stand_in_fail(int fails) {
  if (fails != 0) {
    card().start_copy(8, 8, 8, 0);
  }
}

int stand_in_left() { return 0; }

}  // extern "C"
