// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "topology/node.h"

namespace iocomp::placement {

std::vector<int> packages_of(const topology::Node& node) {
  std::vector<int> packages(static_cast<std::size_t>(std::max(1, node.numa_domains)), 0);
  for (const auto& core : node.cores) {
    packages[static_cast<std::size_t>(core.numa)] = core.package;
  }
  return packages;
}

std::vector<int> nearest_first(const std::vector<int>& packages, int domain,
                               const std::set<int>& among) {
  std::vector<int> domains(among.begin(), among.end());
  const int count = static_cast<int>(packages.size());
  const auto package = [&](int one) { return packages[static_cast<std::size_t>(one)]; };
  std::ranges::sort(domains, {}, [&](int other) {
    return std::pair{package(other) != package(domain), (other - domain + count) % count};
  });
  return domains;
}

namespace {

/// The domains of a request: who has threads, who is idle, who is near.
class DomainRing {
 public:
  DomainRing(const topology::Node& node, std::span<const SourcePart> parts,
             std::span<const int> threads)
      : packages_{packages_of(node)}, with_threads_(threads.begin(), threads.end()) {
    idle_ = with_threads_;
    for (const auto& part : parts) {
      idle_.erase(part.domain);
    }
  }

  [[nodiscard]] bool has_threads(int domain) const { return with_threads_.contains(domain); }

  /// Domains that help the memory of this one: the idle ones, or the next one; nearest first, none
  /// if there is no other.
  [[nodiscard]] std::vector<int> helpers(int domain) const {
    const auto others = nearest_first(domain, idle_.empty() ? with_threads_ : idle_);
    return idle_.empty() && !others.empty() ? std::vector<int>{others.front()} : others;
  }

  /// The domain to which a relay copies memory of domain `memory` that a thread of domain `thread`
  /// has read: neither of the two, if there is a third.
  [[nodiscard]] int third(int memory, int thread) const {
    for (const auto* domains : {&idle_, &with_threads_}) {
      for (const int domain : nearest_first(thread, *domains)) {
        if (domain != memory) {
          return domain;
        }
      }
    }
    return thread;
  }

  /// The nearest domain with threads, itself first.
  [[nodiscard]] int nearest(int domain) const {
    return has_threads(domain) ? domain : nearest_first(domain, with_threads_).front();
  }

 private:
  [[nodiscard]] std::vector<int> nearest_first(int domain, const std::set<int>& among) const {
    auto others = placement::nearest_first(packages_, domain, among);
    std::erase(others, domain);
    return others;
  }

  std::vector<int> packages_;  // by domain
  std::set<int> with_threads_;
  std::set<int> idle_;
};

/// The way of one domain's memory: the domains whose threads take it, and the domains that they
/// write it to.
struct Plan {
  std::vector<int> thread_domains;
  std::vector<int> targets;  ///< of a push; else empty
};

Plan plan_for(WriterPolicy policy, const DomainRing& ring, int memory) {
  const auto helpers = ring.helpers(memory);
  const bool stays = policy == WriterPolicy::local || policy == WriterPolicy::push;
  if (stays || helpers.empty()) {
    return {.thread_domains = {ring.nearest(memory)},
            .targets = policy == WriterPolicy::push ? helpers : std::vector<int>{}};
  }
  return {.thread_domains = helpers, .targets = {}};
}

/// Gives shares to the thread that has least so far.
class Dealer {
 public:
  Dealer(const DomainRing& ring, std::span<const int> threads)
      : ring_{ring}, threads_{threads}, load_(threads.size(), 0) {}

  void deal(WriterPolicy policy, const SourcePart& part, std::size_t number, std::size_t grain) {
    const auto plan = plan_for(policy, ring_, part.domain);
    const auto takers = takers_of(policy, plan);
    const std::size_t grains = (part.bytes + grain - 1) / grain;
    const std::size_t shares = std::min(grains, std::max(takers.size(), plan.targets.size()));
    for (std::size_t i = 0; i < shares; ++i) {
      const std::size_t begin = grains * i / shares * grain;
      const std::size_t end = std::min(part.bytes, grains * (i + 1) / shares * grain);
      const std::size_t thread = least_loaded(takers);
      load_[thread] += end - begin;
      shares_.push_back({.part = number,
                         .begin = begin,
                         .bytes = end - begin,
                         .thread = thread,
                         .target = target_of(policy, plan, part.domain, threads_[thread], i)});
    }
  }

  [[nodiscard]] std::vector<Share> take() { return std::move(shares_); }

