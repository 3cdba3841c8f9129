// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <adios2.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "array/box.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/source.h"

namespace iocomp::formats::bp {

/// Reads a dataset of BP step by step, by ADIOS2, without other ranks. Reading an earlier step than
/// the last one opens it again.
class StepSource : public Source {
 public:
  /// @throws Error{storage_failure}.
  StepSource(const Path& path, std::mutex& library);
  ~StepSource() override;

  /// Elements that nobody put are zeros.
  void read(const Placed& where, const array::Box& box, const Destination& to) override;

 private:
  [[nodiscard]] Inventory look_through() override;
  void open();
  void close() noexcept;
  /// Opens the next step. @return false if there is none.
  bool next_step();
  void go_to(std::int64_t step);

  struct Opened {
    adios2::ADIOS adios;
    adios2::IO io;
    adios2::Engine engine;
  };

  std::string path_;
  OpenFolder folder_;
  std::mutex& library_;
  std::unique_ptr<Opened> opened_;
  std::int64_t step_ = -1;  // that is open
};

}  // namespace iocomp::formats::bp
