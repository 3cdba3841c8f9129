// SPDX-License-Identifier: BSD-3-Clause
#include "shared_file.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/byte_order.h"
#include "array/element_type.h"
#include "array/runs.h"
#include "base/error.h"
#include "base/path.h"
#include "shared_folder.h"

namespace iocomp::formats {
namespace {

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

// 16 bytes, of which an element takes as many as it has.
void append_element(const Placed& placed, std::int64_t index, std::size_t size,
                    std::vector<std::byte>& bytes) {
  const auto where = static_cast<std::uint64_t>(placed.step) << 40 ^
                     static_cast<std::uint64_t>(placed.variable.id) << 52 ^
                     static_cast<std::uint64_t>(index);
  const std::array<std::uint64_t, 2> pattern{mixed(where), mixed(~where)};
  const auto* first = std::as_bytes(std::span{pattern}).data();
  bytes.insert(bytes.end(), first, first + size);
}

std::vector<std::byte> elements_of(const Placed& placed, const Selection& selection) {
  const std::size_t size = array::size_bytes(placed.variable.type);
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(selection.count) * size);
  array::RunCursor cursor{placed.variable.shape, selection.box, selection.first, selection.count};
  array::Run run;
  while (cursor.next(run)) {
    for (std::int64_t index = run.index; index < run.index + run.elements; ++index) {
      append_element(placed, index, size, bytes);
    }
  }
  return bytes;
}

void define(contents::Catalogue& catalogue, const Variable& variable) {
  contents::Event event;
  event.what = contents::Event::What::define;
  event.name = variable.name;
  event.type = variable.type;
  event.shape = variable.shape;
  catalogue.apply(event);
  if (variable.dimensions) {
    const auto text = std::as_bytes(std::span{*variable.dimensions});
    event.what = contents::Event::What::attribute;
    event.variable = variable.id;
    event.name = "dimensions";
    event.attribute = {array::ElementType::uint8, true, {text.begin(), text.end()}};
    catalogue.apply(event);
  }
}

}  // namespace

std::vector<std::byte> expected(const Placed& placed) {
  const array::Box whole{placed.variable.shape.dimensions, {}, placed.variable.shape.extent};
  return elements_of(placed, {whole, 0, elements(whole)});
}

SharedFile::SharedFile(const BackEnd& back_end, std::string path, std::vector<Variable> variables)
    : back_end_{back_end},
      path_{std::move(path)},
      variables_{std::move(variables)},
      catalogue_{back_end_.format().rules(back_end_.options()), back_end.options().alignment_bytes,
                 true} {
  for (const auto& variable : variables_) {
    define(catalogue_, variable);
  }
  if (!back_end_.is_plain()) {
    target_ = back_end_.create(Path{path_});
    return;
  }
  if (rank() == 0) {
    target_ = back_end_.create(Path{path_});
    plain_ = Descriptor{::open(path_.c_str(), O_WRONLY)};
  }
  barrier();
  if (rank() != 0) {
    plain_ = Descriptor{::open(path_.c_str(), O_WRONLY)};
  }
}

