// SPDX-License-Identifier: BSD-3-Clause
#include "common/restart.h"

namespace iocomp::apps {

std::unique_ptr<Restart> Restart::newest(const Session& session) {
  std::int64_t number = -1;
  iocomp_input* input = nullptr;
  check(iocomp_latest(session.handle(), checkpoint_name, nullptr, &number, nullptr, &input),
        "iocomp_latest");
  if (input == nullptr) return nullptr;
  return std::unique_ptr<Restart>{new Restart{input, number}};
}

Indices Restart::shape(const std::string& name, std::size_t dimensions) const {
  Indices found(dimensions);
  check(iocomp_input_shape(input_, name.c_str(), number_, found.data()), "iocomp_input_shape");
  return found;
}

}  // namespace iocomp::apps
