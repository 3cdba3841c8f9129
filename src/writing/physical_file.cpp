// SPDX-License-Identifier: BSD-3-Clause
#include "writing/physical_file.h"

#include <memory>
#include <string>
#include <utility>

#include "disk/options.h"
#include "disk/output_file.h"
#include "formats/lustre_layout.h"
#include "trace/counters.h"

namespace iocomp::writing {

PhysicalFile::PhysicalFile(std::string path, std::string name, const disk::Options& options,
                           disk::OutputFile::Opening opening, trace::Counters& counters)
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
    if (opening_ == disk::OutputFile::Opening::creates) {
      formats::lay_out(path_);
    }
    output_ = std::make_shared<disk::OutputFile>(path_, options_, opening_);
  }
  return output_;
}

}  // namespace iocomp::writing
