// SPDX-License-Identifier: BSD-3-Clause
#include "formats/frames/format.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "compress/zstd.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/frames/target.h"

namespace iocomp::formats::frames {
namespace {

class Frames : public Format {
 public:
  Frames()
      : Format{{.rules = {.format = "frames"},
                .extension = ".bin",
                .kind = Kind::step,
                .readable_while_open = false,
                .allows_threads = true}} {}
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    if (!options.one_step) {
      throw Error{ErrorCode::unsupported,
                  "files in frames hold one step: they are for checkpoints, and for series with "
                  "kind = \"file_per_step\""};
    }
    return std::make_unique<FrameTarget>(path, options, writers.raw);
  }
};

}  // namespace

const Format& format(const FormatOptions& options) {
  static const Frames frames;
  if (options.compresses() && !compress::has_zstd()) {
    throw Error{ErrorCode::invalid_setting,
                "compression = \"zstd\" of back-end posix: this iocomp was built without libzstd"};
  }
  return frames;
}

}  // namespace iocomp::formats::frames
