// SPDX-License-Identifier: BSD-3-Clause
#include "fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace simulation {
namespace {

constexpr std::size_t stack_bytes = 512 << 10;
constexpr std::size_t guard_bytes = 4096;

std::vector<std::byte*>& free_stacks() {
  static std::vector<std::byte*> stacks;
  return stacks;
}

std::byte* take_stack() {
  auto& stacks = free_stacks();
  if (!stacks.empty()) {
    std::byte* const stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void* const memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, guard_bytes, PROT_NONE) != 0) {
    std::abort();
  }
  return static_cast<std::byte*>(memory);
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_{std::move(body)}, stack_{take_stack()} {
  getcontext(&entry_);
  entry_.uc_stack.ss_sp = stack_ + guard_bytes;
  entry_.uc_stack.ss_size = stack_bytes - guard_bytes;
  entry_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&entry_, reinterpret_cast<void (*)()>(&Fiber::start), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32U));
}

Fiber::~Fiber() { free_stacks().push_back(stack_); }

void Fiber::start(unsigned low, unsigned high) {
  const std::uintptr_t self = low | (static_cast<std::uintptr_t>(high) << 32U);
  Fiber& fiber = *reinterpret_cast<Fiber*>(self);
  fiber.body_();
  fiber.has_ended_ = true;
  fiber.yield();
  std::abort();
}

void Fiber::exchange_exceptions() {
  auto& now = *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  std::swap(now, exceptions_);
}

// Not by swapcontext: that calls the system twice, which is most of what a switch costs.
__attribute__((noinline)) void Fiber::swap(Place& from, Place& to) {
  exchange_exceptions();
  if (__builtin_setjmp(from.data()) == 0) {
    if (!std::exchange(has_begun_, true)) {
      setcontext(&entry_);
    }
    __builtin_longjmp(to.data(), 1);
  }
}

void Fiber::resume() { swap(caller_, own_); }
void Fiber::yield() { swap(own_, caller_); }

}  // namespace simulation
