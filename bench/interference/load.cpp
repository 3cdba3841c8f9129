// SPDX-License-Identifier: BSD-3-Clause
#include "interference/load.h"

#include "common/ranks.h"

namespace iocomp::bench {

Load::Load(const apps::Session& session, std::size_t block_bytes, bool alloc)
    : count_{static_cast<std::int64_t>(block_bytes / sizeof(double))},
      blocks_{Block{alloc ? &session : nullptr, block_bytes / sizeof(double)},
              Block{alloc ? &session : nullptr, block_bytes / sizeof(double)}} {
  apps::check(iocomp_open(session.handle(), "interference", IOCOMP_SERIES, nullptr, &file_),
              "iocomp_open");
  apps::check(iocomp_define(file_, "u", IOCOMP_FLOAT64, 1, &count_, &variable_), "iocomp_define");
}

void Load::feed() {
  for (Block& block : blocks_) {
    int written = 1;
    if (block.is_under_way) {
      apps::check(iocomp_test(&block.ticket, IOCOMP_WRITTEN, &written), "iocomp_test");
    }
    if (written == 0) continue;
    const std::int64_t start = 0;
    apps::check(iocomp_put(variable_, &start, &count_, block.values.data(), &block.ticket),
                "iocomp_put");
    apps::check(iocomp_end_step(file_), "iocomp_end_step");
    block.is_under_way = true;
    bytes_put_ += static_cast<double>(count_) * sizeof(double);
  }
}

void Load::drain() {
  for (Block& block : blocks_) {
    if (!block.is_under_way) continue;
    apps::check(iocomp_wait(&block.ticket, IOCOMP_WRITTEN), "iocomp_wait");
    block.is_under_way = false;
  }
}

void Load::close() {
  drain();
  apps::check(iocomp_close(file_), "iocomp_close");
}

}  // namespace iocomp::bench
