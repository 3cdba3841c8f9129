// SPDX-License-Identifier: BSD-3-Clause
#include <adios2.h>

#include "blocks/baselines/baseline.h"
#include "blocks/paths.h"

namespace iocomp::apps::blocks {
namespace {

adios2::Dims dims(const Extents& extents) { return {extents.begin(), extents.end()}; }

/// BP5, every rank into its own subfile: on one node this spares ADIOS2 a copy through shared
/// memory. No statistics of the values, since nobody else makes any.
class Bp5File : public BlockFile {
 public:
  Bp5File(const Target& target, bool async) : target_{target}, adios_{target.comm} {
    adios2::IO io = adios_.DeclareIO("write");
    io.SetEngine("BP5");
    io.SetParameters({{"AsyncWrite", async ? "Naive" : "Off"},
                      {"AggregationType", "EveryoneWrites"},
                      {"StatsLevel", "0"}});
    const Box& own = target.block.own;
    variable_ = io.DefineVariable<double>(variable_name, dims(target.block.shape), dims(own.start),
                                          dims(own.count), true);
    engine_ = io.Open(target.path, adios2::Mode::Write);
  }

  void put(std::size_t /*slot*/, std::span<const double> values) override {
    engine_.BeginStep();
    if (!values.empty()) engine_.Put(variable_, values.data(), adios2::Mode::Deferred);
    engine_.EndStep();  // from here on BP5 holds copies
  }

  void finish() override {
    engine_.Close();
    if (target_.durable) make_durable(target_.comm, target_.path);
  }

 private:
  Target target_;
  adios2::ADIOS adios_;
  adios2::Engine engine_;
  adios2::Variable<double> variable_;
};

class Bp5Reader : public BlockReader {
 public:
  explicit Bp5Reader(const Target& target) : adios_{target.comm}, io_{adios_.DeclareIO("read")} {
    engine_ = io_.Open(target.path, adios2::Mode::ReadRandomAccess);
  }

  void read(int step, const Box& box, std::span<double> values) override {
    adios2::Variable<double> variable = io_.InquireVariable<double>(variable_name);
    if (!variable) throw std::runtime_error("ADIOS2 finds no variable in the file");
    if (box.elements() == 0) return;
    variable.SetStepSelection({static_cast<std::size_t>(step), 1});
    variable.SetSelection({dims(box.start), dims(box.count)});
    engine_.Get(variable, values.data(), adios2::Mode::Sync);
  }
  void close() override { engine_.Close(); }

 private:
  adios2::ADIOS adios_;
  adios2::IO io_;
  adios2::Engine engine_;
};

}  // namespace

std::unique_ptr<BlockFile> create_adios2(const Target& target) {
  return std::make_unique<Bp5File>(target, false);
}
std::unique_ptr<BlockFile> create_adios2_async(const Target& target) {
  return std::make_unique<Bp5File>(target, true);
}
std::unique_ptr<BlockReader> open_adios2(const Target& target) {
  return std::make_unique<Bp5Reader>(target);
}

}  // namespace iocomp::apps::blocks
