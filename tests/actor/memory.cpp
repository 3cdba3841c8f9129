// SPDX-License-Identifier: BSD-3-Clause
#include "memory.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "block.h"

namespace actor {

Memory::Memory(iocomp_session* session, const std::string& where, std::vector<std::byte> values)
    : session_{session} {
  if (where == "heap" || values.empty()) {
    heap_ = std::move(values);
    values_ = heap_;
  } else if (where == "pages") {
    pages_.assign(values.begin(), values.end());
    values_ = pages_;
  } else if (where == "session") {
    void* given = nullptr;
    if (iocomp_alloc(session, values.size(), &given) != IOCOMP_OK) {
      throw std::runtime_error{std::string{"iocomp_alloc: "} + iocomp_error()};
    }
    given_ = {static_cast<std::byte*>(given), values.size()};
    values_ = given_;
    std::ranges::copy(values, values_.begin());
  } else {
    throw std::runtime_error{"there is no memory called " + where};
  }
}

void Memory::reuse() {
  std::ranges::fill(values_, poison);
  values_ = {};
  pages_ = {};
  heap_ = {};
  void* const given = std::exchange(given_, {}).data();
  if (given != nullptr && iocomp_free(session_, given) != IOCOMP_OK) {
    throw std::runtime_error{std::string{"iocomp_free: "} + iocomp_error()};
  }
}

}  // namespace actor