Placed SharedFile::place(int variable, std::int64_t step) {
  Placed placed{step, variables_.at(static_cast<std::size_t>(variable)), -1};
  if (auto* const plain = target<PlainTarget>()) {
    placed.offset = plain->place(placed.variable, step, {catalogue_, step});
  }
  if (back_end_.format().traits().offsets_by_layout) {
    placed.offset = catalogue_.layout().offset(variable, step);
  } else if (back_end_.is_plain()) {
    MPI_Bcast(&placed.offset, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  }
  from_ = std::min(from_, step);
  description_.contents.push_back(placed);
  return placed;
}

void SharedFile::put(const Placed& placed, const array::Box& box, std::int64_t piece) {
  const std::int64_t all = elements(box);
  for (std::int64_t end = all; end > 0;) {
    const std::int64_t first = std::max<std::int64_t>(0, end - piece);
    const Selection selection{box, first, end - first};
    if (back_end_.writes_whole_steps()) {
      kept_[placed.step].push_back({placed, selection, elements_of(placed, selection)});
    } else {
      write(placed, selection, elements_of(placed, selection));
    }
    end = first;
  }
}

void SharedFile::write(const Placed& placed, const Selection& selection,
                       const std::vector<std::byte>& bytes) {
  if (!back_end_.is_plain()) {
    target<SharedTarget>()->write(placed, selection, bytes);
    return;
  }
  const auto size = static_cast<std::int64_t>(array::size_bytes(placed.variable.type));
  std::vector<std::byte> in_file = bytes;
  if (back_end_.format().traits().swaps_bytes()) {
    array::swap_bytes(in_file, array::number_bytes(placed.variable.type));
  }
  const std::byte* next = in_file.data();
  array::RunCursor cursor{placed.variable.shape, selection.box, selection.first, selection.count};
  array::Run run;
  while (cursor.next(run)) {
    const auto wanted = static_cast<ssize_t>(run.elements * size);
    const auto count = static_cast<std::size_t>(wanted);
    if (::pwrite(plain_.raw(), next, count, placed.offset + run.index * size) != wanted) {
      throw failure("write", path_, errno);
    }
    next += wanted;
  }
}

void SharedFile::flush() {
  if (back_end_.writes_whole_steps()) {
    write_steps();
  } else if (is_mine()) {
    commit_target();
  }
  barrier();
}

Description SharedFile::news() const {
  Description news = description_;
  std::erase_if(news.contents, [this](const Placed& placed) { return placed.step < from_; });
  std::ranges::stable_sort(news.contents, {}, &Placed::step);
  return news;
}

void SharedFile::show(const Switch& visible) const {
  if (!visible.bytes.empty()) {
    make_visible(plain_, visible, path_);
  }
}

void SharedFile::commit_target() {
  auto* const plain = target<PlainTarget>();
  show(plain->commit(news(), from_));
  plain->is_visible();
  for (const auto& placed : description_.contents) {
    from_ = std::max(from_, placed.step + 1);
  }
}

void SharedFile::finish_target() {
  if (auto* const plain = target<PlainTarget>()) {
    show(plain->finish(news(), from_));
  } else {
    formats::finish(target_, description_);
    formats::close(target_, description_);
  }
}

// Those that were placed and not written yet: some ranks may have put nothing.
void SharedFile::write_steps() {
  std::int64_t last = steps_written_ - 1;
  for (const auto& placed : description_.contents) {
    last = std::max(last, placed.step);
  }
  for (; steps_written_ <= last; ++steps_written_) {
    const std::int64_t step = steps_written_;
    Description of_step = description_;
    std::erase_if(of_step.contents, [step](const Placed& placed) { return placed.step != step; });
    if (of_step.contents.empty()) {
      continue;  // given up
    }
    for (const auto& piece : kept_[step]) {
      target<StepTarget>()->write(piece.placed, piece.selection, piece.bytes);
    }
    target<StepTarget>()->begin_step(step, of_step);
    target<StepTarget>()->write_step(step, of_step);
    target<StepTarget>()->end_step(step, of_step);
    kept_.erase(step);
  }
}

void SharedFile::finish() {
  barrier();
  if (back_end_.writes_whole_steps()) {
    write_steps();
  }
  finish_target();
  target_ = {};
  barrier();
}

void SharedFile::grow() {
  std::int64_t end = 0;
  for (const auto& placed : description_.contents) {
    end = std::max(end, placed.offset + placed.variable.bytes());
  }
  struct stat status{};
  if (::fstat(plain_.raw(), &status) != 0 ||
      (status.st_size < end && ::ftruncate(plain_.raw(), end) != 0)) {
    throw failure("set the size of", path_, errno);
  }
}

void SharedFile::forget(std::int64_t step) {
  from_ = std::min(from_, step);
  std::erase_if(description_.contents,
                [step](const Placed& placed) { return placed.step == step; });
}

}  // namespace iocomp::formats
