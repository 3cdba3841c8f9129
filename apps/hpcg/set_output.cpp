// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/set_output.h"

#include <mpi.h>

#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace iocomp::apps::hpcg {
namespace {

std::int64_t elements(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

/// FNV-1a over the bits of numbers.
std::uint64_t hash_of(std::span<const double> values) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const double value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

Part part_of(const Grid& grid) {
  const Extents global = grid.global();
  const Extents start = grid.start();
  const Extents& local = grid.local();
  return {{global[2], global[1], global[0]},
          {start[2], start[1], start[0]},
          {local[2], local[1], local[0]}};
}

Part part_of(MPI_Comm comm, std::size_t values) {
  const auto own = static_cast<std::int64_t>(values);
  std::int64_t behind = 0;
  std::int64_t all = 0;
  MPI_Scan(&own, &behind, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  return {{all}, {behind - own}, {own}};
}

SetOutput::SetOutput(const Session& session, std::string variable, Part part, std::int64_t after,
                     bool verify, IoTimers& timers)
    : session_{session},
      variable_{std::move(variable)},
      part_{std::move(part)},
      remembers_{verify},
      timers_{timers} {
  timers_.open.time([&] {
    check(iocomp_open_after(session.handle(), "hpcg", IOCOMP_SERIES, after, &file_),
          "iocomp_open_after");
    check(iocomp_define(file_, variable_.c_str(), IOCOMP_FLOAT64,
                        static_cast<int>(part_.shape.size()), part_.shape.data(), &values_),
          "iocomp_define");
  });
}

void SetOutput::put(std::int64_t set, std::span<const double> values) {
  if (remembers_) put_[set] = hash_of(values);
  timers_.send.time([&] {
    constexpr double no_time = std::numeric_limits<double>::quiet_NaN();
    check(iocomp_begin_step(file_, set, no_time), "iocomp_begin_step");
    check(iocomp_put(values_, part_.start.data(), part_.count.data(), values.data(), &ticket_),
          "iocomp_put");
    check(iocomp_end_step(file_), "iocomp_end_step");
  });
  is_open_ = true;
  ++steps_;
  newest_ = set;
}

void SetOutput::wait() {
  if (!is_open_) return;
  timers_.wait.time([&] { check(iocomp_wait(&ticket_, IOCOMP_HANDED_OVER), "iocomp_wait"); });
  is_open_ = false;
}

void SetOutput::wait_durable(std::int64_t set) {
  if (set != newest_) return;
  timers_.wait.time([&] { check(iocomp_wait_step(file_, set), "iocomp_wait_step"); });
}

void SetOutput::close() {
  timers_.close.time([&] { check(iocomp_close(file_), "iocomp_close"); });
  file_ = nullptr;
}

void SetOutput::verify() {
  if (put_.empty()) return;
  iocomp_input* input = nullptr;
  check(iocomp_open_input(session_.handle(), "hpcg", &input), "iocomp_open_input");
  std::vector<double> found(static_cast<std::size_t>(elements(part_.count)));
  for (const auto& [set, hash] : put_) {
    check(iocomp_read(input, variable_.c_str(), set, part_.start.data(), part_.count.data(),
                      found.data()),
          "iocomp_read");
    if (hash_of(found) != hash) {
      throw std::runtime_error("\"" + variable_ + "\" of set " + std::to_string(set) +
                               " reads back other than it was put");
    }
  }
  check(iocomp_close_input(input), "iocomp_close_input");
}

std::size_t SetOutput::bytes() const noexcept {
  return static_cast<std::size_t>(steps_ * elements(part_.shape)) * sizeof(double);
}

}  // namespace iocomp::apps::hpcg
