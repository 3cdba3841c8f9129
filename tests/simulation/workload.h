// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/client.h"
#include "oracle.h"
#include "plan.h"
#include "world.h"

namespace simulation {

/// The program of one rank: it makes the calls of the library that a plan says, and tells the
/// oracle what they come to.
class Workload {
 public:
  /// @param members  by file: the communicator of its members; MPI_COMM_NULL: all compute ranks.
  Workload(const Plan& plan, int rank, const std::vector<MPI_Comm>& members, Oracle& oracle,
           World& world);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// Called with the number of a file that the rank is about to close.
  void before_closing(std::function<void(std::size_t)> action) {
    before_closing_ = std::move(action);
  }
  /// All files of the rank, from opening to closing. Its arrays stay until this object goes: the
  /// client reads them until it is finalized.
  void run(iocomp::client::Client& client);

 private:
  struct Buffer;  // of one put
  struct OpenFile {
    std::size_t number = 0;  // in the plan
    iocomp::client::File* file = nullptr;
    std::int64_t first_step = 0;
    std::vector<int> variables{};
    std::vector<std::vector<std::int64_t>> shapes{};  // by variable
    std::optional<std::uint64_t> closing{};           // the ticket, if it closes later
  };
  [[nodiscard]] bool makes(Mistake mistake, const PlannedFile& file) const;
  [[nodiscard]] std::int64_t count_steps(const PlannedFile& file) const;
  [[nodiscard]] bool has_step(const OpenFile& open, std::int64_t step) const;
  void open(OpenFile& open);
  void check_refusals(iocomp::client::File& file);
  void define(OpenFile& open, std::size_t variable);
  void set_attributes(OpenFile& open, int version);
  void make_step(OpenFile& open, std::int64_t step);
  void set_shapes(OpenFile& open, const Step& step);
  void set_rows(OpenFile& open, const Step& step);
  void put(OpenFile& open, const PutName& name, const Put& put,
           const std::vector<std::int64_t>& shape);
  [[nodiscard]] std::unique_ptr<Buffer> buffer_for(const OpenFile& open, const PutName& name,
                                                   const Put& put,
                                                   std::span<const std::byte> values,
                                                   std::size_t offset);
  void wait(const OpenFile& open, Buffer& buffer, Await state);
  /// Ask all tickets of a file whether they are durable.
  void ask_tickets(const OpenFile& open, bool is_closed);
  void end_step(OpenFile& open, std::int64_t step);
  void begin_closing(OpenFile& open);
  void close(OpenFile& open, const std::function<void()>& wait);

  const Plan& plan_;
  int rank_;
  const std::vector<MPI_Comm>& members_;
  Oracle& oracle_;
  World& world_;
  std::function<void(std::size_t)> before_closing_;
  iocomp::client::Client* client_ = nullptr;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::pair<Buffer*, Await>> waits_;  // for the end of the step
};

}  // namespace simulation
