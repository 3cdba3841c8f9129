// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/under_way.h"
#include "mpi/wait_policy.h"

namespace iocomp::mpi {
namespace {

constexpr std::size_t broadcast_slice = std::size_t{1} << 30;

template <typename T>
void combine(MPI_Comm comm, std::span<T> values, MPI_Op operation, const WaitPolicy& policy,
             const char* what) {
  struct Buffers {
    std::vector<T> mine;
    std::vector<T> all;
  };
  UnderWay<Buffers> way{comm};
  auto& [mine, all] = way.memory();
  mine.assign(values.begin(), values.end());
  all.resize(values.size());
  MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
  check(MPI_Iallreduce(mine.data(), all.data(), checked_cast<int>(values.size()), type, operation,
                       comm, way.next()));
  way.wait(policy, what);
  std::copy(all.begin(), all.end(), values.begin());
}

std::int64_t scan(MPI_Comm comm, std::int64_t mine, std::int64_t first, MPI_Op operation,
                  const WaitPolicy& policy, const char* what) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank));
  struct Buffers {
    std::int64_t mine;
    std::int64_t before;
  };
  UnderWay<Buffers> way{comm, {mine, first}};
  check(MPI_Iexscan(&way.memory().mine, &way.memory().before, 1, MPI_INT64_T, operation, comm,
                    way.next()));
  way.wait(policy, what);
  return rank == 0 ? first : way.memory().before;
}

void broadcast_bytes(MPI_Comm comm, int root, std::span<std::byte> bytes, const WaitPolicy& policy,
                     const char* what) {
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(bytes.size(), broadcast_slice));
    UnderWay<std::vector<std::byte>> way{comm, {now.begin(), now.end()}};
    check(MPI_Ibcast(way.memory().data(), static_cast<int>(now.size()), MPI_BYTE, root, comm,
                     way.next()));
    way.wait(policy, what);
    std::ranges::copy(way.memory(), now.begin());
    bytes = bytes.subspan(now.size());
  }
}

std::int64_t broadcast_value(MPI_Comm comm, int root, std::int64_t mine, const WaitPolicy& policy,
                             const char* what) {
  UnderWay<std::int64_t> way{comm, mine};
  check(MPI_Ibcast(&way.memory(), 1, MPI_INT64_T, root, comm, way.next()));
  way.wait(policy, what);
  return way.memory();
}

std::size_t broadcast_size(MPI_Comm comm, int root, std::size_t mine, const WaitPolicy& policy,
                           const char* what) {
  return static_cast<std::size_t>(
      broadcast_value(comm, root, static_cast<std::int64_t>(mine), policy, what));
}

}  // namespace

void gate(MPI_Comm comm, const WaitPolicy& policy, const char* what) {
  struct Nothing {};
  UnderWay<Nothing> way{comm};
  check(MPI_Ibarrier(comm, way.next()));
  way.wait(policy, what);
}

Outcome agree(MPI_Comm comm, const Outcome& mine, const WaitPolicy& policy, const char* what) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(comm, &rank));
  check(MPI_Comm_size(comm, &size));
  // The lowest failing rank wins: the maximum of size - rank.
  std::int64_t loudest = mine.ok() ? 0 : size - rank;
  maximum(comm, std::span{&loudest, 1}, policy, what);
  if (loudest == 0) {
    return {};
  }
  const int teller = size - static_cast<int>(loudest);
  const std::int64_t code =
      broadcast_value(comm, teller, static_cast<int>(mine.code), policy, what);
  Outcome common{static_cast<ErrorCode>(code), mine.story};
  broadcast(comm, teller, common.story, policy, what);
  return common;
}

void maximum(MPI_Comm comm, std::span<std::int64_t> values, const WaitPolicy& policy,
             const char* what) {
  combine(comm, values, MPI_MAX, policy, what);
}

void sum(MPI_Comm comm, std::span<std::int64_t> values, const WaitPolicy& policy,
         const char* what) {
  combine(comm, values, MPI_SUM, policy, what);
}

void maximum(MPI_Comm comm, std::span<double> values, const WaitPolicy& policy, const char* what) {
  combine(comm, values, MPI_MAX, policy, what);
}

void sum(MPI_Comm comm, std::span<double> values, const WaitPolicy& policy, const char* what) {
  combine(comm, values, MPI_SUM, policy, what);
}

void broadcast(MPI_Comm comm, int root, std::vector<std::byte>& bytes, const WaitPolicy& policy,
               const char* what) {
  bytes.resize(broadcast_size(comm, root, bytes.size(), policy, what));
  broadcast_bytes(comm, root, bytes, policy, what);
}

void broadcast(MPI_Comm comm, int root, std::string& text, const WaitPolicy& policy,
               const char* what) {
  text.resize(broadcast_size(comm, root, text.size(), policy, what));
  broadcast_bytes(comm, root, std::as_writable_bytes(std::span{text.data(), text.size()}), policy,
                  what);
}

