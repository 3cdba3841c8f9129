// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "topology/node.h"

namespace iocomp::placement {

/// The division of one request among writer threads, by NUMA domain: where the thread sits that
/// moves a part, and where what it makes lands (pages of the page cache, copies). The first five
/// are the routes of "NUMA-aware parallel I/O" (IPSJ SIG 2013-ARC-205): memory → thread → target.
enum class WriterPolicy {
  local,        ///< 0 → 0 → 0
  pull,         ///< 0 → 1 → 1: an idle domain reads remote memory
  push,         ///< 0 → 0 → 1: the thread writes to remote memory
  relay,        ///< 0 → 1 → 2
  round_trip,   ///< 0 → 1 → 0: what `automatic` never takes
  round_robin,  ///< the threads take turns, whatever the domains; the target lands with the thread
};

[[nodiscard]] const std::vector<std::string>& writer_policy_names();
[[nodiscard]] const std::string& name_of(WriterPolicy policy);
/// The number of domains that a policy needs. With fewer, `divide` takes the nearest possible
/// policy.
[[nodiscard]] int domains_needed(WriterPolicy policy) noexcept;

/// A part of a request whose memory lies on one domain.
struct SourcePart {
  int domain = 0;
  std::size_t bytes = 0;
};

/// A thread's share of a request.
struct Share {
  std::size_t part = 0;   ///< of the request
  std::size_t begin = 0;  ///< in the part, bytes
  std::size_t bytes = 0;
  std::size_t thread = 0;  ///< index among the idle threads
  int target = 0;          ///< domain where pages shall land
};

/// The package of each NUMA domain.
[[nodiscard]] std::vector<int> packages_of(const topology::Node& node);
/// Some domains as they are near to one: itself, then those of its package, then upwards.
/// @param packages  see packages_of.
[[nodiscard]] std::vector<int> nearest_first(const std::vector<int>& packages, int domain,
                                             const std::set<int>& among);

/// Divide a request. A pure function. Every byte is in one share, and each thread that a policy may
/// use gets about as many bytes. Idle domains are those that have idle threads and hold no part;
/// where there are none, pull, push, relay and round-trip go to the next domain, in the same
/// package where it has one.
/// - A part on a domain without threads is taken by the nearest that has some.
/// - Relay needs a third domain and becomes pull without one. With one domain all are local.
/// @param threads  by idle thread: its domain.
/// @param grain    shares begin at its multiples in a part, bytes.
/// @throws Error{invalid_argument} without threads or grain, or for a domain that the node does not
/// have.
[[nodiscard]] std::vector<Share> divide(const topology::Node& node, WriterPolicy policy,
                                        std::span<const SourcePart> parts,
                                        std::span<const int> threads, std::size_t grain);

/// The measurements of a policy.
struct MeasuredPolicy {
  WriterPolicy policy = WriterPolicy::local;
  int threads = 1;
  double median = 0;  ///< GiB/s, as the others
  double least = 0;
  double most = 0;
};

/// The choice of `automatic` for a request, by the work that it leaves to threads of other domains.
struct AutomaticPolicies {
  WriterPolicy busy = WriterPolicy::local;  ///< its memory lies on all domains that have threads
  WriterPolicy idle = WriterPolicy::pull;   ///< some domain has threads and none of its memory
};

/// True if some domain has threads and no part of the request.
[[nodiscard]] bool leaves_idle(std::span<const SourcePart> parts, std::span<const int> threads);

struct PolicyChoice {
  WriterPolicy policy = WriterPolicy::local;
  int threads = 0;  ///< 0: not measured
  std::string reason;
};

/// The choice of `automatic` for requests like this one: the fastest policy that was measured, or a
/// simpler one (of local, pull, push, relay, round-robin the earlier) whose median lies within its
/// spread. Without measurements the study's finding: AutomaticPolicies. A pure function.
/// @param measured  of requests that leave idle domains as this one does; round trips do not count.
[[nodiscard]] PolicyChoice choose_policy(std::span<const SourcePart> parts,
                                         std::span<const int> threads,
                                         std::span<const MeasuredPolicy> measured);

}  // namespace iocomp::placement
