#include "client/output_files.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "writing/file_writer.h"

namespace iocomp::client {

std::unique_ptr<writing::FileWriter> OutputFiles::make_writer(
    std::string path, disk::OutputFile::Opening opening) const {
  using enum writing::FileWriter::Way;
  const formats::Format& format = *setup_.format;
  const bool is_plain = format.access(setup_.options) == formats::Access::plain_file;
  return std::make_unique<writing::FileWriter>(
      writing::FileWriter::Setup{.path = std::move(path),
                                 .opening = opening,
                                 .disk = setup_.disk,
                                 .way = is_plain                      ? offsets
                                        : format.writes_whole_steps() ? steps
                                                                      : library,
                                 .swaps_bytes = formats::swaps_bytes(format, setup_.options),
                                 .submit = setup_.submit,
                                 .counters = &counters_});
}

writing::FileWriter& OutputFiles::writer(std::int64_t target) {
  auto& writer = writers_[target];
  if (!writer) {
    writer = make_writer(publication_.names(target).temporary, disk::OutputFile::Opening::creates);
  }
  return *writer;
}

void OutputFiles::go_on_in(const std::string& path) {
  writers_[-1] = make_writer(path, disk::OutputFile::Opening::finds);
  (void)at(-1).open();
}

std::int64_t OutputFiles::offset(int variable, std::int64_t step) const {
  return setup_.format->offsets_by_layout() ? catalogue_.layout().offset(variable, step)
                                            : offsets_.at({step, variable});
}

bool OutputFiles::knows_offset(int variable, std::int64_t step) const {
  return setup_.format->offsets_by_layout() || offsets_.contains({step, variable});
}

void OutputFiles::note_contents(int variable, std::int64_t step) {
  contents_.add(step, variable, offset(variable, step));
}

void OutputFiles::seal(std::int64_t target, std::int64_t step,
                       const commit::Publication::Job& job) {
  if (!setup_.format->writes_whole_steps()) {
    disk::OutputFile& output = *at(target).open();
    output.grow(publication_.bytes(step, contents_, catalogue_));
    output.sync();
  }
  job();
}

}  // namespace iocomp::client
