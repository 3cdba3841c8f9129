// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/step_lines.h"
#include "contents/description.h"

namespace iocomp::commit {

/// The manifest of a file of all steps, once it lies beside that file. It knows what the manifest
/// tells, and extends it. If there are new steps and no other change, the manifest gets a line at
/// its end, which costs one fsync. Otherwise, and after many lines, it is written anew.
class SeriesManifest {
 public:
  /// The change by a line: the last entry goes on, or new entries follow.
  struct Growth {
    std::optional<std::string> more{};  ///< see manifest_line
    StepLines last{};                   ///< ends with what is then the last entry
  };
  /// The contents that it shall have.
  struct Text {
    ManifestHead head{};
    ToldSteps steps{};
    contents::Description description{};  ///< attributes
    bool is_last = false;                 ///< nothing comes after it; then it has no added lines
    Growth growth{};                      ///< see `growth`
  };
  /// The next version, on its way to the disk.
  struct Next {
    std::shared_ptr<const Text> text;
    std::string line{};                  // the line that is added, or ...
    std::unique_ptr<NewFile> instead{};  // ... the manifest that replaces it
  };

  /// The contents of a line. @param all  steps that the manifest shall tell. @param from  gives the
  /// steps from one on.
  [[nodiscard]] Growth growth(const StepLines& all,
                              const std::function<contents::Description(std::int64_t)>& from) const;
  /// Begin to make the manifest tell this; null if it does already.
  /// @throws Error{storage_failure}, as `put` does.
  [[nodiscard]] std::shared_ptr<Next> next(const TargetNames& names,
                                           std::shared_ptr<const Text> text) const;
  /// Make the change durable. If that fails, the manifest is as before.
  void put(const TargetNames& names, Next& next);
  /// Note that the manifest was written as a whole.
  void note(const TargetNames& names, std::shared_ptr<const Text> text);

 private:
  [[nodiscard]] bool can_grow(const Text& text) const;

  std::shared_ptr<const Text> says_{};  // null if unknown
  StepLines last_{};                    // ends with its last entry
  std::string identity_{};              // of the manifest itself
  std::int64_t bytes_ = 0;
  std::int64_t line_bytes_ = 0;  // bytes of added lines
};

}  // namespace iocomp::commit
