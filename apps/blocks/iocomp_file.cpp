// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/iocomp_file.h"

namespace iocomp::apps::blocks {

int IocompFile::open(const Session& session, const std::string& name) {
  const iocomp_open_options options{.size = sizeof options, .comm = &target_.comm};
  return iocomp_open(session.handle(), name.c_str(), IOCOMP_SERIES, &options, &file_);
}

void IocompFile::define() {
  check(iocomp_define(file_, variable_name, IOCOMP_FLOAT64,
                      static_cast<int>(target_.block.shape.size()), target_.block.shape.data(),
                      &variable_),
        "iocomp_define");
}

IocompFile::IocompFile(const Session& session, const std::string& name, const Target& target)
    : IocompFile{target} {
  check(open(session, name), "iocomp_open");
  define();
}

std::unique_ptr<BlockFile> IocompFile::create_if_there(const Session& session,
                                                       const std::string& name,
                                                       const Target& target) {
  std::unique_ptr<IocompFile> file{new IocompFile{target}};
  const int code = file->open(session, name);
  if (code == IOCOMP_UNSUPPORTED) return nullptr;
  check(code, "iocomp_open");
  file->define();
  return file;
}

void IocompFile::put(std::size_t slot, std::span<const double> values) {
  const Box& own = target_.block.own;
  check(iocomp_put(variable_, own.start.data(), own.count.data(), values.data(), &tickets_[slot]),
        "iocomp_put");
  check(iocomp_end_step(file_), "iocomp_end_step");
  if (!target_.durable) all_tickets_.push_back(tickets_[slot]);
}

void IocompFile::wait(std::size_t slot) {
  check(iocomp_wait(&tickets_[slot], IOCOMP_REUSABLE), "iocomp_wait");
}

void IocompFile::finish() {
  if (target_.durable) return close();
  for (const iocomp_ticket& ticket : all_tickets_) {
    check(iocomp_wait(&ticket, IOCOMP_WRITTEN), "iocomp_wait");
  }
}

void IocompFile::close() {
  if (file_ == nullptr) return;
  iocomp_file* const open = file_;
  file_ = nullptr;
  check(iocomp_close(open), "iocomp_close");
}

}  // namespace iocomp::apps::blocks
