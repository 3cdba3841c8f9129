// SPDX-License-Identifier: BSD-3-Clause
#include "client/own_puts.h"

#include <cstdint>

#include "contents/catalogue.h"
#include "contents/dimensions.h"
#include "contents/variable.h"

namespace iocomp::client {

void OwnPuts::check(const contents::Catalogue& catalogue, const contents::Variable& variable,
                    std::int64_t step) {
  if (!catalogue.has_one_step(variable)) {
    return;
  }
  const auto [first, is_new] = once_.try_emplace(variable.id, step);
  if (first->second != step) {
    throw contents::once_only(variable, catalogue.number(first->second), catalogue.number(step));
  }
}

}  // namespace iocomp::client
