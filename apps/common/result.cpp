// SPDX-License-Identifier: BSD-3-Clause
#include "common/result.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace iocomp::apps {

void write_result(const std::string& path, const nlohmann::json& result) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << result.dump(2) << '\n';
    return;
  }
  std::ofstream file{path};
  file << result.dump(2) << '\n';
  file.close();
  if (!file) {
    throw std::runtime_error("cannot write the result to \"" + path +
                             "\": " + std::strerror(errno));
  }
}

}  // namespace iocomp::apps
