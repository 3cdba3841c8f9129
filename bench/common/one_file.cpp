// SPDX-License-Identifier: BSD-3-Clause
#include "common/one_file.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"

namespace iocomp::bench {
namespace {

void add_options(CLI::App& app, OneFile& file) {
  app.add_option("--mode", file.mode, "sync or async");
  app.add_option("--backend", file.backend, "of the file");
  app.add_option("--file", file.path, "where to write");
  app.add_option("--json", file.json, "write the result there; - means stdout");
}

void measure_in_session(const OneFile& file,
                        const std::function<nlohmann::json(const apps::Session&)>& measure) {
  const std::string of_file = "files." + file.name;
  apps::Session session{"server.end = 'return'\nmode = '" + file.mode + "'\n" + of_file +
                        ".existing = 'replace'\n" + of_file + ".backend = '" + file.backend +
                        "'\n" + of_file + ".path = '" + file.path + "'\n"};
  nlohmann::json result;
  bool is_first = false;
  if (!session.is_server()) {
    result = measure(session);
    is_first = apps::rank_in(session.comm()) == 0;
  }
  const std::string trace = session.setting("trace.json");
  session.finalize();
  if (is_first) {
    if (std::ifstream counters{trace}; !trace.empty() && counters) {
      result["trace"] = nlohmann::json::parse(counters);
    }
    apps::write_result(file.json.empty() ? "-" : file.json, result);
  }
}

}  // namespace

int run_with(int argc, char** argv, CLI::App& app, OneFile& file,
             const std::function<nlohmann::json(const apps::Session&)>& measure) {
  add_options(app, file);
  return apps::run_program(argc, argv, app, [&] {
    measure_in_session(file, measure);
    return 0;
  });
}

}  // namespace iocomp::bench
