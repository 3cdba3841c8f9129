// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "iocomp/job_map.h"

namespace iocomp::command {

/// `iocomp map --cost`: messages of the exchange of collective output.
struct CostOptions {
  bool wanted = false;
  std::string grid;
  int aggregators = 0;
  std::string order = "packed";
  std::string affinity = "accumulated";
};

void add_cost_options(CLI::App& command, CostOptions& options);

/// Prints the cost of a job; docs/developers/benchmark_figures.md explains the figures.
void print_cost(const JobOptions& job, const CostOptions& options, bool json);

}  // namespace iocomp::command
