// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "placement/writer_policy.h"
#include "topology/node.h"

namespace iocomp::command {

enum class Operation { write, read, direct_write, direct_read, copy };

[[nodiscard]] const std::vector<std::string>& operation_names();
[[nodiscard]] const std::string& name_of(Operation operation);
/// @throws Error{invalid_argument} naming the operations.
[[nodiscard]] Operation operation_named(const std::string& name);

/// One way of moving data that is measured.
struct Trial {
  Operation operation = Operation::write;
  bool on_one = false;  ///< all memory lies on the first of the domains, else as much on each
  std::vector<int> domains{};  ///< that have threads; numbers of topology::Node
  std::size_t threads = 1;     ///< on each domain
  placement::WriterPolicy policy = placement::WriterPolicy::local;
};

/// The measurements that are possible on a machine.
struct TrialLimits {
  std::vector<Operation> operations{};
  std::vector<int> domains{};          ///< that have CPUs
  std::vector<std::size_t> threads{};  ///< numbers on each domain
};

/// 1, `factor`, its square and so on up to `most`, and `most`.
[[nodiscard]] std::vector<std::size_t> steps_up_to(std::size_t most, std::size_t factor);

/// All ways to measure: on 1, 2, 4 … and all domains. On one domain every policy is local, so only
/// that is there. O_DIRECT has no target to place: of its policies those remain that differ in the
/// domain of the thread.
[[nodiscard]] std::vector<Trial> trials_within(const TrialLimits& limits);

/// The memory of a trial, by domain. @param bytes  on each domain, or as much for each on one.
[[nodiscard]] std::vector<placement::SourcePart> parts_of(const Trial& trial, std::size_t bytes);
/// The domain of each thread.
[[nodiscard]] std::vector<int> threads_of(const Trial& trial);

}  // namespace iocomp::command
