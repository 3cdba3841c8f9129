// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/huge_memory.h"
#include "common/one_of.h"
#include "common/program.h"
#include "common/ranks.h"
#include "common/result.h"
#include "rivals/rival.h"
#include "stream/benchmark.h"
#include "stream/report.h"

namespace iocomp::bench {
namespace {

namespace stream = apps::stream;

/// The output of STREAM, written by a rival.
class RivalOutput : public stream::Output {
 public:
  RivalOutput(Rival rival, const RivalTarget& target) {
    open_timer().time([&] { file_ = open_rival(rival, target); });
  }
  void begin_computing() override { file_->begin_computing(); }
  void end_computing() override { file_->end_computing(); }

 private:
  void start_put(stream::Kernel kernel, std::span<const double> values) override {
    file_->put(kernel, kernel, values);
  }
  void finish_put(stream::Kernel kernel) override { file_->wait(kernel); }
  void finish_step() override { file_->end_step(); }
  void make_durable() override { file_->close(); }

  std::unique_ptr<RivalFile> file_;
};

int run(const stream::Options& options, Rival rival) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const auto count = static_cast<std::int64_t>(options.elements());
  stream::Arrays arrays{options.pattern,
                        nullptr,
                        options.elements(),
                        count * apps::rank_in(comm),
                        count * apps::size_of(comm),
                        options.in_turn ? 2 : 1};
  const RivalTarget target{
      .path = options.file.empty() ? "stream_rival.out" : options.file,
      .comm = comm,
      .variables = {std::begin(stream::variable_names), std::end(stream::variable_names)},
      .elements = options.elements(),
      .slots = stream::kernel_count};
  apps::warm_free_memory(options.warm_bytes);
  const stream::Measurement measurement = stream::measure(
      options, comm, arrays, [&] { return std::make_unique<RivalOutput>(rival, target); });
  const std::string mistake = arrays.mistake();
  if (!mistake.empty()) throw std::runtime_error("the arrays are wrong: " + mistake);
  nlohmann::json result = stream::report(options, comm, measurement);
  result["program"] = "stream_rivals";
  if (apps::rank_in(comm) == 0) {
    if (options.json != "-") stream::print(result);
    apps::write_result(options.json, result);
  }
  return 0;
}

}  // namespace
}  // namespace iocomp::bench

int main(int argc, char** argv) {
  using iocomp::bench::Rival;
  iocomp::apps::stream::Options options;
  Rival rival = Rival::iwrite;
  CLI::App app{"The loop of stream, with the output of others", "stream_rivals"};
  iocomp::apps::stream::declare(app, options);
  const auto& names = iocomp::bench::rival_names();
  app.add_option("--rival", rival, "iwrite, bp5-naive or bp5-guided")
      ->transform(iocomp::apps::OneOf(std::map<std::string, Rival>{names.begin(), names.end()}))
      ->required();
  return iocomp::apps::run_program(argc, argv, app,
                                   [&] { return iocomp::bench::run(options, rival); });
}