 private:
  [[nodiscard]] std::vector<std::size_t> takers_of(WriterPolicy policy, const Plan& plan) const {
    std::vector<std::size_t> takers;
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      if (policy == WriterPolicy::round_robin ||
          std::ranges::find(plan.thread_domains, threads_[thread]) != plan.thread_domains.end()) {
        takers.push_back(thread);
      }
    }
    return takers;
  }

  [[nodiscard]] std::size_t least_loaded(const std::vector<std::size_t>& takers) const {
    return *std::ranges::min_element(takers, {},
                                     [this](std::size_t thread) { return load_[thread]; });
  }

  [[nodiscard]] int target_of(WriterPolicy policy, const Plan& plan, int memory, int thread,
                              std::size_t share) const {
    if (policy == WriterPolicy::push && !plan.targets.empty()) {
      return plan.targets[share % plan.targets.size()];
    }
    if (policy == WriterPolicy::relay && thread != memory) {
      return ring_.third(memory, thread);
    }
    return policy == WriterPolicy::round_trip ? memory : thread;
  }

  const DomainRing& ring_;
  std::span<const int> threads_;
  std::vector<std::size_t> load_;  // by thread, bytes
  std::vector<Share> shares_;
};

void check_domain(const topology::Node& node, int domain, const char* whose) {
  if (domain < 0 || domain >= node.numa_domains) {
    throw Error{ErrorCode::invalid_argument,
                fmt::format("NUMA domain {} of {}: {} has {}, from 0", domain, whose, node.source,
                            node.numa_domains)};
  }
}

std::string rate_text(const MeasuredPolicy& one) {
  return fmt::format("{} with {} {} {:.2f} GiB/s ({:.2f} to {:.2f})", name_of(one.policy),
                     one.threads, one.threads == 1 ? "thread" : "threads", one.median, one.least,
                     one.most);
}

}  // namespace

const std::vector<std::string>& writer_policy_names() {
  static const std::vector<std::string> names{
      // in the order of the enumeration
      "local", "pull", "push", "relay", "round-trip", "round-robin"};
  return names;
}

const std::string& name_of(WriterPolicy policy) {
  return writer_policy_names().at(static_cast<std::size_t>(policy));
}

int domains_needed(WriterPolicy policy) noexcept {
  switch (policy) {
    case WriterPolicy::local:
    case WriterPolicy::round_robin:
      return 1;
    case WriterPolicy::relay:
      return 3;
    default:
      return 2;
  }
}

std::vector<Share> divide(const topology::Node& node, WriterPolicy policy,
                          std::span<const SourcePart> parts, std::span<const int> threads,
                          std::size_t grain) {
  if (threads.empty() || grain == 0) {
    throw Error{ErrorCode::invalid_argument,
                "a request is divided among at least one thread, in grains of at least one byte"};
  }
  for (const int domain : threads) {
    check_domain(node, domain, "a thread");
  }
  for (const auto& part : parts) {
    check_domain(node, part.domain, "a part");
  }
  const DomainRing ring{node, parts, threads};
  Dealer dealer{ring, threads};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    dealer.deal(policy, parts[part], part, grain);
  }
  return dealer.take();
}

bool leaves_idle(std::span<const SourcePart> parts, std::span<const int> threads) {
  return std::ranges::any_of(threads, [&](int thread) {
    return std::ranges::find(parts, thread, &SourcePart::domain) == parts.end();
  });
}

PolicyChoice choose_policy(std::span<const SourcePart> parts, std::span<const int> threads,
                           std::span<const MeasuredPolicy> measured) {
  std::vector<MeasuredPolicy> usable(measured.begin(), measured.end());
  std::erase_if(usable, [](const auto& one) { return one.policy == WriterPolicy::round_trip; });
  if (usable.empty()) {
    const AutomaticPolicies study;
    return leaves_idle(parts, threads)
               ? PolicyChoice{study.idle, 0,
                              "nothing was measured, and there are idle domains that can read"}
               : PolicyChoice{study.busy, 0, "nothing was measured, and no domain is idle"};
  }
  const auto best = *std::ranges::max_element(usable, {}, &MeasuredPolicy::median);
  std::erase_if(usable, [&](const auto& one) { return one.median < best.least; });
  const auto taken = *std::ranges::min_element(usable, [](const auto& left, const auto& right) {
    return std::pair{left.policy, -left.median} < std::pair{right.policy, -right.median};
  });
  if (taken.policy == best.policy) {
    return {taken.policy, taken.threads, rate_text(taken) + " is fastest"};
  }
  return {taken.policy, taken.threads,
          rate_text(taken) + " is no slower than can be told from " + rate_text(best)};
}

}  // namespace iocomp::placement
