// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/runs.h"
#include "base/error.h"
#include "contents/description.h"
#include "contents/step_numbers.h"
#include "formats/words.h"

namespace iocomp::formats {

Whereabouts Source::whereabouts(const Placed& /*where*/) {
  throw Error{ErrorCode::unsupported,
              "its values lie neither in HDF5 datasets nor as plain elements in one file, as VTK "
              "reads them: take netcdf or hdf5"};
}

namespace {

bool tells_numbers(const Placed& placed) {
  const Variable wanted = contents::step_numbers_variable();
  const Variable& found = placed.variable;
  return found.name == wanted.name && found.type == wanted.type && found.shape == wanted.shape;
}

}  // namespace

// The numbers of the steps are none of the program's variables or attributes.
Inventory Source::inventory() {
  Inventory found = look_through();
  std::map<std::int64_t, std::int64_t> told;
  const auto in_attribute = contents::numbers_in(found.attributes);
  if (!in_attribute.empty()) {
    found.attributes.erase(contents::step_numbers_name);
  }
  for (std::size_t i = 0; i < found.steps.size() && !in_attribute.empty(); ++i) {
    told[found.steps[i]] = i < in_attribute.size() ? in_attribute[i] : contents::unknown_number;
  }
  for (const auto& placed : found.contents) {
    if (tells_numbers(placed)) {
      auto* const number = reinterpret_cast<std::byte*>(&told[placed.step]);
      read(placed, {}, {array::dense_memory(1), number, nullptr});
    }
  }
  if (std::erase_if(found.contents, tells_numbers) > 0) {
    found.of_variable.erase(contents::step_numbers_name);
  }
  contents::number_steps(found, told);
  return found;
}

Inventory Source::look_through() {
  throw Error{ErrorCode::unsupported,
              "the format does not tell what its files contain: without its manifest, <file>.json, "
              "a file cannot be read"};
}

DenseBlock::DenseBlock(const Destination& to, std::size_t element_bytes)
    : to_{&to}, element_bytes_{element_bytes} {
  const array::MemoryBox& memory = to.memory;
  const auto elements = array::elements(memory.box);
  if (array::is_contiguous(memory.shape, memory.box)) {
    array::RunCursor cursor{memory.shape, memory.box, 0, elements};
    array::Run run;
    first_ = to.local;
    if (cursor.next(run)) {
      first_ += static_cast<std::size_t>(run.index) * element_bytes;
    }
  } else {
    own_.resize(static_cast<std::size_t>(elements) * element_bytes);
    first_ = own_.data();
  }
}

void DenseBlock::scatter() noexcept {
  if (!own_.empty()) {
    array::unpack(to_->memory, element_bytes_, own_.data(), 0, array::elements(to_->memory.box),
                  to_->local);
  }
}

void DenseBlock::scatter_of(const std::byte* whole, const array::Shape& shape,
                            const array::Box& box) {
  std::byte* next = first_;
  array::RunCursor cursor{shape, box, 0, array::elements(box)};
  array::Run run;
  while (cursor.next(run)) {
    next = std::copy_n(whole + run.index, run.elements, next);
  }
  scatter();
}

}  // namespace iocomp::formats
