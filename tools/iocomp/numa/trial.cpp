// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/trial.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "placement/writer_policy.h"

namespace iocomp::command {
namespace {

using placement::WriterPolicy;

std::vector<WriterPolicy> policies_of(Operation operation, std::size_t domains) {
  std::vector<WriterPolicy> policies{WriterPolicy::local};
  if (domains == 1) {
    return policies;
  }
  const bool is_direct =
      operation == Operation::direct_write || operation == Operation::direct_read;
  policies.push_back(WriterPolicy::pull);
  if (!is_direct) {
    policies.push_back(WriterPolicy::push);
    if (domains >= static_cast<std::size_t>(placement::domains_needed(WriterPolicy::relay))) {
      policies.push_back(WriterPolicy::relay);
    }
    policies.push_back(WriterPolicy::round_trip);
  }
  policies.push_back(WriterPolicy::round_robin);
  return policies;
}

void append_trials(std::vector<Trial>& trials, const Trial& pattern) {
  for (const auto policy : policies_of(pattern.operation, pattern.domains.size())) {
    trials.push_back(pattern);
    trials.back().policy = policy;
  }
}

}  // namespace

const std::vector<std::string>& operation_names() {
  static const std::vector<std::string> names{
      // in the order of the enumeration
      "write", "read", "direct-write", "direct-read", "copy"};
  return names;
}

const std::string& name_of(Operation operation) {
  return operation_names().at(static_cast<std::size_t>(operation));
}

Operation operation_named(const std::string& name) {
  const auto found = std::ranges::find(operation_names(), name);
  if (found == operation_names().end()) {
    std::string allowed;
    for (const auto& one : operation_names()) {
      allowed += (allowed.empty() ? "" : ", ") + one;
    }
    throw Error{ErrorCode::invalid_argument,
                "there is no operation \"" + name + "\": allowed are " + allowed};
  }
  return static_cast<Operation>(found - operation_names().begin());
}

std::vector<std::size_t> steps_up_to(std::size_t most, std::size_t factor) {
  std::vector<std::size_t> steps;
  for (std::size_t step = 1; step < most; step *= factor) {
    steps.push_back(step);
  }
  steps.push_back(most);
  return steps;
}

std::vector<Trial> trials_within(const TrialLimits& limits) {
  std::vector<Trial> trials;
  for (const auto operation : limits.operations) {
    for (const std::size_t count : steps_up_to(limits.domains.size(), 2)) {
      for (const std::size_t threads : limits.threads) {
        Trial pattern{.operation = operation,
                      .on_one = count == 1,
                      .domains = {limits.domains.begin(),
                                  limits.domains.begin() + static_cast<std::ptrdiff_t>(count)},
                      .threads = threads};
        append_trials(trials, pattern);
        if (count > 1) {
          pattern.on_one = true;
          append_trials(trials, pattern);
        }
      }
    }
  }
  return trials;
}

std::vector<placement::SourcePart> parts_of(const Trial& trial, std::size_t bytes) {
  if (trial.on_one) {
    return {{trial.domains.front(), trial.domains.size() * bytes}};
  }
  std::vector<placement::SourcePart> parts;
  for (const int domain : trial.domains) {
    parts.push_back({domain, bytes});
  }
  return parts;
}

std::vector<int> threads_of(const Trial& trial) {
  std::vector<int> threads;
  for (const int domain : trial.domains) {
    threads.insert(threads.end(), trial.threads, domain);
  }
  return threads;
}

}  // namespace iocomp::command
