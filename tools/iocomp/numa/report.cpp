// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/number_ranges.h"
#include "iocomp/numa/bench.h"
#include "iocomp/numa/results.h"
#include "iocomp/numa/trial.h"
#include "iocomp/output.h"
#include "iocomp/table.h"
#include "placement/writer_policy.h"
#include "topology/node.h"

namespace iocomp::command {
namespace {

std::vector<int> ascending(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

bool same_row(const Trial& left, const Trial& right) {
  return left.operation == right.operation && left.on_one == right.on_one &&
         left.domains == right.domains && left.threads == right.threads;
}

std::string cell_text(const TrialResult* result, std::size_t bytes) {
  if (result == nullptr) {
    return "-";
  }
  const auto rates = result->rates(bytes);
  if (!rates) {
    return "misplaced";
  }
  const std::string mark = result->misplaced() == 0 ? "" : fmt::format(" *{}", result->misplaced());
  return fmt::format("{:.2f} ({:.2f} to {:.2f}){}", rates->median, rates->least, rates->most, mark);
}

std::string table_text(const RateTable& table, std::size_t bytes) {
  std::vector<std::vector<std::string>> lines{{"memory", "domains", "threads"}};
  for (const auto policy : table.policies) {
    lines.front().push_back(placement::name_of(policy));
  }
  for (const auto& row : table.rows) {
    const auto& trial = row.trial;
    lines.push_back({memory_text(trial), std::to_string(trial.domains.size()),
                     std::to_string(trial.domains.size() * trial.threads)});
    for (const auto* result : row.by_policy) {
      lines.back().push_back(cell_text(result, bytes));
    }
  }
  return in_words(table.operation) + "\n" + aligned(lines);
}

std::string machine_text(const NumaResults& results) {
  const auto& node = results.node;
  std::string text = fmt::format("{} NUMA domain{} of {}\n", node.numa_domains,
                                 node.numa_domains == 1 ? "" : "s", node.source);
  for (std::size_t domain = 0; domain < results.seats.size(); ++domain) {
    const auto& seats = results.seats[domain];
    text += fmt::format(
        "  domain {}: {}\n", node.numa_numbers.at(domain),
        seats.empty() ? "no CPU that is allowed" : "CPUs " + number_ranges(ascending(seats)));
  }
  return text +
         fmt::format("GiB/s, median (least to most) of {} rounds; {} for each domain; {} ({})\n",
                     results.rounds, format_bytes(static_cast<std::int64_t>(results.bytes)),
                     results.directory, results.file_system);
}

Json samples_json(const TrialResult& result) {
  Json samples = Json::array();
  for (const auto& sample : result.samples) {
    Json one{{"seconds", sample.seconds}, {"placed", sample.misplaced.empty()}};
    if (!sample.misplaced.empty()) {
      one["misplaced"] = sample.misplaced;
    }
    samples.push_back(std::move(one));
  }
  return samples;
}

Json trial_json(const NumaResults& results, const TrialResult& result) {
  const auto& trial = result.trial;
  Json one{{"operation", name_of(trial.operation)},
           {"memory", trial.on_one ? "one" : "each"},
           {"domains", trial.domains.size()},
           {"threads", trial.domains.size() * trial.threads},
           {"policy", placement::name_of(trial.policy)},
           {"threads_at_work", result.samples.empty() ? 0 : result.samples.front().threads},
           {"bytes", results.bytes * trial.domains.size()},
           {"misplaced", result.misplaced()}};
  const auto rates = result.rates(results.bytes);
  one["median_gib_per_second"] = rates ? Json(rates->median) : Json(nullptr);
  one["least_gib_per_second"] = rates ? Json(rates->least) : Json(nullptr);
  one["most_gib_per_second"] = rates ? Json(rates->most) : Json(nullptr);
  one["samples"] = samples_json(result);
  return one;
}

}  // namespace

std::vector<RateTable> tables_of(const NumaResults& results) {
  std::vector<RateTable> tables;
  for (const auto& result : results.trials) {
    if (tables.empty() || tables.back().operation != result.trial.operation) {
      tables.push_back({.operation = result.trial.operation});
    }
    auto& policies = tables.back().policies;
    if (std::ranges::find(policies, result.trial.policy) == policies.end()) {
      policies.push_back(result.trial.policy);
    }
  }
  for (auto& table : tables) {
    std::ranges::sort(table.policies);
    for (const auto& result : results.trials) {
      if (result.trial.operation != table.operation) {
        continue;
      }
      if (table.rows.empty() || !same_row(table.rows.back().trial, result.trial)) {
        table.rows.push_back({result.trial, {}});
        table.rows.back().by_policy.resize(table.policies.size(), nullptr);
      }
      const auto column =
          std::ranges::find(table.policies, result.trial.policy) - table.policies.begin();
      table.rows.back().by_policy[static_cast<std::size_t>(column)] = &result;
    }
  }
  return tables;
}

std::string in_words(Operation operation) {
  switch (operation) {
    case Operation::write:
      return "write: memory, thread, page cache";
    case Operation::read:
      return "read: page cache, thread, memory";
    case Operation::direct_write:
      return "direct-write (O_DIRECT): memory, thread";
    case Operation::direct_read:
      return "direct-read (O_DIRECT): memory, thread";
    case Operation::copy:
      break;
  }
  return "copy: memory, thread, memory";
}

std::string memory_text(const Trial& trial) { return trial.on_one ? "on one" : "on each"; }

std::string text_of(const NumaResults& results) {
  std::string text = machine_text(results);
  for (const auto& table : tables_of(results)) {
    text += "\n" + table_text(table, results.bytes);
  }
  const auto choices = automatic_choices(results);
  if (!choices.empty()) {
    text += "\nauto takes\n";
    std::vector<std::vector<std::string>> lines;
    for (const auto& one : choices) {
      lines.push_back({name_of(one.operation), one.on_one ? "memory on one" : "memory on each",
                       placement::name_of(one.choice.policy), one.choice.reason});
    }
    text += aligned(lines);
  }
  for (const auto& note : results.notes) {
    text += "\n" + note + "\n";
  }
  return text;
}

Json json_of(const NumaResults& results) {
  Json out{{"directory", results.directory},
           {"file_system", results.file_system},
           {"bytes_per_domain", results.bytes},
           {"rounds", results.rounds},
           {"domains", Json::array()},
           {"trials", Json::array()},
           {"auto", Json::array()},
           {"notes", results.notes}};
  for (std::size_t domain = 0; domain < results.seats.size(); ++domain) {
    out["domains"].push_back(
        {{"domain", results.node.numa_numbers.at(domain)}, {"cpus", results.seats[domain]}});
  }
  for (const auto& result : results.trials) {
    out["trials"].push_back(trial_json(results, result));
  }
  for (const auto& one : automatic_choices(results)) {
    out["auto"].push_back({{"operation", name_of(one.operation)},
                           {"memory", one.on_one ? "one" : "each"},
                           {"policy", placement::name_of(one.choice.policy)},
                           {"threads", one.choice.threads},
                           {"reason", one.choice.reason}});
  }
  return out;
}

}  // namespace iocomp::command
