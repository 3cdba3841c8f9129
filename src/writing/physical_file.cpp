// SPDX-License-Identifier: BSD-3-Clause
#include "writing/physical_file.h"

#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/path.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/open_together.h"
#include "trace/counters.h"

namespace iocomp::writing {

PhysicalFile::PhysicalFile(Path path, std::string name, const disk::Options& options,
                           formats::Opening opening, trace::Counters& counters)
    : path_{std::move(path)},
      options_{options},
      opening_{opening},
      counters_{counters},
      recorder_{counters.timeline(), std::move(name)} {}

PhysicalFile::~PhysicalFile() {
  if (output_) {
    counters_.add(trace::Counter::direct_bytes, static_cast<double>(output_->direct_bytes()));
    counters_.add(trace::Counter::buffered_bytes, static_cast<double>(output_->buffered_bytes()));
  }
}

const std::shared_ptr<disk::OutputFile>& PhysicalFile::open() {
  if (!output_) {
    output_ = std::make_shared<disk::OutputFile>(formats::open_physical(path_, opening_, O_RDWR),
                                                 path_.text(), options_);
  }
  return output_;
}

}  // namespace iocomp::writing
