// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/results.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/error.h"
#include "iocomp/numa/bench.h"
#include "iocomp/numa/trial.h"
#include "placement/writer_policy.h"

namespace iocomp::command {
namespace {

std::size_t most_domains(const NumaResults& results) {
  std::size_t most = 0;
  for (const auto& result : results.trials) {
    most = std::max(most, result.trial.domains.size());
  }
  return most;
}

}  // namespace

std::optional<Rates> TrialResult::rates(std::size_t bytes) const {
  const double gib = static_cast<double>(bytes * trial.domains.size()) / (1 << 30);
  std::vector<double> found;
  for (const auto& sample : samples) {
    if (sample.misplaced.empty()) {
      found.push_back(gib / sample.seconds);
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(found);
  const std::size_t middle = found.size() / 2;
  const double median =
      found.size() % 2 == 1 ? found[middle] : (found[middle - 1] + found[middle]) / 2;
  return Rates{.median = median, .least = found.front(), .most = found.back()};
}

std::size_t TrialResult::misplaced() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      samples, [](const Sample& sample) { return !sample.misplaced.empty(); }));
}

std::vector<AutoChoice> automatic_choices(const NumaResults& results) {
  std::vector<AutoChoice> choices;
  const std::size_t domains = most_domains(results);
  if (domains < 2) {
    return choices;
  }
  for (std::size_t number = 0; number < operation_names().size(); ++number) {
    const auto operation = static_cast<Operation>(number);
    for (const bool on_one : {false, true}) {
      std::vector<placement::MeasuredPolicy> measured;
      const TrialResult* last = nullptr;
      for (const auto& result : results.trials) {
        const auto& trial = result.trial;
        if (trial.operation != operation || trial.on_one != on_one ||
            trial.domains.size() != domains) {
          continue;
        }
        last = &result;
        const bool is_of_library = trial.policy == placement::WriterPolicy::local ||
                                   trial.policy == placement::WriterPolicy::pull;
        if (!is_of_library) {
          continue;
        }
        if (const auto rates = result.rates(results.bytes)) {
          measured.push_back({.policy = trial.policy,
                              .threads = static_cast<int>(trial.threads * domains),
                              .median = rates->median,
                              .least = rates->least,
                              .most = rates->most});
        }
      }
      if (last != nullptr) {
        const auto parts = parts_of(last->trial, results.bytes);
        choices.push_back({operation, on_one,
                           placement::choose_policy(parts, threads_of(last->trial), measured)});
      }
    }
  }
  return choices;
}

placement::AutomaticPolicies policies_of(const std::vector<AutoChoice>& choices) {
  for (const auto operation : {Operation::copy, Operation::write}) {
    placement::AutomaticPolicies policies;
    bool is_measured = false;
    for (const auto& one : choices) {
      if (one.operation == operation) {
        (one.on_one ? policies.idle : policies.busy) = one.choice.policy;
        is_measured = true;
      }
    }
    if (is_measured) {
      return policies;
    }
  }
  throw Error{ErrorCode::invalid_argument,
              "--apply: what auto shall take is known after copies, or writes, were measured on "
              "two NUMA domains or more"};
}

}  // namespace iocomp::command
