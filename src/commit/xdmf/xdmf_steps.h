// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commit/xdmf/xdmf.h"
#include "contents/catalogue.h"
#include "contents/description.h"
#include "formats/source.h"

namespace iocomp::commit {

/// What an XDMF file is told by a commit.
struct NewXdmfSteps {
  bool are_all = false;  ///< what it was told before is void
  std::vector<XdmfStep> steps;
};

/// Tells each committed step once, however many a commit has.
class XdmfSteps {
 public:
  /// The steps up to `last` that were not taken yet; where each has a file of its own, this one.
  [[nodiscard]] NewXdmfSteps take(const contents::Contents& contents,
                                  const contents::Catalogue& catalogue, std::int64_t last,
                                  bool one_file);

 private:
  std::int64_t taken_until_ = 0;
  std::int64_t removals_ = 0;  // of steps, when they were taken
  std::map<std::string, contents::Placed>
      lines_;  // variables of one dimension, where they were last
};

}  // namespace iocomp::commit
