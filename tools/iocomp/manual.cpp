// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "iocomp/python_program.h"
#include "iocomp/subcommands.h"

namespace iocomp::command {
namespace {

// As text of roff: nothing in it is a request, and "-" is what a user types.
std::string roff(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    if (letter == '\\') {
      plain += "\\e";
    } else if (letter == '-') {
      plain += "\\-";
    } else {
      plain += letter;
    }
  }
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

void print_options(const CLI::App& command) {
  const CLI::Formatter words;
  for (const auto* option : command.get_options([&command](const CLI::Option* any) {
         return any != command.get_help_ptr() && !any->get_group().empty();
       })) {
    const bool is_positional = !option->nonpositional();
    fmt::print(
        ".TP\n.B {}\n{}{}\n", roff(words.make_option_name(option, is_positional)),
        roff(words.make_option_desc(option)),
        option->get_default_str().empty() ? "" : " [" + roff(option->get_default_str()) + "]");
  }
}

// With the subcommands that it has of its own: "study run".
void print_command(CLI::App& command, const std::string& name) {
  ask_for_words(command);
  const auto description = roff(command.get_description());
  fmt::print(".SS iocomp {}\n{}{}\n", name, description, description.ends_with('.') ? "" : ".");
  print_options(command);
  const auto members = command.get_subcommands([](CLI::App* any) { return any != nullptr; });
  for (auto* member : members) {
    print_command(*member, name + " " + member->get_name());
  }
  if (!command.get_footer().empty()) {
    fmt::print(".P\n{}\n", roff(command.get_footer()));
  }
  if (command.get_options().empty() && members.empty()) {
    fmt::print(".br\n.B iocomp {} \\-\\-help\nlists its words.\n", name);
  }
}

void print_manual(CLI::App& app) {
  fmt::print(
      ".TH IOCOMP 1 \"\" \"{0}\" \"iocomp\"\n"
      ".SH NAME\niocomp \\- look at files of iocomp, place jobs, measure output\n"
      ".SH SYNOPSIS\n.B iocomp\n.I SUBCOMMAND\n[\\fIWORDS\\fR]\n"
      ".br\n.B iocomp\n.I SUBCOMMAND\n.B \\-\\-help\n",
      roff("iocomp " IOCOMP_COMMAND_VERSION));
  std::string heading;
  for (auto* command :
       app.get_subcommands([](CLI::App* any) { return !any->get_group().empty(); })) {
    if (command->get_group() != heading) {
      heading = command->get_group();
      fmt::print(".SH {}\n", upper_case(heading));
    }
    print_command(*command, command->get_name());
  }
  fmt::print(
      ".SH EXIT STATUS\n"
      ".TP\n.B 0\nDone, or yes.\n"
      ".TP\n.B 1\nNo: nothing is committed (latest, watch), something is damaged (verify)\n"
      "or does not work (check\\-site).\n"
      ".TP\n.B 2\nThe command line or what it names is wrong, and stderr says how.\n"
      ".TP\n.B 3\nA fault of iocomp itself.\n"
      ".P\nrun, launch, study, advise and torture end with the status of what they start.\n");
}

}  // namespace

void add_manual(CLI::App& app) {
  auto* command = app.add_subcommand("manual", "Print the manual page");
  command->callback([&app] { print_manual(app); });
}

}  // namespace iocomp::command
