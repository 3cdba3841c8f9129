// SPDX-License-Identifier: BSD-3-Clause
#include "session/memory_shares.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/byte_size.h"
#include "base/error.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/wait.h"
#include "session/others.h"
#include "session/ranks.h"
#include "session/seating.h"

namespace iocomp::session {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t least_staging = 16 * page;
constexpr std::size_t largest_chunk = std::size_t{1} << 30;  // an MPI count is an int

}  // namespace

MemoryShares share_memory(const Ranks& ranks, const Seating& seating,
                          const config::Settings& settings, const mpi::WaitPolicy& policy) {
  const auto memory = settings.bytes("staging.memory");
  constexpr auto page_bytes = static_cast<std::int64_t>(page);
  std::int64_t servers = ranks.serves() ? 1 : 0;
  mpi::sum(seating.node(), std::span{&servers, 1}, policy, others);
  const std::int64_t share = memory / std::max<std::int64_t>(servers, 1) / page_bytes * page_bytes;
  std::int64_t least = ranks.serves() ? -share : std::numeric_limits<std::int64_t>::min();
  mpi::maximum(ranks.all().raw(), std::span{&least, 1}, policy, others);
  least = -least;
  if (least < static_cast<std::int64_t>(least_staging)) {
    throw Error{ErrorCode::invalid_setting,
                "staging.memory = " + format_bytes(memory) + " leaves a server " +
                    format_bytes(least) + ": at least " +
                    format_bytes(static_cast<std::int64_t>(least_staging)) + " each are needed"};
  }
  const auto wanted = static_cast<std::size_t>(settings.bytes("test.chunk"));
  return {.staging_bytes = static_cast<std::size_t>(share),
          .chunk_bytes = std::max(
              page, std::min({wanted, static_cast<std::size_t>(least) / 4, largest_chunk}) / page *
                        page)};
}

}  // namespace iocomp::session
