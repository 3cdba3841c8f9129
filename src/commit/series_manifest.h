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

/// The manifest of a file of all steps, once it lies beside that file: what it says by now, and how
/// it comes to say more. Where steps are new and nothing else, it gets a line at its end, which
/// costs one fsync. Else it is written anew, and so it is when many lines have come together.
class SeriesManifest {
 public:
  /// How it comes to say it by a line: the last entry goes on, or new ones follow.
  struct Growth {
    std::optional<std::string> more{};  ///< see manifest_line
    StepLines last{};                   ///< ends with the last entry that it then has
  };
  /// What it is to say.
  struct Text {
    ManifestHead head{};
    ToldSteps steps{};
    contents::Description description{};  ///< attributes
    bool is_last = false;                 ///< nothing comes after it: then it has no lines
    Growth growth{};                      ///< see `growth`
  };
  /// The next one, on its way to the disk.
  struct Next {
    std::shared_ptr<const Text> text;
    std::string line{};                  // what it grows by, or ...
    std::unique_ptr<NewFile> instead{};  // ... what comes in its place
  };

  /// What a line would say. @param all  steps that it is to tell of, @param from  gives those from
  /// a step on.
  [[nodiscard]] Growth growth(const StepLines& all,
                              const std::function<contents::Description(std::int64_t)>& from) const;
  /// Begin with what makes it say that; null where it does.
  /// @throws Error{storage_failure}; so below.
  [[nodiscard]] std::shared_ptr<Next> next(const TargetNames& names,
                                           std::shared_ptr<const Text> text) const;
  /// Make it durable. Where that fails, the manifest is as before.
  void put(const TargetNames& names, Next& next);
  /// It was written, as a whole.
  void note(const TargetNames& names, std::shared_ptr<const Text> text);

 private:
  [[nodiscard]] bool can_grow(const Text& text) const;

  std::shared_ptr<const Text> says_{};  // null: nobody knows
  StepLines last_{};                    // ends with its last entry
  std::string identity_{};              // of the manifest itself
  std::int64_t bytes_ = 0;
  std::int64_t line_bytes_ = 0;  // of these
};

}  // namespace iocomp::commit
