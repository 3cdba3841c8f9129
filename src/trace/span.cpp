// SPDX-License-Identifier: BSD-3-Clause
#include "trace/span.h"

#include "base/clock.h"
#include "trace/event.h"
#include "trace/timeline.h"

namespace iocomp::trace {

Span::Span(Timeline* timeline, What what, const Subject& subject) noexcept : timeline_{timeline} {
  if (timeline_ != nullptr) {
    place_ = timeline_->open(what, subject);
  }
}

Span::~Span() {
  if (timeline_ != nullptr) {
    timeline_->close(place_);
  }
}

void record(Timeline* timeline, What what, double begin, const Subject& subject) noexcept {
  if (timeline != nullptr) {
    timeline->record(what, begin, now_seconds(), subject);
  }
}

void Recorder::operator()(What what, double begin, Subject subject) const noexcept {
  subject.file = file;
  record(timeline, what, begin, subject);
}

void describe_span(Timeline* timeline, const Subject& subject) noexcept {
  if (timeline != nullptr) {
    timeline->describe_newest(subject);
  }
}

}  // namespace iocomp::trace
