#include "client/output_files.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/lustre_layout.h"
#include "trace/counters.h"

namespace iocomp::client {

const std::shared_ptr<disk::OutputFile>& OutputFiles::file(std::int64_t target) {
  auto& output = outputs_[target];
  if (!output.file) {
    formats::lay_out(publication_.names(target).temporary);
    output.file = std::make_shared<disk::OutputFile>(publication_.names(target).temporary, disk_);
  }
  return output.file;
}

void OutputFiles::go_on_in(const std::string& path) {
  outputs_[-1].file =
      std::make_shared<disk::OutputFile>(path, disk_, disk::OutputFile::Opening::finds);
}

void OutputFiles::count(const Output& output) const {
  if (output.file) {
    const auto direct = static_cast<double>(output.file->direct_bytes());
    const auto buffered = static_cast<double>(output.file->buffered_bytes());
    counters_.add(trace::Counter::direct_bytes, direct);
    counters_.add(trace::Counter::buffered_bytes, buffered);
  }
}

OutputFiles::~OutputFiles() {
  std::ranges::for_each(outputs_, [this](const auto& output) { count(output.second); });
}

void OutputFiles::forget(std::int64_t target) {
  if (const auto output = outputs_.find(target); output != outputs_.end()) {
    count(output->second);
    outputs_.erase(output);
  }
}

bool OutputFiles::is_open(std::int64_t target) const {
  const auto output = outputs_.find(target);
  return output != outputs_.end() && output->second.file;
}

std::int64_t OutputFiles::offset(int variable, std::int64_t step) const {
  return format_.offsets_by_layout() ? catalogue_.layout().offset(variable, step)
                                     : offsets_.at({step, variable});
}

bool OutputFiles::knows_offset(int variable, std::int64_t step) const {
  return format_.offsets_by_layout() || offsets_.contains({step, variable});
}

void OutputFiles::note_contents(int variable, std::int64_t step) {
  contents_.add(step, variable, offset(variable, step));
}

void OutputFiles::seal(std::int64_t target, std::int64_t step,
                       const commit::Publication::Job& job) {
  if (!format_.writes_whole_steps()) {
    disk::OutputFile& output = *file(target);
    output.grow(publication_.bytes(step, contents_, catalogue_));
    output.sync();
  }
  job();
}

}  // namespace iocomp::client
