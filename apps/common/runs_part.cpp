// SPDX-License-Identifier: BSD-3-Clause
#include "common/runs_part.h"

#include <algorithm>
#include <utility>

namespace iocomp::apps {
namespace {

constexpr std::int64_t most_elements_read = std::int64_t{1} << 20;

}  // namespace

RunsPart::RunsPart(const Session& session, Indices shape, std::vector<Run> runs)
    : Part{std::move(shape)}, runs_{std::move(runs)} {
  Indices first;
  Indices count;
  for (const Run& run : runs_) {
    first.push_back(run.first);
    count.push_back(run.count);
    elements_ += static_cast<std::size_t>(run.count);
  }
  check(iocomp_decompose(session.handle(), static_cast<int>(Part::shape().size()),
                         Part::shape().data(), static_cast<std::int64_t>(runs_.size()),
                         first.data(), count.data(), &decomposition_),
        "iocomp_decompose");
}

void RunsPart::put(iocomp_var* variable, const double* values, iocomp_ticket* ticket) const {
  const iocomp_block block{.size = sizeof block, .values = values, .decomp = decomposition_};
  check(iocomp_put_block(variable, &block, ticket), "iocomp_put_block");
}

void RunsPart::read(iocomp_input* input, const std::string& variable, std::int64_t step,
                    std::span<double> values) const {
  const std::int64_t width = shape().back();
  std::vector<double> lines;
  double* to = values.data();
  for (auto run = runs_.begin(); run != runs_.end();) {
    // Lines that follow one another, as many as may be read at once.
    const std::int64_t begin = run->first / width;
    const std::int64_t most = begin + std::max<std::int64_t>(1, most_elements_read / width);
    std::int64_t end = begin + 1;
    auto behind = run;
    for (; behind != runs_.end(); ++behind) {
      const std::int64_t line = behind->first / width;
      if (line > end || line >= most) break;
      end = line + 1;
    }
    Indices start(shape().size(), 0);
    Indices count{shape()};
    if (shape().size() > 1) {
      start.front() = begin;
      count.front() = end - begin;
    }
    lines.resize(static_cast<std::size_t>((end - begin) * width));
    check(iocomp_read(input, variable.c_str(), step, start.data(), count.data(), lines.data()),
          "iocomp_read");
    for (; run != behind; ++run) {
      to = std::copy_n(lines.data() + (run->first - begin * width), run->count, to);
    }
  }
}

}  // namespace iocomp::apps
