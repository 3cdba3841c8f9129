// SPDX-License-Identifier: BSD-3-Clause
#include "stream/iocomp_output.h"

#include "common/ranks.h"

namespace iocomp::apps::stream {

IocompOutput::IocompOutput(const Session& session, std::int64_t elements, Kernel first)
    : session_{session}, start_{elements * rank_in(session.comm())}, count_{elements} {
  const std::int64_t shape = elements * size_of(session.comm());
  open_timer().time([&] {
    check(iocomp_open(session.handle(), "stream", IOCOMP_SERIES, nullptr, &file_), "iocomp_open");
    for (std::size_t kernel = first; kernel < kernel_count; ++kernel) {
      check(iocomp_define(file_, variable_names[kernel], IOCOMP_FLOAT64, 1, &shape,
                          &variables_[kernel]),
            "iocomp_define");
    }
  });
}

void IocompOutput::start_put(Kernel kernel, std::span<const double> values) {
  check(iocomp_put(variables_[kernel], &start_, &count_, values.data(), &tickets_[kernel]),
        "iocomp_put");
}

void IocompOutput::finish_put(Kernel kernel) {
  check(iocomp_wait(&tickets_[kernel], IOCOMP_REUSABLE), "iocomp_wait");
}

void IocompOutput::finish_step() { check(iocomp_end_step(file_), "iocomp_end_step"); }

void IocompOutput::make_progress() { check(iocomp_progress(session_.handle()), "iocomp_progress"); }

void IocompOutput::make_durable() { check(iocomp_close(file_), "iocomp_close"); }

}  // namespace iocomp::apps::stream
