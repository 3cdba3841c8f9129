// SPDX-License-Identifier: BSD-3-Clause
#include "common/put_array.h"

#include <cstring>

namespace iocomp::apps {

PutArray::PutArray(Ordinary /*kind*/, std::size_t elements)
    : ordinary_(elements), values_{ordinary_} {}

PutArray::PutArray(const Session* session, std::size_t elements) {
  if (session == nullptr) {
    own_.emplace(elements);
    values_ = own_->values();
    return;
  }
  void* memory = nullptr;
  check(iocomp_alloc(session->handle(), elements * sizeof(double), &memory), "iocomp_alloc");
  std::memset(memory, 0, elements * sizeof(double));  // so that no page fault is measured
  values_ = {static_cast<double*>(memory), elements};
}

}  // namespace iocomp::apps
