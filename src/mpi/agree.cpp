#include "mpi/agree.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::mpi {
namespace {

constexpr std::size_t broadcast_slice = std::size_t{1} << 30;

template <typename T>
void combine(MPI_Comm comm, std::span<T> values, MPI_Op operation, const WaitPolicy& policy,
             const char* what) {
  MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_INT64_T;
  const std::vector<T> mine(values.begin(), values.end());
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(mine.data(), values.data(), checked_cast<int>(values.size()), type,
                       operation, comm, &request));
  wait(request, policy, what);
}

void broadcast_bytes(MPI_Comm comm, int root, std::span<std::byte> bytes, const WaitPolicy& policy,
                     const char* what) {
  while (!bytes.empty()) {
    const std::size_t now = bytes.size() < broadcast_slice ? bytes.size() : broadcast_slice;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(bytes.data(), static_cast<int>(now), MPI_BYTE, root, comm, &request));
    wait(request, policy, what);
    bytes = bytes.subspan(now);
  }
}

std::int64_t broadcast_size(MPI_Comm comm, int root, std::size_t mine, const WaitPolicy& policy,
                            const char* what) {
  auto size = static_cast<std::int64_t>(mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(&size, 1, MPI_INT64_T, root, comm, &request));
  wait(request, policy, what);
  return size;
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
  std::int64_t code = static_cast<int>(mine.code);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(&code, 1, MPI_INT64_T, teller, comm, &request));
  wait(request, policy, what);
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
  bytes.resize(static_cast<std::size_t>(broadcast_size(comm, root, bytes.size(), policy, what)));
  broadcast_bytes(comm, root, bytes, policy, what);
}

void broadcast(MPI_Comm comm, int root, std::string& text, const WaitPolicy& policy,
               const char* what) {
  text.resize(static_cast<std::size_t>(broadcast_size(comm, root, text.size(), policy, what)));
  broadcast_bytes(comm, root, std::as_writable_bytes(std::span{text.data(), text.size()}), policy,
                  what);
}

std::vector<std::int64_t> gather_to_all(MPI_Comm comm, std::int64_t mine, const WaitPolicy& policy,
                                        const char* what) {
  int size = 0;
  check(MPI_Comm_size(comm, &size));
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm, &request));
  wait(request, policy, what);
  return all;
}

}  // namespace iocomp::mpi
