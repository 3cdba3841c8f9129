// SPDX-License-Identifier: BSD-3-Clause
#include "disk/engine.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "base/bug.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "disk/mixed_engine.h"
#include "disk/options.h"
#include "disk/start_ring.h"
#include "disk/thread_engine.h"

namespace iocomp::disk {
namespace {

void write_all(const Plan& plan) {
  for (const Write& write : plan.writes) {
    plan.file->write_by_all(write.offset, write.bytes);
  }
  if (plan.sync) {
    plan.file->sync();
  }
}

std::unique_ptr<Engine> start_one_engine(const Options& options) {
  if (options.engine == EngineKind::threads) {
    return std::make_unique<ThreadEngine>(options);
  }
  try {
    return start_ring_engine(options);
  } catch (const Error& error) {
    const std::string why = std::string{"io_uring: "} + error.what();
    if (options.engine == EngineKind::uring) {
      throw Error{ErrorCode::unsupported, "disk.engine = \"uring\" is impossible here (" + why +
                                              "); \"auto\" takes threads"};
    }
    return std::make_unique<ThreadEngine>(options, why);
  }
}

}  // namespace

void Engine::finish() {
  constexpr double long_seconds = 30;
  const double begin = now_seconds();
  for (bool is_told = false; outstanding() > 0; (void)take_completed()) {
    wait(std::chrono::seconds{1});
    if (!is_told && now_seconds() - begin > long_seconds) {
      is_told = true;
      log::warning("waiting for the disk: it has not ended " + std::to_string(outstanding()) +
                   " writes of iocomp, which read memory of this process");
    }
  }
}

Completion carry_out(const Plan& plan) noexcept {
  return completion_of(plan.id, [&] { write_all(plan); });
}

Completion completion_of(std::uint64_t plan, const std::function<void()>& work) noexcept {
  Completion completion;
  completion.id = plan;
  const double begin = now_seconds();
  try {
    work();
  } catch (const Error& error) {
    completion.code = has_bug(Bug::write_error_lost) ? ErrorCode::ok : error.code();
    completion.story = error.what();
  } catch (const std::exception& error) {
    completion.code = ErrorCode::internal;
    completion.story = error.what();
  }
  completion.seconds = now_seconds() - begin;
  return completion;
}

std::unique_ptr<Engine> start_engine(const Options& options) {
  auto engine = start_one_engine(options);
  Options mixed = options;
  mixed.gives_memory_back = options.gives_memory_back && options.engine == EngineKind::automatic &&
                            engine->name() == "io_uring";
  return std::make_unique<MixedEngine>(std::move(engine), mixed);
}

}  // namespace iocomp::disk
