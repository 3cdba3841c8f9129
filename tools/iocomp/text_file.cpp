// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/text_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/error.h"

namespace iocomp::command {

void write_text_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file{path};
  file << text;
  file.close();
  if (!file) {
    throw Error{ErrorCode::storage_failure,
                "cannot write " + path + ": " + std::strerror(errno == 0 ? EIO : errno)};
  }
}

}  // namespace iocomp::command
