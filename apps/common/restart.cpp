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

Indices Restart::shape(const std::string& name) const {
  int ndims = 0;
  const std::int64_t* extents = nullptr;
  check(iocomp_input_variable(input_, name.c_str(), number_, nullptr, &ndims, &extents),
        "iocomp_input_variable");
  return {extents, extents + ndims};
}

}  // namespace iocomp::apps
