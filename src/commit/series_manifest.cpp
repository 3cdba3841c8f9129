// SPDX-License-Identifier: BSD-3-Clause
#include "commit/series_manifest.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/manifest.h"
#include "commit/step_lines.h"

namespace iocomp::commit {
namespace {

// Added lines may have so many bytes, or half as many as the whole manifest. Then a reader has
// little more to read.
constexpr std::int64_t enough_line_bytes = std::int64_t{64} << 10;

NewFile whole(const TargetNames& names, const SeriesManifest::Text& text) {
  return begin_manifest(names, text.head, text.description, text.steps);
}

// Attributes are kept in one place for all steps. Those of a variable are kept only if it is in a
// step.
bool has_the_same_attributes(const SeriesManifest::Text& one, const SeriesManifest::Text& other) {
  return one.description.attributes == other.description.attributes &&
         one.description.of_variable == other.description.of_variable;
}

}  // namespace

SeriesManifest::Growth SeriesManifest::growth(
    const StepLines& all, const std::function<contents::Description(std::int64_t)>& from) const {
  if (!says_) {
    return {};
  }
  if (auto more = all.continued(last_)) {
    return {std::move(more), all};
  }
  StepLines fresh;  // among all steps they may be joined in another way
  fresh.add(from(says_->head.steps));
  return {std::nullopt, std::move(fresh)};
}

bool SeriesManifest::can_grow(const Text& text) const {
  if (!says_ || text.is_last || text.head.steps <= says_->head.steps ||
      line_bytes_ > std::max(enough_line_bytes, bytes_ / 2) || bytes_ > longest_text_bytes / 2) {
    return false;
  }
  ManifestHead grown = says_->head;
  grown.steps = text.head.steps;
  grown.absent = text.head.absent;
  grown.bytes = text.head.bytes;
  return grown == text.head && says_->steps.variables == text.steps.variables &&
         has_the_same_attributes(*says_, text);
}

std::shared_ptr<SeriesManifest::Next> SeriesManifest::next(const TargetNames& names,
                                                           std::shared_ptr<const Text> text) const {
  const bool is_the_same = says_ && says_->head == text->head &&
                           says_->steps.lines == text->steps.lines &&
                           has_the_same_attributes(*says_, *text);
  if (is_the_same && (line_bytes_ == 0 || !text->is_last)) {
    return nullptr;
  }
  auto next = std::make_shared<Next>(Next{.text = std::move(text)});
  if (can_grow(*next->text)) {
    next->line = manifest_line(next->text->head, next->text->growth.more, next->text->growth.last);
  } else {
    next->instead = std::make_unique<NewFile>(whole(names, *next->text));
  }
  return next;
}

void SeriesManifest::put(const TargetNames& names, Next& next) {
  says_.reset();  // unknown if this fails
  if (!next.instead && describe_more(names, identity_, bytes_, next.line)) {
    bytes_ += std::ssize(next.line);
    line_bytes_ += std::ssize(next.line);
    says_ = next.text;
    last_ = says_->growth.last;
    return;
  }
  if (!next.instead) {
    next.instead = std::make_unique<NewFile>(whole(names, *next.text));
  }
  describe_again(names, *next.instead);
  note(names, next.text);
}

void SeriesManifest::note(const TargetNames& names, std::shared_ptr<const Text> text) {
  (void)outcome_of([&] {
    identity_ = identity_of(names.manifest);
    bytes_ = size_of_target(names.manifest);
    line_bytes_ = 0;
    last_ = text->steps.lines;
    says_ = std::move(text);
  });
}

}  // namespace iocomp::commit
