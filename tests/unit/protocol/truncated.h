// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "protocol/header.h"

namespace iocomp::protocol {

/// Expects that `decode` refuses every beginning of the message's body as too short.
template <typename Decode>
void expect_refusal_of_every_beginning(const std::vector<std::byte>& message,
                                       const Decode& decode) {
  const auto whole = body(message);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_THROW((void)decode(whole.first(bytes)), Error) << bytes << " of " << whole.size();
  }
}

}  // namespace iocomp::protocol
