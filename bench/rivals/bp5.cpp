// SPDX-License-Identifier: BSD-3-Clause
#include <adios2.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/ranks.h"
#include "rivals/rival.h"

namespace iocomp::bench {
namespace {

namespace fs = std::filesystem;

void sync_file(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool good = file >= 0 && fsync(file) == 0;
  const int cause = errno;
  if (file >= 0) close(file);
  if (!good) throw std::system_error(cause, std::generic_category(), "fsync of " + path.string());
}

class Bp5File : public RivalFile {
 public:
  Bp5File(const RivalTarget& target, bool guided)
      : path_{target.path}, comm_{target.comm}, guided_{guided}, adios_{target.comm} {
    adios2::IO io = adios_.DeclareIO("bench");
    io.SetEngine("BP5");
    // Every rank writes its own file: on one node this spares the rival a copy through shared
    // memory. Statistics of the values are off, since nobody else makes any.
    io.SetParameters({{"AsyncWrite", guided ? "Guided" : "Naive"},
                      {"AggregationType", "EveryoneWrites"},
                      {"StatsLevel", "0"}});
    const std::size_t ranks = static_cast<std::size_t>(apps::size_of(target.comm));
    const std::size_t rank = static_cast<std::size_t>(apps::rank_in(target.comm));
    for (const std::string& name : target.variables) {
      variables_.push_back(io.DefineVariable<double>(
          name, {target.elements * ranks}, {target.elements * rank}, {target.elements}, true));
    }
    engine_ = io.Open(target.path, adios2::Mode::Write);
  }

  void put(std::size_t variable, std::size_t /*slot*/, std::span<const double> values) override {
    begin_step();
    engine_.Put(variables_.at(variable), values.data(), adios2::Mode::Deferred);
    has_deferred_ = true;
  }

  void wait(std::size_t /*slot*/) override {
    // After EndStep BP5 holds copies; before it only this makes it copy.
    if (has_deferred_) engine_.PerformPuts();
    has_deferred_ = false;
  }

  void end_step() override {
    begin_step();
    engine_.EndStep();
    is_in_step_ = has_deferred_ = false;
  }

  void close() override {
    engine_.Close();
    MPI_Barrier(comm_);
    if (apps::rank_in(comm_) == 0) {
      for (const auto& entry : fs::directory_iterator{path_}) sync_file(entry.path());
      sync_file(path_);
    }
    MPI_Barrier(comm_);
  }

  void begin_computing() override {
    if (guided_) adios_.EnterComputationBlock();
  }
  void end_computing() override {
    if (guided_) adios_.ExitComputationBlock();
  }

 private:
  void begin_step() {
    if (!is_in_step_) engine_.BeginStep();
    is_in_step_ = true;
  }

  fs::path path_;
  MPI_Comm comm_;
  bool guided_;
  adios2::ADIOS adios_;
  adios2::Engine engine_;
  std::vector<adios2::Variable<double>> variables_;
  bool is_in_step_ = false;
  bool has_deferred_ = false;
};

}  // namespace

std::unique_ptr<RivalFile> open_bp5(const RivalTarget& target, bool guided) {
  return std::make_unique<Bp5File>(target, guided);
}

}  // namespace iocomp::bench
