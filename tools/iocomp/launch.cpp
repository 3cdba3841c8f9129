// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/error.h"
#include "config/sources.h"
#include "iocomp/child.h"
#include "iocomp/job_json.h"
#include "iocomp/job_map.h"
#include "iocomp/launch_line.h"
#include "iocomp/launcher_search.h"
#include "iocomp/output.h"
#include "iocomp/own_words.h"
#include "iocomp/subcommands.h"
#include "iocomp/text_file.h"

namespace iocomp::command {
namespace {

struct JobLaunch {
  JobOptions job;
  std::string launcher;
  LaunchOptions launch;
  bool dry_run = false;
  bool json = false;
};

/// A folder for what the launcher reads while the job starts; gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failure;
    const auto folder = std::filesystem::temp_directory_path(failure);
    if (failure) {
      const char* const said = std::getenv("TMPDIR");
      throw Error{ErrorCode::storage_failure, std::string{"there is no folder "} +
                                                  (said == nullptr ? "/tmp" : said) +
                                                  " for temporary files (TMPDIR)"};
    }
    std::string pattern = (folder / "iocomp-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error{ErrorCode::storage_failure,
                  "cannot make the folder " + pattern + ": " + std::strerror(errno)};
    }
    path_ = pattern;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::optional<Launcher> wanted_launcher(const JobLaunch& options) {
  if (options.launcher.empty()) {
    return std::nullopt;
  }
  return launcher_named(options.launcher);
}

int start(const JobMap& job, LaunchOptions options, const FoundLauncher& launcher) {
  const ScratchFolder scratch;
  options.present_settings = config::settings_text();
  options.rankfile = scratch.file("rankfile");
  auto launch = launch_of(job, options);
  if (!launch.settings.empty()) {
    options.settings_file = scratch.file("iocomp.toml");  // the first rank alone reads it
    launch = launch_of(job, options);
    write_text_file(options.settings_file, launch.settings);
  }
  if (!launch.rankfile.empty()) {
    write_text_file(options.rankfile, launch.rankfile);
  }
  launch.words.front() = launcher.path;
  return run_child(launch.words, launch.environment);
}

void tell(const JobMap& job, const JobLaunch& options) {
  const auto launch = launch_of(job, options.launch);
  if (options.json) {
    print(json_of(job, launch));
  } else {
    fmt::print("{}\n", launch.line());
  }
}

void launch_job(JobLaunch& options) {
  const auto wanted = wanted_launcher(options);
  const auto job = map_job(options.job);
  if (job.mapping == "sequential" && !job.by_kernel) {
    fmt::print(stderr,
               "iocomp: --mapping sequential writes synchronously: calls wait for the disk; with "
               "--kernel they do not\n");
  }
  if (options.dry_run && wanted) {
    options.launch.launcher = *wanted;
    tell(job, options);
    return;
  }
  const auto launcher = find_launcher(wanted);
  options.launch.launcher = launcher.kind;
  if (options.dry_run) {
    tell(job, options);
    return;
  }
  const int status = start(job, options.launch, launcher);
  if (status != 0) {
    throw CLI::RuntimeError{status};
  }
}

}  // namespace

void add_launch(CLI::App& app) {
  auto options = std::make_shared<JobLaunch>();  // lives as long as the action
  auto* command = app.add_subcommand(
      "launch", "Start a program with every rank where `iocomp map` says; ends with its status");
  command->positionals_at_end();  // what comes behind the program is the program's
  add_job_options(*command, options->job);
  command->add_option("--launcher", options->launcher,
                      "slurm, openmpi or mpich (srun in a Slurm allocation, else the MPI's own)");
  take_list(*command->add_option("--hosts", options->launch.hosts,
                                 "Names of the nodes (those allocated)"),
            "NAME");
  auto* dry_run =
      command->add_flag("--dry-run", options->dry_run, "Print the launch line and start nothing");
  command->add_flag("--json", options->json, "With --dry-run: print it and all ranks as JSON")
      ->needs(dry_run);
  command->add_option("program", options->launch.program, "The program, its arguments")->required();
  command->callback([options] { launch_job(*options); });
}

}  // namespace iocomp::command
