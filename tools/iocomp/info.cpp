// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>
#include <hwloc.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/pages.h"
#include "config/settings.h"
#include "contents/rules_page.h"
#include "formats/registry.h"
#include "formats/rules.h"
#include "iocomp/place.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "iocomp/table.h"

namespace iocomp::command {
namespace {

/// The facts that `iocomp info` prints, as text or as JSON.
struct Installation {
  std::string mpi_library;  ///< as the library names itself
  std::string mpi_standard;
  std::string hwloc;
  std::string disk_engine;          ///< that files would be written by here, with the reason
  bool huge_shared_memory = false;  ///< whether iocomp_alloc shares its memory with servers
  std::vector<formats::FormatStatus> formats;
};

/// These two MPI calls are allowed before MPI_Init, so the command needs no launcher.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) {
    throw Error{ErrorCode::mpi_failure, "MPI does not tell its version"};
  }
  const std::string whole{text.data()};  // Open MPI counts the final zero in the length
  return whole.substr(0, whole.find_last_not_of(" \n\t") + 1);
}

std::string mpi_standard() {
  int version = 0;
  int part = 0;
  if (MPI_Get_version(&version, &part) != MPI_SUCCESS) {
    throw Error{ErrorCode::mpi_failure, "MPI does not tell its standard"};
  }
  return fmt::format("{}.{}", version, part);
}

/// hwloc tells the release it was built with, of the library that is loaded only the version of its
/// interface.
std::string hwloc_version() {
  const unsigned version = hwloc_get_api_version();
  return fmt::format("{} (interface {}.{}.{} loaded)", HWLOC_VERSION, version >> 16U,
                     (version >> 8U) & 0xFFU, version & 0xFFU);
}

Installation inspect() {
  const auto settings = settings_here();
  return {.mpi_library = mpi_library(),
          .mpi_standard = mpi_standard(),
          .hwloc = hwloc_version(),
          .disk_engine = engine_here(settings),
          .huge_shared_memory = shared_memory_has_huge_pages(),
          .formats = formats::available_formats(modules_here())};
}

/// The first line of what MPICH says about itself is enough for people.
std::string first_line(const std::string& text) {
  auto line = text.substr(0, text.find('\n'));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

void print_table(const Installation& found) {
  std::vector<std::vector<std::string>> rows{
      {"iocomp", IOCOMP_COMMAND_VERSION},
      {"MPI library", first_line(found.mpi_library)},
      {"MPI standard", found.mpi_standard},
      {"hwloc", found.hwloc},
      {"disk engine", found.disk_engine},
      {"shared memory", found.huge_shared_memory
                            ? "huge pages: servers write in place"
                            : "small pages: servers pull, not in place (root could write advise to "
                              "/sys/kernel/mm/transparent_hugepage/shmem_enabled)"},
  };
  for (const auto& format : found.formats) {
    rows.push_back({"back-end " + format.name, format.found
                                                   ? fmt::format("found    {}", format.version)
                                                   : fmt::format("missing  {}", format.reason)});
  }
  fmt::print("{}", aligned(rows));
}

void print_json(const Installation& found) {
  nlohmann::ordered_json out{
      {"version", IOCOMP_COMMAND_VERSION},  {"mpi_library", found.mpi_library},
      {"mpi_standard", found.mpi_standard}, {"hwloc", found.hwloc},
      {"disk_engine", found.disk_engine},   {"huge_shared_memory", found.huge_shared_memory},
  };
  out["back_ends"] = nlohmann::ordered_json::array();
  for (const auto& format : found.formats) {
    nlohmann::ordered_json entry{{"name", format.name}, {"found", format.found}};
    if (format.found) {
      entry["version"] = format.version;
    } else {
      entry["reason"] = format.reason;
    }
    out["back_ends"].push_back(entry);
  }
  fmt::print("{}\n", out.dump(2));
}

}  // namespace

void add_info(CLI::App& app) {
  struct Choice {
    bool json = false;
    bool rules = false;
    std::string path;
    int writers = 1;
  };
  auto choice = std::make_shared<Choice>();  // lives as long as the action
  auto* command =
      app.add_subcommand("info", "Print versions, and which back-ends are found or missing");
  auto* const json = command->add_flag("--json", choice->json, "Print it as JSON");
  command->add_flag("--rules", choice->rules, "Print what each format can hold instead, as a table")
      ->excludes(json);
  auto* const path = command->add_option(
      "--path", choice->path,
      "Print the file system of this directory instead, and what iocomp would choose there");
  command->add_option("--writers", choice->writers, "Ranks that write one file there together")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str()
      ->needs(path);
  command->callback([choice] {
    if (choice->rules) {
      fmt::print("{}", contents::rules_markdown(formats::rules::all));
      return;
    }
    if (!choice->path.empty()) {
      const auto place = place_at(choice->path, choice->writers);
      fmt::print("{}", choice->json ? json_of(place).dump(2) + '\n' : aligned(rows_of(place)));
      return;
    }
    const auto found = inspect();
    if (choice->json) {
      print_json(found);
    } else {
      print_table(found);
    }
  });
}

}  // namespace iocomp::command
