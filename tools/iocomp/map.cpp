// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/number_ranges.h"
#include "config/sources.h"
#include "iocomp/cost.h"
#include "iocomp/job_json.h"
#include "iocomp/job_map.h"
#include "iocomp/launch_line.h"
#include "iocomp/number_list.h"
#include "iocomp/output.h"
#include "iocomp/own_words.h"
#include "iocomp/picture.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"
#include "iocomp/text_file.h"

namespace iocomp::command {
namespace {

struct MapOptions {
  JobOptions job;
  CostOptions cost;
  std::string launcher = "slurm";
  LaunchOptions launch{.program = {"./program"}};
  std::string picture;
  bool json = false;
};

std::string number_or_dash(int number) { return number < 0 ? "-" : std::to_string(number); }

void print_table(const JobMap& job, const Launch& launch) {
  const auto clients = clients_of(job.map);
  std::vector<std::vector<std::string>> rows{{"type", "rank", "CPU", "node", "pair"}};
  for (std::size_t rank = 0; rank < job.map.seats.size(); ++rank) {
    const auto& seat = job.map.seats[rank];
    rows.push_back({seat.serves ? "server" : "compute", std::to_string(rank),
                    number_or_dash(seat.cpu), std::to_string(seat.node),
                    seat.serves ? number_ranges(clients[rank]) : number_or_dash(seat.pair)});
  }
  fmt::print("{}\n{}\n", aligned(rows), launch.line());
}

void write_files(const MapOptions& options, const JobMap& job, const Launch& launch) {
  if (!options.launch.rankfile.empty()) {
    if (launch.rankfile.empty()) {
      throw Error{ErrorCode::invalid_argument,
                  "--rankfile: only launcher openmpi uses one, for ranks with CPUs"};
    }
    write_text_file(options.launch.rankfile, launch.rankfile);
  }
  if (!options.launch.settings_file.empty()) {
    write_text_file(options.launch.settings_file, launch.settings);
  }
  if (!options.picture.empty()) {
    write_text_file(options.picture, picture_of(job));
  }
}

void show(MapOptions& options) {
  if (options.cost.wanted) {
    print_cost(options.job, options.cost, options.json);
    return;
  }
  options.launch.launcher = launcher_named(options.launcher);
  const auto job = map_job(options.job);
  options.launch.present_settings = config::settings_text();
  const auto launch = launch_of(job, options.launch);
  write_files(options, job, launch);
  for (const auto& note : launch.notes) {
    fmt::print(stderr, "iocomp: {}\n", note);
  }
  if (options.json) {
    print(json_of(job, launch));
    return;
  }
  print_table(job, launch);
  if (!launch.rankfile.empty() && options.launch.rankfile.empty()) {
    fmt::print("\n# iocomp.rankfile (--rankfile FILE writes it)\n{}", launch.rankfile);
  }
}

}  // namespace

void add_map(CLI::App& app) {
  auto options = std::make_shared<MapOptions>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "map", "Print where every rank of a job sits, who belongs to whom, and the launch line");
  add_job_options(*command, options->job);
  command
      ->add_option("--launcher", options->launcher,
                   "The launch line is for slurm, openmpi or mpich")
      ->capture_default_str();
  take_list(*command->add_option("--hosts", options->launch.hosts,
                                 "Names of the nodes (those allocated)"),
            "NAME");
  command->add_option("--rankfile", options->launch.rankfile, "Write Open MPI's rankfile here");
  command->add_option("--settings", options->launch.settings_file,
                      "Write the library's settings here instead of setting variables");
  command->add_option("--picture", options->picture, "Draw the nodes into this SVG file");
  command->add_flag("--json", options->json, "Print it as JSON");
  add_cost_options(*command, options->cost);
  command->callback([options] { show(*options); });
}

}  // namespace iocomp::command
