// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "commit/commit.h"
#include "commit/growing_file.h"
#include "commit/xdmf/xdmf.h"
#include "formats/format.h"

namespace iocomp::commit {

/// The XDMF file beside the files of one name: `<path>.xdmf`, replaced as a whole after each
/// commit. It never names a step that is not committed, or whose file is gone; a kill leaves one
/// that is older, or none. Used by whoever publishes, in the order of the commits.
class XdmfFile {
 public:
  /// @param path  of a file of all steps.
  XdmfFile(std::string name, const Path& path, const formats::Format& format,
           formats::FormatOptions options);

  /// Before the first commit: what describes older files goes, and comes back if they stay. Where
  /// others have taken the file over (TargetNames::may_appear) nothing happens, as in `write`.
  void step_aside(const TargetNames& names);
  void come_back(const TargetNames& names) noexcept;

  /// After a commit: these steps too, which lie in `file`. Earlier ones of the same number are
  /// replaced.
  void add(const std::vector<XdmfStep>& steps, const Path& file);
  /// The steps of a committed file of which only the manifest is known. None if that is gone.
  void add_from_manifest(const Path& file);
  [[nodiscard]] bool knows(std::int64_t step) const { return steps_.contains(step); }
  void remove(std::int64_t step);
  void clear();

  /// Write it: what steps behind all others add to it, or the whole where others have changed. Data
  /// that are committed stay so whatever happens here: a failure is logged, and leaves no
  /// description rather than an old one.
  /// @param names  of a file of all steps.
  void write(const TargetNames& names) noexcept;

 private:
  void set(std::int64_t step, std::string grids);
  [[nodiscard]] std::string text_from(std::int64_t step) const;
  [[nodiscard]] double time_of(const XdmfStep& step, const Path& file) const;

  std::string name_;
  Path path_;
  const formats::Format* format_;
  formats::FormatOptions options_;
  std::map<std::int64_t, std::string> steps_;
  std::int64_t written_until_ = 0;  // steps before this one are in the file as they are here
  bool has_changed_ = true;         // one of them is not
  GrowingFile file_;
  std::optional<std::string> before_;
};

}  // namespace iocomp::commit
