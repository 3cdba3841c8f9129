// SPDX-License-Identifier: BSD-3-Clause
#include "formats/source.h"

#include <algorithm>
#include <cstddef>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/runs.h"
#include "base/error.h"

namespace iocomp::formats {

Whereabouts Source::whereabouts(const Placed& /*where*/) {
  throw Error{ErrorCode::unsupported,
              "its values lie neither in HDF5 datasets nor as plain elements in one file"};
}

Inventory Source::inventory() {
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
