// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/iocomp_reader.h"

#include <stdexcept>

namespace iocomp::apps::blocks {

std::unique_ptr<BlockReader> IocompReader::open(const Session& session, const std::string& name,
                                                const Target& target) {
  iocomp_input* input = nullptr;
  const iocomp_open_options options{.size = sizeof options, .comm = &target.comm};
  const int code = iocomp_open_input(session.handle(), name.c_str(), &options, &input);
  if (code == IOCOMP_UNSUPPORTED) return nullptr;
  check(code, "iocomp_open_input");
  std::unique_ptr<IocompReader> reader{new IocompReader{input}};
  std::int64_t steps = 0;
  check(iocomp_input_steps(input, &steps, nullptr), "iocomp_input_steps");
  if (steps != target.steps) {
    throw std::runtime_error(target.path + " has " + std::to_string(steps) + " steps instead of " +
                             std::to_string(target.steps));
  }
  int ndims = 0;
  const std::int64_t* extents = nullptr;
  check(iocomp_input_variable(input, variable_name, 0, nullptr, &ndims, &extents),
        "iocomp_input_variable");
  const Extents shape(extents, extents + ndims);
  if (shape != target.block.shape) {
    throw std::runtime_error(target.path + ": the array is " + text(shape) + " instead of " +
                             text(target.block.shape));
  }
  return reader;
}

void IocompReader::read(int step, const Box& box, std::span<double> values) {
  check(iocomp_read(input_, variable_name, step, box.start.data(), box.count.data(), values.data()),
        "iocomp_read");
}

void IocompReader::close() { check(iocomp_close_input(input_), "iocomp_close_input"); }

}  // namespace iocomp::apps::blocks
