// SPDX-License-Identifier: BSD-3-Clause
#include "formats/open_together.h"

#include <fcntl.h>
#include <mpi.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/lustre_layout.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"

namespace iocomp::formats {
namespace {

// A library opens the file once more, and perhaps modules of its own.
constexpr std::size_t descriptors_of_a_library = 8;

// Copies of a descriptor ask nothing of the file system.
void check_that_more_can_be_opened(const Descriptor& file, const Path& path) {
  std::vector<Descriptor> more;
  while (more.size() < descriptors_of_a_library) {
    more.emplace_back(::fcntl(file.raw(), F_DUPFD_CLOEXEC, 0));
    if (!more.back().is_open()) {
      throw failure("open", path.text() + " once more", errno);
    }
  }
}

}  // namespace

void agree_on(Outcome mine, MPI_Comm writers, const mpi::WaitPolicy& wait) {
  if (!mine.ok()) {
    int rank = 0;
    mpi::check(MPI_Comm_rank(writers, &rank));
    mine.story += " (on writer " + std::to_string(rank) + ')';
  }
  mpi::agree(writers, mine, wait, "the other writers of a file").throw_unless_ok();
}

Descriptor open_physical(const Path& path, Opening opening, int access) {
  return opening == Opening::shares          ? make_or_share_file(path, access)
         : opening == Opening::finds_earlier ? path.folder().open(path.name(), access)
                                             : path.folder().open_own(path.name(), access);
}

void make_folder(const Path& path) {
  path.folder().remove(path.name());
  if (const int error = path.folder().make_folder(path.name()); error != 0) {
    throw failure("create", path.text(), error);
  }
}

Descriptor open_together(const Path& path, MPI_Comm writers, const mpi::WaitPolicy& wait,
                         bool is_there) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(writers, &rank));
  Descriptor file;
  const auto mine = [&](bool opens, const auto& open) {
    return outcome_of([&] {
      if (opens) {
        file = open();
      }
    });
  };
  agree_on(mine(rank == 0,
                [&] {
                  return is_there ? open_physical(path, Opening::finds_earlier, O_RDWR)
                                  : make_file(path, O_RDWR);
                }),
           writers, wait);
  const Opening opening = is_there ? Opening::finds_earlier : Opening::finds;
  Outcome opened = mine(rank != 0, [&] { return open_physical(path, opening, O_RDWR); });
  if (opened.ok()) {
    opened = outcome_of([&] { check_that_more_can_be_opened(file, path); });
  }
  agree_on(opened, writers, wait);
  return file;
}

}  // namespace iocomp::formats
