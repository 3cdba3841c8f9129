#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "client/agreement.h"
#include "mpi/error.h"

namespace iocomp::client {

/// Each member sends its part to the root, which puts them together and sends all the result.
struct Collective::Messages {
  Kind kind{};
  Circle circle;
  int root = 0;
  std::vector<std::int64_t> mine;
  std::vector<std::vector<std::int64_t>> parts;  // root: by member
  std::vector<MPI_Request> requests;
  bool is_spreading = false;
  std::vector<std::int64_t> counts{};  // of a join, by member

  [[nodiscard]] bool is_root() const { return circle.rank() == root; }
  void send(int member, const std::vector<std::int64_t>& values) {
    mpi::check(MPI_Isend(values.data(), checked_cast<int>(values.size()), MPI_INT64_T,
                         circle.ranks.at(static_cast<std::size_t>(member)), circle.tag, circle.comm,
                         &requests.emplace_back(MPI_REQUEST_NULL)));
  }
  void receive(int member, std::vector<std::int64_t>& values) {
    mpi::check(MPI_Irecv(values.data(), checked_cast<int>(values.size()), MPI_INT64_T,
                         circle.ranks.at(static_cast<std::size_t>(member)), circle.tag, circle.comm,
                         &requests.emplace_back(MPI_REQUEST_NULL)));
  }
  void collect() {
    parts.assign(circle.ranks.size(), mine);
    for (std::size_t member = 0; member < counts.size(); ++member) {
      parts[member].resize(static_cast<std::size_t>(counts[member]));
    }
    for (int member = 0; kind != Kind::broadcast && member < circle.size(); ++member) {
      if (member != root) {
        receive(member, parts[static_cast<std::size_t>(member)]);
      }
    }
  }
  void put_together(std::vector<std::int64_t>& values) const {
    if (kind == Kind::join) {
      values.clear();
      for (const auto& part : parts) {
        values.insert(values.end(), part.begin(), part.end());
      }
      return;
    }
    if (kind == Kind::sum) {
      std::ranges::fill(values, 0);
    }
    for (std::size_t member = 0; kind != Kind::broadcast && member < parts.size(); ++member) {
      for (std::size_t i = 0; i < parts[member].size(); ++i) {
        auto& value = values[kind == Kind::gather ? member : i];
        const std::int64_t part = parts[member][i];
        value = kind == Kind::gather ? part
                : kind == Kind::sum  ? value + part
                                     : std::max(value, part);
      }
    }
  }
  bool test() {
    int done = 0;
    mpi::check(MPI_Testall(checked_cast<int>(requests.size()), requests.data(), &done,
                           MPI_STATUSES_IGNORE));
    return done != 0;
  }
};

struct Collective::Counts {
  std::vector<int> count;  // by rank
  std::vector<int> begin;
};

Collective::Collective() = default;

Collective::~Collective() {
  const bool is_underway = messages_ && !messages_->test();
  if (request_ != MPI_REQUEST_NULL || is_underway) {
    (void)values_.release();  // the operation may still write there
    (void)messages_.release();
    (void)counts_.release();
  }
}

void Collective::begin(const Circle& circle, Kind kind, int root, std::vector<std::int64_t> mine,
                       std::vector<std::int64_t> counts) {
  messages_.reset(
      new Messages{kind, circle, root, std::move(mine), {}, {}, false, std::move(counts)});
  if (messages_->is_root()) {
    messages_->collect();
    return;
  }
  if (kind != Kind::broadcast) {
    messages_->send(root, messages_->mine);
  }
  messages_->receive(root, *values_);
  messages_->is_spreading = true;
}

void Collective::maximum(const Circle& circle, const std::vector<std::int64_t>& values) {
  values_ = std::make_unique<std::vector<std::int64_t>>(values);
  if (!circle.ranks.empty()) {
    begin(circle, Kind::maximum, 0, values);
    return;
  }
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, values_->data(), checked_cast<int>(values_->size()),
                            MPI_INT64_T, MPI_MAX, circle.comm, &request_));
}

void Collective::sum(const Circle& circle, const std::vector<std::int64_t>& values) {
  values_ = std::make_unique<std::vector<std::int64_t>>(values);
  if (!circle.ranks.empty()) {
    begin(circle, Kind::sum, 0, values);
    return;
  }
  mpi::check(MPI_Iallreduce(MPI_IN_PLACE, values_->data(), checked_cast<int>(values_->size()),
                            MPI_INT64_T, MPI_SUM, circle.comm, &request_));
}

void Collective::gather(const Circle& circle, std::int64_t value) {
  values_ = std::make_unique<std::vector<std::int64_t>>(static_cast<std::size_t>(circle.size()));
  if (!circle.ranks.empty()) {
    begin(circle, Kind::gather, 0, {value});
    return;
  }
  (*values_)[static_cast<std::size_t>(circle.rank())] = value;
  mpi::check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_->data(), 1, MPI_INT64_T,
                            circle.comm, &request_));
}

void Collective::join(const Circle& circle, const std::vector<std::int64_t>& mine,
                      const std::vector<std::int64_t>& counts) {
  counts_ = std::make_unique<Counts>();
  std::int64_t all = 0;
  for (const auto count : counts) {
    counts_->count.push_back(checked_cast<int>(count));
    counts_->begin.push_back(checked_cast<int>(all));
    all += count;
  }
  values_ = std::make_unique<std::vector<std::int64_t>>(static_cast<std::size_t>(all));
  if (!circle.ranks.empty()) {
    begin(circle, Kind::join, 0, mine, counts);
    return;
  }
  const auto begins = counts_->begin.at(static_cast<std::size_t>(circle.rank()));
  std::ranges::copy(mine, values_->begin() + begins);
  mpi::check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values_->data(),
                             counts_->count.data(), counts_->begin.data(), MPI_INT64_T, circle.comm,
                             &request_));
}

void Collective::broadcast(const Circle& circle, int root,
                           const std::vector<std::int64_t>& values) {
  values_ = std::make_unique<std::vector<std::int64_t>>(values);
  if (!circle.ranks.empty()) {
    begin(circle, Kind::broadcast, root, values);
    return;
  }
  mpi::check(MPI_Ibcast(values_->data(), checked_cast<int>(values_->size()), MPI_INT64_T, root,
                        circle.comm, &request_));
}

bool Collective::test() {
  if (!messages_) {
    int done = 0;
    mpi::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  if (!messages_->test()) {
    return false;
  }
  if (std::exchange(messages_->is_spreading, true)) {
    return true;
  }
  messages_->put_together(*values_);
  messages_->requests.clear();
  for (int member = 0; member < messages_->circle.size(); ++member) {
    if (member != messages_->root) {
      messages_->send(member, *values_);
    }
  }
  return messages_->test();
}

}  // namespace iocomp::client
