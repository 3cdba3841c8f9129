// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "placement/writer_policy.h"
#include "topology/node.h"

namespace iocomp::placement {

/// Divides the memory of a request among the writer threads of a process by a policy, from the NUMA
/// domains on which that memory lies: see `divide`. Thread-safe if its functions are.
class WriterDivision {
 public:
  struct Setup {
    topology::Node node;
    /// Local or pull: what it makes lands on the domain of the thread. Nothing: AutomaticPolicies.
    std::optional<WriterPolicy> policy{};
    std::vector<int> threads{};     ///< by thread but for the caller's: its domain
    std::function<int()> caller{};  ///< the caller's domain
    /// Returns the domain of each `step` bytes of a range, by its number in the operating system;
    /// -1: unknown.
    std::function<std::vector<int>(std::span<const std::byte> memory, std::size_t step)> look{};
  };
  explicit WriterDivision(Setup setup) : setup_{std::move(setup)} {}

  /// See Crew::Divide.
  [[nodiscard]] std::vector<Crew::Share> operator()(std::span<const std::byte> memory,
                                                    std::size_t grain,
                                                    std::size_t least_bytes) const;

 private:
  Setup setup_;
};

/// The policy of a setting: local or pull. The others are those of `iocomp numa`. Nothing: "auto".
[[nodiscard]] std::optional<WriterPolicy> writer_policy_named(const std::string& name);

}  // namespace iocomp::placement
