// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/client.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "blocks/report.h"
#include "common/ranks.h"
#include "common/result.h"

namespace iocomp::apps::blocks {

int run(const Options& options, const std::string& program, const MakeCase& make_case) {
  const std::vector<Way> ways = ways_of(options, program);
  std::optional<Session> session;
  if (options.uses_iocomp()) {
    session.emplace(settings_of(options, ways, size_of(MPI_COMM_WORLD)));
    if (session->is_server()) return session->finalize(), 0;  // server.end = 'return'
  }
  const MPI_Comm comm = session ? session->comm() : MPI_COMM_WORLD;
  nlohmann::json about{{"program", program}};
  const Case what = make_case(rank_in(comm), size_of(comm), about);
  const std::vector<Series> all = measure(options, ways, session ? &*session : nullptr, comm, what);

  double read_bytes = static_cast<double>(what.read_box.elements() * options.steps) *
                      static_cast<double>(sizeof(double));
  MPI_Allreduce(MPI_IN_PLACE, &read_bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  nlohmann::json result = report(options, all, what.block.shape, size_of(comm), read_bytes);
  result.update(about);
  const bool tells = rank_in(comm) == 0;  // the first of all ranks may serve
  const std::string trace = session ? session->setting("trace.json") : "";
  if (session) {
    result["settings"] = session->settings();
    session->finalize();
  }
  if (tells) {
    if (std::ifstream counters{trace}; !trace.empty() && counters) {
      result["trace"] = nlohmann::json::parse(counters);
    }
    if (options.json != "-") print(result);
    write_result(options.json, result);
  }
  return 0;
}

}  // namespace iocomp::apps::blocks