std::vector<std::int64_t> to_each(MPI_Comm comm, std::vector<std::int64_t> mine,
                                  const WaitPolicy& policy, const char* what) {
  struct Buffers {
    std::vector<std::int64_t> mine;
    std::vector<std::int64_t> theirs;
  };
  std::vector<std::int64_t> room(mine.size());
  UnderWay<Buffers> way{comm, {std::move(mine), std::move(room)}};
  auto& [sent, theirs] = way.memory();
  check(
      MPI_Ialltoall(sent.data(), 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, comm, way.next()));
  way.wait(policy, what);
  return std::move(theirs);
}

std::vector<std::int64_t> gather_to_all(MPI_Comm comm, std::int64_t mine, const WaitPolicy& policy,
                                        const char* what) {
  int size = 0;
  check(MPI_Comm_size(comm, &size));
  struct Buffers {
    std::int64_t mine;
    std::vector<std::int64_t> all;
  };
  UnderWay<Buffers> way{comm, {mine, std::vector<std::int64_t>(static_cast<std::size_t>(size))}};
  auto& all = way.memory().all;
  check(MPI_Iallgather(&way.memory().mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm,
                       way.next()));
  way.wait(policy, what);
  return std::move(all);
}

std::int64_t sum_before(MPI_Comm comm, std::int64_t mine, const WaitPolicy& policy,
                        const char* what) {
  return scan(comm, mine, 0, MPI_SUM, policy, what);
}

void sums(MPI_Comm comm, std::span<std::int64_t> before, std::span<std::int64_t> all,
          const WaitPolicy& policy, const char* what) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank));
  struct Buffers {
    std::vector<std::int64_t> mine;
    std::vector<std::int64_t> before;
  };
  UnderWay<Buffers> way{comm};
  auto& [mine, sum_before] = way.memory();
  mine.assign(before.begin(), before.end());
  sum_before.resize(before.size());
  check(MPI_Iexscan(mine.data(), sum_before.data(), checked_cast<int>(before.size()), MPI_INT64_T,
                    MPI_SUM, comm, way.next()));
  sum(comm, all, policy, what);  // both are on their way together
  way.wait(policy, what);
  if (rank == 0) {
    std::ranges::fill(sum_before, 0);
  }
  std::ranges::copy(sum_before, before.begin());
}

std::int64_t maximum_before(MPI_Comm comm, std::int64_t mine, std::int64_t first,
                            const WaitPolicy& policy, const char* what) {
  return scan(comm, mine, first, MPI_MAX, policy, what);
}

std::vector<std::string> gather(MPI_Comm comm, int root, const std::string& mine,
                                const WaitPolicy& policy, const char* what) {
  int size = 0;
  int rank = 0;
  check(MPI_Comm_size(comm, &size));
  check(MPI_Comm_rank(comm, &rank));
  struct Buffers {
    std::string mine;
    int length;
    std::vector<int> lengths;
    std::vector<int> begins;
    std::string all;
  };
  UnderWay<Buffers> way{comm};
  auto* const buffers = &way.memory();
  buffers->mine = mine;
  buffers->length = checked_cast<int>(mine.size());
  buffers->lengths.resize(rank == root ? static_cast<std::size_t>(size) : 0);
  check(MPI_Igather(&buffers->length, 1, MPI_INT, buffers->lengths.data(), 1, MPI_INT, root, comm,
                    way.next()));
  way.wait(policy, what);
  std::size_t total = 0;
  for (const int length : buffers->lengths) {
    buffers->begins.push_back(checked_cast<int>(total));
    total += static_cast<std::size_t>(length);
  }
  buffers->all.resize(total);
  check(MPI_Igatherv(buffers->mine.data(), buffers->length, MPI_CHAR, buffers->all.data(),
                     buffers->lengths.data(), buffers->begins.data(), MPI_CHAR, root, comm,
                     way.next()));
  way.wait(policy, what);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < buffers->lengths.size(); ++i) {
    texts.push_back(buffers->all.substr(static_cast<std::size_t>(buffers->begins[i]),
                                        static_cast<std::size_t>(buffers->lengths[i])));
  }
  return texts;
}

Communicator duplicate(MPI_Comm comm, const WaitPolicy& policy, const char* what) {
  UnderWay<MPI_Comm> way{comm, MPI_COMM_NULL};
  check(MPI_Comm_idup(comm, &way.memory(), way.next()));
  way.wait(policy, what);
  check(MPI_Comm_set_errhandler(way.memory(), MPI_ERRORS_RETURN));
  return Communicator{way.memory()};
}

// The split has no nonblocking form: all are here before it.
Communicator node_of(MPI_Comm comm, const WaitPolicy& policy, const char* what) {
  gate(comm, policy, what);
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank));
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  return Communicator{node};
}

}  // namespace iocomp::mpi
