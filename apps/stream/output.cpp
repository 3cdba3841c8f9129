#include "stream/output.h"

#include "common/ranks.h"

namespace iocomp::apps::stream {

Output::Output(const Session& session, std::int64_t elements)
    : session_{session}, start_{elements * rank_in(session.comm())}, count_{elements} {
  const std::int64_t shape = elements * size_of(session.comm());
  timers_.open.time([&] {
    check(iocomp_open(session.handle(), "stream", IOCOMP_SERIES, &file_), "iocomp_open");
    for (std::size_t kernel = 0; kernel < kernel_count; ++kernel) {
      check(iocomp_define(file_, variable_names[kernel], IOCOMP_FLOAT64, 1, &shape,
                          &variables_[kernel]),
            "iocomp_define");
    }
  });
}

void Output::put(Kernel kernel, std::span<const double> values) {
  timers_.send.time([&] {
    check(iocomp_put(variables_[kernel], &start_, &count_, values.data(), &tickets_[kernel]),
          "iocomp_put");
  });
  is_open_[kernel] = true;
  timers_.last_call = now_seconds();
}

void Output::wait(Kernel kernel) {
  if (!is_open_[kernel]) return;
  timers_.wait.time(
      [&] { check(iocomp_wait(&tickets_[kernel], IOCOMP_HANDED_OVER), "iocomp_wait"); });
  is_open_[kernel] = false;
  timers_.last_call = now_seconds();
}

void Output::end_step() {
  timers_.send.time([&] { check(iocomp_end_step(file_), "iocomp_end_step"); });
  timers_.last_call = now_seconds();
}

void Output::progress() {
  timers_.progress.time([&] { check(iocomp_progress(session_.handle()), "iocomp_progress"); });
}

void Output::close() {
  timers_.close.time([&] { check(iocomp_close(file_), "iocomp_close"); });
}

}  // namespace iocomp::apps::stream
