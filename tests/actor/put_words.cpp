// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "words.h"

namespace actor {
namespace {

/// The part of a dimension that belongs to this member, or the whole, or nothing.
Block share(const Line& line, const Extents& shape, const File& file) {
  Block block = Block::of(shape, Extents(shape.size(), 0), shape);
  const auto by = line.option("by", "rows");
  if (by == "none") {
    block.count.assign(block.count.size(), 0);
  } else if (by != "whole" && !shape.empty()) {
    const std::size_t d = by == "columns" ? shape.size() - 1 : 0;
    block.start[d] = shape[d] * file.rank / file.size;
    block.count[d] = shape[d] * (file.rank + 1) / file.size - block.start[d];
  }
  return Block::of(shape, block.start, block.count);
}

Block block_of(const Line& line, const Extents& shape, const File& file) {
  Block block = line.has("start") ? Block::of(shape, numbers(line.option("start", ""), 'x'),
                                              numbers(line.option("count", ""), 'x'))
                                  : share(line, shape, file);
  if (line.has("memory")) {
    block.memory_shape = numbers(line.option("memory", ""), 'x');
    block.memory_start = numbers(line.option("at", ""), 'x');
  } else if (const auto halo = std::stoll(line.option("halo", "0")); halo > 0) {
    std::ranges::for_each(block.memory_shape, [halo](auto& extent) { extent += 2 * halo; });
    block.memory_start.assign(block.count.size(), halo);
  }
  return block;
}

/// True if the line is for this member: it names the member's writer, or none.
bool is_mine(const Line& line, const File& file) {
  return !line.has("writer") || std::stoll(line.option("writer", "")) % file.size == file.rank;
}

bool is_buffered(const Line& line) { return line.option("buffered", "no") == "yes"; }

/// Add to each value of an array of int64.
void add_to(std::vector<std::byte>& values, std::int64_t more) {
  for (std::size_t at = 0; more != 0 && at < values.size(); at += sizeof more) {
    std::int64_t value = 0;
    std::memcpy(&value, values.data() + at, sizeof value);
    value += more;
    std::memcpy(values.data() + at, &value, sizeof value);
  }
}

/// The put of a line, before it is made.
Put prepared(const Stage& stage, const Line& line, std::int64_t step,
             std::vector<std::byte> values) {
  add_to(values, std::stoll(line.option("add", "0")));
  return {{},
          step,
          line.argument(1),
          Memory{stage.session, line.option("in", "pages"), std::move(values)}};
}

/// Write down how a put went and keep its ticket.
void keep(Stage& stage, const Line& line, int code, double began, Put put) {
  stage.tell(line, code, began,
             {{"file", line.argument(0)}, {"variable", put.variable}, {"step", put.step}});
  if (is_buffered(line) && code == IOCOMP_OK) {
    put.memory.reuse();
  }
  File& file = stage.file(line);
  const bool is_asked = code == IOCOMP_OK && line.option("ticket", "kept") == "kept";
  (is_asked ? file.puts : file.forgotten).push_back(std::move(put));
}

void put(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr) {
    return;
  }
  const Variable& variable = stage.variable(line);
  const Block block = block_of(line, variable.shape, file);
  const std::int64_t step = iocomp_current_step(file.handle);
  // If only empty blocks of a variable are put, the step has nothing of it.
  if (line.has("writer") && !block.is_empty()) {
    file.written.push_back({line.argument(1), variable.values, step, block});
  }
  if (!is_mine(line, file)) {
    return;
  }
  Put made = prepared(stage, line, step, block.local_array(variable.values, step));
  const std::byte* const values = made.memory.data();
  const bool buffered = is_buffered(line);
  const double began = now_seconds();
  int code = IOCOMP_OK;
  if (block.fills_memory() && !buffered) {
    code =
        iocomp_put(variable.handle, block.start.data(), block.count.data(), values, &made.ticket);
  } else {
    const bool inside = !block.fills_memory();
    const iocomp_block told{.size = sizeof told,
                            .start = block.start.data(),
                            .count = block.count.data(),
                            .values = values,
                            .memory_shape = inside ? block.memory_shape.data() : nullptr,
                            .memory_start = inside ? block.memory_start.data() : nullptr,
                            .type = variable.values.type,
                            .flags = buffered ? IOCOMP_BUFFERED : 0};
    code = iocomp_put_block(variable.handle, &told, &made.ticket);
  }
  keep(stage, line, code, began, std::move(made));
}

/// This member's share of the rows, behind those of the members before it.
void put_rows(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr) {
    return;
  }
  const Variable& variable = stage.variable(line);
  const Block block = share(line, variable.shape, file);
  const std::int64_t step = iocomp_current_step(file.handle);
  Put made = prepared(stage, line, step, block.local_array(variable.values, step));
  const double began = now_seconds();
  Extents start(block.count.size(), 0);
  int code = iocomp_set_rows(1, &variable.handle, block.count.data(), start.data(), nullptr);
  if (code == IOCOMP_OK) {
    const iocomp_block told{.size = sizeof told,
                            .start = start.data(),
                            .count = block.count.data(),
                            .values = made.memory.data(),
                            .flags = is_buffered(line) ? IOCOMP_BUFFERED : 0};
    code = iocomp_put_block(variable.handle, &told, &made.ticket);
  }
  keep(stage, line, code, began, std::move(made));
}

