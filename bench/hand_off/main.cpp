// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "common/program.h"
#include "common/put_array.h"
#include "common/ranks.h"
#include "common/result.h"
#include "common/samples.h"
#include "common/stopwatch.h"
#include "hand_off/baseline.h"
#include "hand_off/options.h"

namespace iocomp::bench {
namespace {

using apps::check;
using apps::now_seconds;

/// Seconds from the begin of a put ...
struct PutTimes {
  double returned = 0;     ///< ... to its return
  double handed_over = 0;  ///< ... to the moment in which the memory is free again
  double written = 0;
};

PutTimes time_put(iocomp_var* variable, std::int64_t count, const double* values, bool buffered) {
  const std::int64_t start = 0;
  iocomp_ticket ticket{};
  PutTimes times;
  const double begin = now_seconds();
  if (buffered) {
    const iocomp_block block{.size = sizeof block,
                             .start = &start,
                             .count = &count,
                             .values = values,
                             .flags = IOCOMP_BUFFERED};
    check(iocomp_put_block(variable, &block, &ticket), "iocomp_put_block");
  } else {
    check(iocomp_put(variable, &start, &count, values, &ticket), "iocomp_put");
  }
  times.returned = now_seconds() - begin;
  check(iocomp_wait(&ticket, IOCOMP_REUSABLE), "iocomp_wait");
  times.handed_over = now_seconds() - begin;
  check(iocomp_wait(&ticket, IOCOMP_WRITTEN), "iocomp_wait");
  times.written = now_seconds() - begin;
  return times;
}

std::string file_name(std::size_t size) { return "s" + std::to_string(size); }

/// One put after the other, each to servers that have nothing else to do.
nlohmann::json measure(const HandOffOptions& options, const apps::Session& session,
                       std::size_t size, const double* values) {
  const auto count = static_cast<std::int64_t>(size / sizeof(double));
  iocomp_file* file = nullptr;
  iocomp_var* variable = nullptr;
  check(iocomp_open(session.handle(), file_name(size).c_str(), IOCOMP_SERIES, nullptr, &file),
        "iocomp_open");
  check(iocomp_define(file, "u", IOCOMP_FLOAT64, 1, &count, &variable), "iocomp_define");
  std::vector<double> returned;
  std::vector<double> handed_over;
  std::vector<double> written;
  for (std::size_t i = 0; i <= options.repeats(size); ++i) {
    pause(options);
    const PutTimes times = time_put(variable, count, values, options.buffered);
    check(iocomp_end_step(file), "iocomp_end_step");
    if (i == 0) continue;  // buffers are made, and pages touched, by the first
    returned.push_back(times.returned);
    handed_over.push_back(times.handed_over);
    written.push_back(times.written);
  }
  check(iocomp_close(file), "iocomp_close");
  return {{"puts", returned.size()},
          {"put", distribution(returned)},
          {"handed_over", distribution(handed_over)},
          {"written", distribution(written)}};
}

int run(const HandOffOptions& options) {
  nlohmann::json sizes;
  if (options.baseline) sizes = measure_baseline(options);
  std::string settings;
  for (const std::string& line : options.settings) settings += line + "\n";
  for (const std::size_t size : options.sizes) {
    settings += "files." + file_name(size) + ".path = '" + options.file + "." +
                std::to_string(size) + "'\n";
  }
  apps::Session session{settings};
  if (apps::size_of(session.comm()) != 1) {
    throw std::runtime_error("hand_off needs one compute rank");
  }
  const apps::PutArray values{options.alloc ? &session : nullptr,
                              options.largest() / sizeof(double)};
  for (const std::size_t size : options.sizes) {
    sizes[std::to_string(size)].update(measure(options, session, size, values.data()));
  }
  session.finalize();
  apps::write_result(options.json.empty() ? "-" : options.json,
                     {{"program", "hand_off"}, {"sizes", sizes}});
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  iocomp::bench::HandOffOptions options;
  CLI::App app{"How long a put takes, and until the memory is free again", "hand_off"};
  iocomp::bench::declare(app, options);
  return iocomp::apps::run_program(argc, argv, app, [&] { return iocomp::bench::run(options); });
}
