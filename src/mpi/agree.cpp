// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/agree.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::mpi {
namespace {

constexpr std::size_t broadcast_slice = std::size_t{1} << 30;

// Wait for a collective that reads and writes `buffers`. Where the wait gives up, MPI may still use
// them when the other ranks come: then they are left to it.
template <typename Buffers>
void finish(std::unique_ptr<Buffers>& buffers, MPI_Request& request, const WaitPolicy& policy,
            const char* what) {
  try {
    wait(request, policy, what);
  } catch (...) {
    (void)buffers.release();
    throw;
  }
}

template <typename T>
void combine(MPI_Comm comm, std::span<T> values, MPI_Op operation, const WaitPolicy& policy,
             const char* what) {
  struct Buffers {
    std::vector<T> mine;
    std::vector<T> all;
  };
  auto buffers = std::make_unique<Buffers>();
  buffers->mine.assign(values.begin(), values.end());
  buffers->all.resize(values.size());
  MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(buffers->mine.data(), buffers->all.data(), checked_cast<int>(values.size()),
                       type, operation, comm, &request));
  finish(buffers, request, policy, what);
  std::copy(buffers->all.begin(), buffers->all.end(), values.begin());
}

std::int64_t scan(MPI_Comm comm, std::int64_t mine, std::int64_t first, MPI_Op operation,
                  const WaitPolicy& policy, const char* what) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank));
  struct Buffers {
    std::int64_t mine;
    std::int64_t before;
  };
  auto buffers = std::make_unique<Buffers>(Buffers{mine, first});
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iexscan(&buffers->mine, &buffers->before, 1, MPI_INT64_T, operation, comm, &request));
  finish(buffers, request, policy, what);
  return rank == 0 ? first : buffers->before;
}

void broadcast_bytes(MPI_Comm comm, int root, std::span<std::byte> bytes, const WaitPolicy& policy,
                     const char* what) {
  while (!bytes.empty()) {
    const auto now = bytes.first(std::min(bytes.size(), broadcast_slice));
    auto buffer = std::make_unique<std::vector<std::byte>>(now.begin(), now.end());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(buffer->data(), static_cast<int>(now.size()), MPI_BYTE, root, comm, &request));
    finish(buffer, request, policy, what);
    std::copy(buffer->begin(), buffer->end(), now.begin());
    bytes = bytes.subspan(now.size());
  }
}

std::int64_t broadcast_value(MPI_Comm comm, int root, std::int64_t mine, const WaitPolicy& policy,
                             const char* what) {
  auto value = std::make_unique<std::int64_t>(mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(value.get(), 1, MPI_INT64_T, root, comm, &request));
  finish(value, request, policy, what);
  return *value;
}

std::size_t broadcast_size(MPI_Comm comm, int root, std::size_t mine, const WaitPolicy& policy,
                           const char* what) {
  return static_cast<std::size_t>(
      broadcast_value(comm, root, static_cast<std::int64_t>(mine), policy, what));
}

}  // namespace

void gate(MPI_Comm comm, const WaitPolicy& policy, const char* what) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm, &request));
  wait(request, policy, what);
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
  auto buffers = std::make_unique<Buffers>();
  buffers->theirs.resize(mine.size());
  buffers->mine = std::move(mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoall(buffers->mine.data(), 1, MPI_INT64_T, buffers->theirs.data(), 1, MPI_INT64_T,
                      comm, &request));
  finish(buffers, request, policy, what);
  return std::move(buffers->theirs);
}

std::vector<std::int64_t> gather_to_all(MPI_Comm comm, std::int64_t mine, const WaitPolicy& policy,
                                        const char* what) {
  int size = 0;
  check(MPI_Comm_size(comm, &size));
  struct Buffers {
    std::int64_t mine;
    std::vector<std::int64_t> all;
  };
  auto buffers = std::make_unique<Buffers>();
  buffers->mine = mine;
  buffers->all.resize(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&buffers->mine, 1, MPI_INT64_T, buffers->all.data(), 1, MPI_INT64_T, comm,
                       &request));
  finish(buffers, request, policy, what);
  return std::move(buffers->all);
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
  auto buffers = std::make_unique<Buffers>();
  buffers->mine.assign(before.begin(), before.end());
  buffers->before.resize(before.size());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iexscan(buffers->mine.data(), buffers->before.data(), checked_cast<int>(before.size()),
                    MPI_INT64_T, MPI_SUM, comm, &request));
  sum(comm, all, policy, what);  // both are on their way together
  finish(buffers, request, policy, what);
  if (rank == 0) {
    std::ranges::fill(buffers->before, 0);
  }
  std::ranges::copy(buffers->before, before.begin());
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
  auto buffers = std::make_unique<Buffers>();
  buffers->mine = mine;
  buffers->length = checked_cast<int>(mine.size());
  buffers->lengths.resize(rank == root ? static_cast<std::size_t>(size) : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(&buffers->length, 1, MPI_INT, buffers->lengths.data(), 1, MPI_INT, root, comm,
                    &request));
  finish(buffers, request, policy, what);
  std::size_t total = 0;
  for (const int length : buffers->lengths) {
    buffers->begins.push_back(checked_cast<int>(total));
    total += static_cast<std::size_t>(length);
  }
  buffers->all.resize(total);
  check(MPI_Igatherv(buffers->mine.data(), buffers->length, MPI_CHAR, buffers->all.data(),
                     buffers->lengths.data(), buffers->begins.data(), MPI_CHAR, root, comm,
                     &request));
  finish(buffers, request, policy, what);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < buffers->lengths.size(); ++i) {
    texts.push_back(buffers->all.substr(static_cast<std::size_t>(buffers->begins[i]),
                                        static_cast<std::size_t>(buffers->lengths[i])));
  }
  return texts;
}

Communicator duplicate(MPI_Comm comm, const WaitPolicy& policy, const char* what) {
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(comm, copy.get(), &request));
  finish(copy, request, policy, what);
  check(MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN));
  return Communicator{*copy};
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
