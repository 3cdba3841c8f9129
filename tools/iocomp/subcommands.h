// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace iocomp::command {

// One source file per subcommand. Each adds itself to the command line with the action that runs
// it, and reports what the user did wrong as an Error.

void add_clean(CLI::App& app);
void add_config(CLI::App& app);
void add_describe(CLI::App& app);
void add_info(CLI::App& app);
void add_launch(CLI::App& app);
void add_latest(CLI::App& app);
void add_ls(CLI::App& app);
void add_manual(CLI::App& app);
void add_map(CLI::App& app);
void add_numa(CLI::App& app);
void add_recover(CLI::App& app);
void add_show(CLI::App& app);
void add_site_rank(CLI::App& app);
void add_trace(CLI::App& app);
void add_verify(CLI::App& app);
void add_watch(CLI::App& app);

// These get the words behind their name as they are, for another program or for the shell.
void add_advise(CLI::App& app, const std::vector<std::string>& words);
void add_check_site(CLI::App& app, const std::vector<std::string>& words);
void add_complete(CLI::App& app, const std::vector<std::string>& words);
void add_run(CLI::App& app, const std::vector<std::string>& words);
void add_study(CLI::App& app, const std::vector<std::string>& words);
void add_torture(CLI::App& app, const std::vector<std::string>& words);

}  // namespace iocomp::command
