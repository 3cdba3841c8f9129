// SPDX-License-Identifier: BSD-3-Clause
#include "stream/output.h"

namespace iocomp::apps::stream {

void Output::put(Kernel kernel, std::span<const double> values) {
  timers_.send.time([&] { start_put(kernel, values); });
  is_open_[kernel] = true;
  timers_.last_call = now_seconds();
}

void Output::wait(Kernel kernel) {
  if (!is_open_[kernel]) return;
  timers_.wait.time([&] { finish_put(kernel); });
  is_open_[kernel] = false;
  timers_.last_call = now_seconds();
}

void Output::end_step() {
  timers_.send.time([&] { finish_step(); });
  timers_.last_call = now_seconds();
}

void Output::progress() {
  timers_.progress.time([&] { make_progress(); });
}

void Output::close() {
  timers_.close.time([&] { make_durable(); });
}

}  // namespace iocomp::apps::stream
