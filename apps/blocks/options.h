// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace iocomp::apps::blocks {

/// The ranks that share a file.
enum class Layout { shared, process, node };

/// The repetitions that are read back and compared.
enum class Check { none, last, all };

/// The options that all clients that write blocks have.
struct Options {
  std::vector<std::string> backends;   ///< of iocomp: NAME, NAME:sync or NAME:async; or all
  std::vector<std::string> baselines;  ///< format libraries called directly
  bool ratio = false;                  ///< iocomp and baselines in one job
  Layout layout = Layout::shared;
  int node_size = 0;  ///< ranks that share a file of layout node; 0: those of a node
  int repetitions = 10;
  int steps = 1;
  double phase = 0;        ///< computing before each step, as a multiple of a synchronous write
  double phase_waits = 0;  ///< the part of it in which ranks sleep, as if they waited for others
  int noise_bits = 0;      ///< of the values
  bool durable = true;
  Check check = Check::last;
  bool read = false;  ///< time reading too
  bool alloc = false;
  std::string directory = ".";
  bool keep = false;
  std::vector<std::string> settings;  ///< further lines of TOML
  std::vector<std::string> hints;     ///< of MPI-IO, for baselines: KEY=VALUE
  int aggregators = 0;
  std::string aggregator_order = "spread";
  std::string json;

  [[nodiscard]] bool uses_iocomp() const { return baselines.empty() || ratio; }
  /// The hints of the baselines, those that `aggregators` means included.
  /// @throws std::runtime_error for one without "=".
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> mpi_hints() const;
};

/// Declare the options; `options` must live until they are parsed.
void declare(CLI::App& app, Options& options);

}  // namespace iocomp::apps::blocks
