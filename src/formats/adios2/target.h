// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "base/descriptor.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/writers.h"
#include "formats/format.h"

namespace iocomp::formats::bp {

/// A dataset of ADIOS2. What is written of a step is remembered, not copied, and given to ADIOS2
/// when the step is whole: so a step that fails never reaches it. Steps that were given up are
/// written empty, so that a step has the same number there and here. A dataset that goes on is cut
/// behind the steps that are kept, and ADIOS2 appends to it.
class DatasetTarget : public StepTarget {
 public:
  /// Collective over `writers`.
  DatasetTarget(const Path& path, const FormatOptions& options, Kind kind, MPI_Comm writers);
  /// Leaks what ADIOS2 has open if `finish` was not called: closing it is collective.
  ~DatasetTarget() override;

  void write(const Placed& where, const Selection& selection,
             std::span<const std::byte> bytes) override;
  Compressed write_step(std::int64_t step, const Description& description) override;
  void forget_step() noexcept override { parts_.clear(); }
  void finish(const Description& description) override;

 private:
  struct Part {
    Variable variable;
    array::Box box;
    const std::byte* bytes = nullptr;
  };
  struct Scalar {
    std::array<std::byte, 16> value{};
  };
  [[nodiscard]] bool is_folder() const noexcept { return kind_ != Kind::hdf5; }
  void make_place(const Path& path);
  void hold_folder(const Path& path, OpenFolder::Links links);
  void find_place(const Path& path, std::int64_t kept_steps);
  void open(const FormatOptions& options);
  void check_room(const Description& description) const;
  void together(const std::string& action, const std::function<void()>& call);
  void write_empty_step();
  void mark_empty_step();
  void write_parts(const Description& description);
  void bring_scalars_to_the_first(const Description& description);
  [[nodiscard]] bool is_called_otherwise(const Description& description) const;
  void put_what_is_empty(const Description& description);
  void define_attributes(const Description& description);
  [[nodiscard]] bool has_news(const Description& description) const;
  void make_durable_elsewhere() const;
  [[nodiscard]] std::string name_for_adios2() const;

  std::string path_;
  FormatOptions options_;
  Kind kind_;
  Writers writers_;
  std::shared_ptr<const OpenFolder> folder_;  // the dataset, or the folder of its one file
  Descriptor file_;                           // that one, or the index of the dataset
  std::unique_ptr<adios2::ADIOS> adios_;
  adios2::IO io_;
  adios2::Engine engine_;
  std::vector<Part> parts_;
  std::vector<Scalar> scalars_;  // parts of the first writer are of these
  std::int64_t steps_ = 0;       // written, empty ones included
  std::map<std::pair<std::string, std::string>, Attribute> attributes_;  // variable, name
  Inventory earlier_;   // attributes of earlier jobs
  std::string broken_;  // why ADIOS2 can do nothing more
};

}  // namespace iocomp::formats::bp
