// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_messages.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

constexpr int message_tag = 1;
constexpr std::size_t longest_message = std::size_t{1} << 30;

// Divides a message into parts whose lengths MPI can count.
template <typename Begin>
void in_parts(std::span<std::byte> bytes, Begin begin) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), longest_message));
    begin(part.data(), checked_cast<int>(part.size()));
    bytes = bytes.subspan(part.size());
  }
}

}  // namespace

std::map<int, std::vector<std::byte>> ExchangeMessages::pass(
    std::map<int, std::vector<std::byte>> messages) {
  sent_ = std::move(messages);
  int ranks = 1;
  mpi::check(MPI_Comm_size(comm_, &ranks));
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(ranks), 0);
  for (const auto& [to, message] : sent_) {
    lengths[static_cast<std::size_t>(to)] = std::ssize(message);
  }
  lengths = mpi::to_each(comm_, std::move(lengths), policy_, what_);
  for (int from = 0; from < ranks; ++from) {
    if (const auto bytes = lengths[static_cast<std::size_t>(from)]; bytes > 0) {
      received_[from].resize(static_cast<std::size_t>(bytes));
      in_parts(received_[from], [&](std::byte* to, int count) {
        mpi::check(MPI_Irecv(to, count, MPI_BYTE, from, message_tag, comm_,
                             &requests_.emplace_back(MPI_REQUEST_NULL)));
      });
    }
  }
  for (auto& [to, message] : sent_) {
    in_parts(message, [&, rank = to](const std::byte* from, int count) {
      mpi::check(MPI_Isend(from, count, MPI_BYTE, rank, message_tag, comm_,
                           &requests_.emplace_back(MPI_REQUEST_NULL)));
    });
  }
  for (auto& request : requests_) {
    mpi::wait(request, policy_, what_);
  }
  return std::move(received_);
}

}  // namespace iocomp::client
