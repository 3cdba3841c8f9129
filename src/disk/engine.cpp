#include "disk/engine.h"

#include <exception>
#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "disk/options.h"
#include "disk/thread_engine.h"

namespace iocomp::disk {
namespace {

void write_all(const Plan& plan) {
  for (const Write& write : plan.writes) {
    plan.file->write(write.offset, write.bytes);
  }
  if (plan.sync) {
    plan.file->sync();
  }
}

}  // namespace

Completion carry_out(const Plan& plan) noexcept {
  Completion completion;
  completion.id = plan.id;
  const double begin = now_seconds();
  try {
    write_all(plan);
  } catch (const Error& error) {
    completion.code = error.code();
    completion.story = error.what();
  } catch (const std::exception& error) {
    completion.code = ErrorCode::internal;
    completion.story = error.what();
  }
  completion.seconds = now_seconds() - begin;
  return completion;
}

std::unique_ptr<Engine> start_engine(const Options& options) {
  return std::make_unique<ThreadEngine>(options);
}

}  // namespace iocomp::disk
