// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/path.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "formats/open_together.h"
#include "trace/counters.h"
#include "trace/span.h"

namespace iocomp::writing {

/// One physical file in one process: the descriptors that it writes through, and the target of the
/// format, if this process has it.
class PhysicalFile {
 public:
  /// @param name  of the file in the program.
  /// @param counters  are told at the end how much was written in which way.
  PhysicalFile(Path path, std::string name, const disk::Options& options, formats::Opening opening,
               trace::Counters& counters);
  PhysicalFile(const PhysicalFile&) = delete;
  PhysicalFile& operator=(const PhysicalFile&) = delete;
  ~PhysicalFile();

  /// The descriptors, opened at the first call and held until the end, so that no error of a
  /// write-back is missed.
  /// @throws Error{storage_failure} "cannot open PATH: No such file or directory".
  const std::shared_ptr<disk::OutputFile>& open();
  /// The same; null before they were opened.
  [[nodiscard]] const std::shared_ptr<disk::OutputFile>& opened() const noexcept { return output_; }
  /// Give the descriptors away, to another object that goes on with them; null before they were
  /// opened. @pre nothing is under way.
  [[nodiscard]] std::shared_ptr<disk::OutputFile> hand_over() noexcept {
    return std::exchange(output_, nullptr);
  }
  void go_on_with(std::shared_ptr<disk::OutputFile> handed_over) noexcept {
    output_ = std::move(handed_over);
  }

  [[nodiscard]] const Path& path() const noexcept { return path_; }
  /// Records on the timeline what is done with the file.
  [[nodiscard]] const trace::Recorder& recorder() const noexcept { return recorder_; }
  [[nodiscard]] trace::Counters& counters() const noexcept { return counters_; }
  /// The format has created the file.
  void created(formats::Target target) { target_ = std::move(target); }
  /// The target, if it is of that kind; null before that, and after it was taken to be finished.
  /// The target of a plain file is with the lead.
  [[nodiscard]] formats::SharedTarget* shared() const noexcept {
    return as<formats::SharedTarget>();
  }
  [[nodiscard]] formats::StepTarget* steps() const noexcept { return as<formats::StepTarget>(); }
  [[nodiscard]] bool has_target() const noexcept {
    return shared() != nullptr || steps() != nullptr;
  }
  [[nodiscard]] formats::Target take_target() noexcept { return std::exchange(target_, {}); }

 private:
  template <typename Kind>
  [[nodiscard]] Kind* as() const noexcept {
    const auto* const found = std::get_if<std::unique_ptr<Kind>>(&target_);
    return found == nullptr ? nullptr : found->get();
  }

  Path path_;
  disk::Options options_;
  formats::Opening opening_;
  trace::Counters& counters_;
  trace::Recorder recorder_;
  std::shared_ptr<disk::OutputFile> output_;
  formats::Target target_;
};

}  // namespace iocomp::writing
