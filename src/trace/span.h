// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "trace/event.h"

namespace iocomp::trace {

class Timeline;

/// An event that lasts as long as a scope. Without a timeline it costs nothing.
class Span {
 public:
  Span(Timeline* timeline, What what, const Subject& subject) noexcept;
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span();

 private:
  Timeline* timeline_;
  std::size_t place_ = 0;
};

/// Tells a timeline what was done with one file.
struct Recorder {
  Timeline* timeline = nullptr;
  std::string file{};
  /// An event that has lasted from `begin` until now.
  void operator()(What what, double begin, Subject subject) const noexcept;
};

/// An event that has lasted from `begin` until now. Without a timeline there is none.
void record(Timeline* timeline, What what, double begin, const Subject& subject) noexcept;
/// More is known of the innermost span.
void describe_span(Timeline* timeline, const Subject& subject) noexcept;

}  // namespace iocomp::trace