/// Runs of elements, "first:count,first:count".
struct Runs {
  Extents first, count;
};

Runs runs_of(const std::string& text) {
  Runs runs;
  std::istringstream stream{text};
  for (std::string run; std::getline(stream, run, ',');) {
    const auto ends = numbers(run, ':');
    runs.first.push_back(ends.at(0));
    runs.count.push_back(ends.at(1));
  }
  return runs;
}

Extents indices_of(const Runs& runs) {
  Extents indices;
  for (std::size_t i = 0; i < runs.first.size(); ++i) {
    for (std::int64_t j = 0; j < runs.count[i]; ++j) {
      indices.push_back(runs.first[i] + j);
    }
  }
  return indices;
}

int decompose(const Stage& stage, const Line& line, const Extents& shape, iocomp_decomp** made) {
  const int dimensions = static_cast<int>(shape.size());
  if (line.has("map")) {
    const Extents map = numbers(line.option("map", ""), ',');
    return iocomp_decompose(stage.session, dimensions, shape.data(),
                            static_cast<std::int64_t>(map.size()), map.data(), nullptr, made);
  }
  const Runs runs = runs_of(line.option("runs", ""));
  return iocomp_decompose(stage.session, dimensions, shape.data(),
                          static_cast<std::int64_t>(runs.first.size()), runs.first.data(),
                          runs.count.data(), made);
}

/// Elements in any order, as a map names them (negative: not put) or in runs.
void put_elements(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr || !is_mine(line, file)) {
    return;
  }
  const Variable& variable = stage.variable(line);
  const std::int64_t step = iocomp_current_step(file.handle);
  const Extents indices = line.has("map") ? numbers(line.option("map", ""), ',')
                                          : indices_of(runs_of(line.option("runs", "")));
  const std::size_t size = variable.values.element_bytes();
  std::vector<std::byte> values(indices.size() * size, poison);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0) {
      variable.values.fill(values.data() + i * size, indices[i], 1, step);
    }
  }
  Put made = prepared(stage, line, step, std::move(values));
  iocomp_decomp*& decomposition =
      stage.decompositions[{variable.shape, line.has("map") ? "map" : "runs", indices}];
  const double began = now_seconds();
  int code =
      decomposition != nullptr ? IOCOMP_OK : decompose(stage, line, variable.shape, &decomposition);
  if (code == IOCOMP_OK) {
    const iocomp_block told{.size = sizeof told,
                            .values = made.memory.data(),
                            .decomp = decomposition,
                            .flags = is_buffered(line) ? IOCOMP_BUFFERED : 0};
    code = iocomp_put_block(variable.handle, &told, &made.ticket);
  }
  if (line.option("decomposition", "freed") == "freed") {  // what is on its way is not concerned
    iocomp_decomp_free(std::exchange(decomposition, nullptr));
  }
  keep(stage, line, code, began, std::move(made));
}

/// One word in each row of an array of characters, from `row` on; a scalar has one letter.
void put_text(Stage& stage, const Line& line) {
  File& file = stage.file(line);
  if (file.handle == nullptr) {
    return;
  }
  const Variable& variable = stage.variable(line);
  std::vector<std::string> words;
  std::istringstream stream{with_blanks(line.argument(2))};
  for (std::string word; std::getline(stream, word, ',');) {
    words.push_back(word);
  }
  Extents start(variable.shape.size(), 0);
  Extents count = variable.shape;
  if (count.size() > 1) {
    start.front() = std::stoll(line.option("row", "0"));
    count.front() = static_cast<std::int64_t>(words.size());
  }
  const auto length = static_cast<std::size_t>(count.empty() ? 1 : count.back());
  const char padding = line.option("pad", "zero") == "blank" ? ' ' : '\0';
  std::vector<std::byte> values(words.size() * length, static_cast<std::byte>(padding));
  for (std::size_t row = 0; row < words.size(); ++row) {
    std::memcpy(values.data() + row * length, words[row].data(),
                std::min(length, words[row].size()));
  }
  Put made = prepared(stage, line, iocomp_current_step(file.handle), std::move(values));
  const double began = now_seconds();
  const int code =
      iocomp_put(variable.handle, start.data(), count.data(), made.memory.data(), &made.ticket);
  keep(stage, line, code, began, std::move(made));
}

}  // namespace

Words put_words() {
  return {
      {"put", put}, {"put_rows", put_rows}, {"put_elements", put_elements}, {"put_text", put_text}};
}

}  // namespace actor
