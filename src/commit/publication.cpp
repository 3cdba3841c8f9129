// SPDX-License-Identifier: BSD-3-Clause
#include "commit/publication.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/log.h"
#include "base/number_ranges.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/small_files.h"
#include "commit/commit.h"
#include "commit/earlier_steps.h"
#include "commit/file_terms.h"
#include "commit/kept_file.h"
#include "commit/owner.h"
#include "commit/series_manifest.h"
#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::commit {
namespace {

// Only the format has the files of whole steps open. So the publisher makes them durable, unless
// the format has done that.
void settle(const Path& path, const formats::Format& format) {
  if (!format.traits().is_durable_itself) {
    make_durable(path);
  }
}

// @param number  see target_names.
TargetNames numbered(const Path& path, const Publication::Identity& identity,
                     const formats::Format& format, std::int64_t number) {
  TargetNames names = target_names(path, number, identity.job);
  names.folder_mark = format.traits().folder_mark;
  return names;
}

std::map<std::string, contents::EarlierAttribute> earlier_attributes(const ToldSteps& told) {
  std::map<std::string, contents::EarlierAttribute> all;
  const auto add = [&all](const std::string& before, const contents::Attributes& attributes) {
    for (const auto& [name, attribute] : attributes) {
      all[before + name] = {attribute.type, attribute.is_text, std::ssize(attribute.values)};
    }
  };
  add({}, told.attributes);
  for (const auto& [variable, attributes] : told.of_variable) {
    add(variable + '/', attributes);
  }
  return all;
}

contents::Beginning beginning_of(const KeptFile& kept, const formats::Format& format) {
  contents::Beginning beginning{.number = kept.next_number,
                                .is_there = true,
                                .steps = kept.head.steps,
                                .bytes = kept.head.bytes,
                                .has_old_bytes = !format.traits().offsets_by_layout,
                                .variables = kept.variables,
                                .numbers = kept.numbers};
  for (const auto& [variable, attributes] : kept.told.of_variable) {
    auto meaning = contents::meaning_of(variable, attributes);
    if (!meaning.empty() && kept.variables.contains(variable)) {
      beginning.meaning.emplace(variable, std::move(meaning));
    }
  }
  const auto& rules = format.traits().rules;
  if (rules.keeps_attribute_types || rules.header_bytes != contents::Rules::no_limit) {
    beginning.attributes = earlier_attributes(kept.told);
    beginning.header_bytes = kept.header_bytes;
    beginning.header_room = kept.header_room;
  }
  return beginning;
}

}  // namespace

Publication::Publication(Identity identity, const formats::Format& format,
                         const contents::Catalogue* catalogue)
    : identity_{std::move(identity)}, format_{&format}, catalogue_{catalogue} {
  identity_.path = path_in_force(identity_.name, identity_.path, format);
  if (identity_.held) {
    hold(identity_.held);
  }
}

std::string Publication::absolute_path() const {
  return identity_.folder.path + '/' + name_in_folder(identity_.path);
}

void Publication::hold(std::shared_ptr<const OpenFolder> folder) {
  identity_.held = std::move(folder);
  path_ = Path{identity_.held, name_in_folder(identity_.path)};
}

std::shared_ptr<const OpenFolder> Publication::open(const std::string& path) const {
  OpenFolder folder{path, folder_of(identity_.path)};
  if (!has_bug(Bug::late_server_publishes)) {
    folder.fence(identity_.is_fenced);
  }
  return std::make_shared<const OpenFolder>(std::move(folder));
}

void Publication::resolve() {
  if (identity_.held) {
    return;
  }
  std::shared_ptr<const OpenFolder> folder;
  const Outcome opened = outcome_of([&] { folder = open(identity_.folder.path); });
  if (!opened.ok()) {
    throw Error{opened.code, "cannot write " + identity_.path + ": " + opened.story};
  }
  hold(std::move(folder));
}

// On some file systems a folder has another number on each node. Then the lock that the lead has
// put there shows that it is the same folder.
void Publication::begin_at(const contents::Beginning& beginning) {
  if (identity_.held) {
    beginning_ = beginning;
    return;
  }
  auto folder = open(beginning.folder.path);
  const FolderAddress& here = folder->address();
  const Path path{folder, name_in_folder(identity_.path)};
  if (!have_the_same_numbers(here, beginning.folder) &&
      (here.system == beginning.folder.system || !is_locked_by(path, identity_.job))) {
    throw Error{ErrorCode::storage_failure,
                "cannot write " + identity_.path + ": " + beginning.folder.path +
                    " is another folder here than on the node where the file was opened; all that "
                    "write it must see one"};
  }
  hold(std::move(folder));
  beginning_ = beginning;
}

TargetNames Publication::names(std::int64_t step) const {
  const bool is_named = identity_.file_per_step && step >= 0 && catalogue_ != nullptr;
  return names_of(is_named ? catalogue_->number(step) : target_of(step));
}

TargetNames Publication::names_of(std::int64_t number) const {
  return numbered(path_, identity_, *format_, identity_.file_per_step ? number : -1);
}

std::int64_t Publication::in_file(std::int64_t step) const {
  return identity_.file_per_step ? catalogue_->number(step) : beginning_.steps + step;
}

contents::Description Publication::as_in_file(contents::Description description) const {
  std::map<std::int64_t, contents::StepName> names;
  for (const auto& [step, name] : description.names) {
    names.emplace(in_file(step), name);
  }
  description.names = std::move(names);
  for (auto& placed : description.contents) {
    placed.step = in_file(placed.step);
  }
  return description;
}

void Publication::go_on(formats::FormatOptions& options) const {
  options.earlier_steps = beginning_.is_there ? beginning_.steps : -1;
  options.earlier_bytes = beginning_.bytes;
  options.earlier_variables = beginning_.variables;
  options.earlier_numbers = beginning_.numbers;
}

contents::Beginning Publication::begin() {
  prepare(0);
  if (identity_.existing == config::Existing::go_on) {
    make_published_durable(names(-1));  // a killed job may not have done it
  }
  beginning_ = identity_.file_per_step ? begin_steps() : begin_file();
  beginning_.folder = path_.folder().address();
  return beginning_;
}

bool Publication::keeps_none_of(std::span<const std::int64_t> earlier) const noexcept {
  return identity_.existing == config::Existing::replace ||
         (!earlier.empty() && earlier.front() > identity_.after);
}

// If the file is continued, the lost steps are removed from the newest on. So a kill leaves only
// what some job has committed.
contents::Beginning Publication::begin_steps() {
  const auto step_names = [this](std::int64_t number) {
    return numbered(path_, identity_, *format_, number);
  };
  if (identity_.existing == config::Existing::refuse) {
    const auto numbers = steps_in_names(path_);
    if (!numbers.empty()) {
      throw target_is_there(step_names(numbers.back()), "exists");
    }
    return {};
  }
  auto earlier = earlier_steps(path_);
  for (const auto number : earlier.superseded) {
    remove_committed(step_names(number));
  }
  if (keeps_none_of(earlier.numbers)) {  // the first commit removes them
    if (identity_.existing == config::Existing::go_on) {
      tell_of_lost(earlier.numbers);
      tell_of_missing({});
    }
    *superseded_ = std::move(earlier.numbers);
    return {};
  }
  std::vector<std::int64_t> lost;  // descending
  while (!earlier.numbers.empty() && earlier.numbers.back() > identity_.after) {
    lost.push_back(earlier.numbers.back());
    remove_committed(step_names(earlier.numbers.back()));
    earlier.numbers.pop_back();
  }
  if (!lost.empty()) {
    for (const auto number : lost) {
      if (const auto target = step_names(number).target; target.is_there()) {
        throw Error{ErrorCode::storage_failure, "cannot remove " + target.text() +
                                                    ", which lies behind step " +
                                                    std::to_string(identity_.after)};
      }
    }
    path_.folder().sync();
  }
  tell_of_lost({lost.rbegin(), lost.rend()});
  tell_of_missing(earlier.numbers);
  while (!earlier.numbers.empty() && !is_whole(step_names(earlier.numbers.back()))) {
    earlier.numbers.pop_back();  // torn: replaced when that step comes
  }
  kept_->assign(earlier.numbers.begin(), earlier.numbers.end());
  return {.number = earlier.numbers.empty() ? 0 : earlier.numbers.back() + 1};
}

contents::Beginning Publication::find_beginning() const {
  if (identity_.existing != config::Existing::go_on) {
    return {};
  }
  if (identity_.file_per_step) {
    auto numbers = earlier_steps(path_).numbers;
    while (!numbers.empty() && (numbers.back() > identity_.after ||
                                !is_whole(numbered(path_, identity_, *format_, numbers.back())))) {
      numbers.pop_back();
    }
    return {.number = numbers.empty() ? 0 : numbers.back() + 1};
  }
  const auto kept = kept_file();
  if (!kept) {
    return {};
  }
  return kept->head.steps > 0 ? beginning_of(*kept, *format_)
                              : contents::Beginning{.number = kept->next_number};
}

std::optional<KeptFile> Publication::kept_file() const {
  const TargetNames target = names(-1);
  if (identity_.existing != config::Existing::go_on || !target.target.is_there()) {
    return std::nullopt;
  }
  return kept_of(target, *format_, identity_.after);
}

// Continues the file of all steps that earlier jobs have written.
contents::Beginning Publication::begin_file() {
  auto kept = kept_file();
  if (!kept) {
    tell_of_missing({});
    return {};
  }
  const TargetNames target = names(-1);
  tell_of_missing(kept->newest);
  contents::Beginning beginning = beginning_of(*kept, *format_);
  of_earlier_ = told_.steps = std::move(kept->told);
  absent_ = kept->head.absent;
  steps_ = beginning.steps;
  if (has_bug(Bug::earlier_steps_overwritten)) {
    beginning.bytes = 0;
  }
  const bool is_shortened = kept->is_shortened && !has_bug(Bug::dropped_steps_stay);
  if (is_shortened) {
    tell_of_lost(kept->lost);
  }
  if (steps_ == 0) {  // nothing is kept: the first commit replaces it
    of_earlier_ = {};
    told_ = {};
    return {.number = beginning.number};
  }
  if (is_shortened || !target.folder_mark.empty()) {
    beginning_ = beginning;
    write_manifest(target, head(0, steps_, beginning.bytes), {}, told_.steps);
  }
  if (format_->traits().offsets_by_layout) {
    target.target.folder().check_fence(target.target.name());
    cut(target.target, beginning.bytes);
  }
  published_->is_there = true;
  published_->identity = identity_of(target.target);
  return beginning;
}

void Publication::tell_of_lost(const std::vector<std::int64_t>& numbers) const {
  if (!numbers.empty()) {
    log::warning("file \"" + identity_.name + "\" goes on after step " +
                 std::to_string(identity_.after) + ": what lies behind it is dropped, steps " +
                 step_ranges(numbers));
  }
}

// The program was at step `after` in its last job, and goes on from there. Steps of a series that
// the last job had not committed by then never come. Step numbers are taken to keep their distance.
void Publication::tell_of_missing(std::span<const std::int64_t> numbers) const {
  const bool goes_on = identity_.existing == config::Existing::go_on && !identity_.checkpoint;
  if (!goes_on || identity_.after == protocol::everything || identity_.after < 0) {
    return;
  }
  const std::int64_t newest = numbers.empty() ? -1 : numbers.back();
  const std::int64_t distance = numbers.size() < 2 ? 0 : newest - numbers[numbers.size() - 2];
  if (newest >= identity_.after || (distance > 0 && identity_.after - newest < distance)) {
    return;
  }
  std::string missing =
      numbers.empty() ? "it has no step" : "its only step is " + std::to_string(newest);
  if (distance > 0) {
    const std::int64_t last = newest + (identity_.after - newest) / distance * distance;
    missing = "steps after " + std::to_string(newest) + " are missing, " +
              std::to_string(newest + distance) + " to " + std::to_string(last);
    missing +=
        distance > 1 ? ", if there was one in " + std::to_string(distance) + " as before" : "";
  }
  log::warning("file \"" + identity_.name + "\" goes on after step " +
               std::to_string(identity_.after) + ", but " + missing);
}

ManifestHead Publication::head(std::int64_t first, std::int64_t steps, std::int64_t bytes) const {
  ManifestHead head;
  head.name = identity_.name;
  head.format = std::string{format_->name()};
  head.kind = identity_.checkpoint ? "checkpoint" : "series";
  head.first_step = first;
  head.steps = steps;
  head.absent = absent_;
  head.bytes = bytes;
  head.byte_order = format_->traits().byte_order;
  return head;
}

std::int64_t Publication::bytes(std::int64_t step, const contents::Contents& contents,
                                const contents::Catalogue& catalogue) const {
  std::int64_t bytes = beginning_.bytes;
  if (step < 0 || !format_->traits().readable_while_open ||
      format_->traits().writes_whole_steps()) {
    return bytes;
  }
  bytes = format_->traits().offsets_by_layout ? catalogue.layout().end(step)
          : identity_.file_per_step
              ? contents::end_of(contents.describe(catalogue, step, step).contents)
              : told_.end;
  return std::max(bytes, beginning_.bytes);
}

Publication::Commit Publication::commit_step(std::int64_t step, const contents::Contents& contents,
                                             const contents::Catalogue& catalogue) {
  const TargetNames target = names(step);
  const bool replace = replaces();
  const bool whole_steps = format_->traits().writes_whole_steps();
  const bool ends_itself = whole_steps || !format_->traits().offsets_by_layout;
  if (identity_.file_per_step) {
    auto description = as_in_file(contents.describe(catalogue, step, step));
    const std::int64_t number = in_file(step);
    auto manifest = head(number, 1, bytes(step, contents, catalogue));
    const auto target_of = [path = path_, identity = identity_,
                            format = format_](std::int64_t committed) {
      return numbered(path, identity, *format, committed);
    };
    return {{},
            [=, kept = kept_, superseded = superseded_, format = format_,
             keep = static_cast<std::size_t>(identity_.keep)](const Prepared&) mutable {
              if (whole_steps) {
                settle(target.temporary, *format);
              }
              if (ends_itself) {
                manifest.bytes = size_of_target(target.temporary);
              }
              if (replace && is_another_file(target, number)) {
                throw Error{ErrorCode::target_exists,
                            target.target.text() +
                                " is no step of this file, as its manifest says; choose another "
                                "path for one of them"};
              }
              for (const auto earlier : *superseded) {
                if (earlier != number) {
                  manifest.supersedes.emplace(earlier, identity_of(target_of(earlier).target));
                }
              }
              publish_described(target, manifest, description, replace);
              kept->push_back(number);
              bool are_gone = true;
              for (const auto& [earlier, identity] : manifest.supersedes) {
                are_gone = remove_committed(target_of(earlier)) && are_gone;
              }
              superseded->clear();
              if (are_gone && !std::exchange(manifest.supersedes, {}).empty()) {
                (void)outcome_of([&] { write_manifest(target, manifest, description); });
              }
              std::vector<TargetNames> old;
              for (; keep > 0 && kept->size() > keep; kept->pop_front()) {
                old.push_back(target_of(kept->front()));
              }
              for (const auto& names : old) {  // those beyond `keep`
                (void)remove_committed(names);
              }
            }};
  }
  steps_ = in_file(step) + 1;
  if (!format_->traits().readable_while_open) {
    return {};  // the file appears as a whole when it is closed
  }
  return publish_until(step, false, contents, catalogue);
}

// Publishes the file of all steps with the steps up to `last`. @param is_finished  true if only
// attributes come after them.
Publication::Commit Publication::publish_until(std::int64_t last, bool is_finished,
                                               const contents::Contents& contents,
                                               const contents::Catalogue& catalogue) {
  const TargetNames target = names(-1);
  const bool whole_steps = format_->traits().writes_whole_steps();
  const bool ends_itself = is_finished && !whole_steps && !format_->traits().offsets_by_layout;
  const auto text = std::make_shared<SeriesManifest::Text>();
  text->is_last = is_finished;
  text->description = tell_until(is_finished ? last + 1 : last, contents, catalogue);
  text->steps = told_.steps;
  text->head = head(0, steps_, bytes(last, contents, catalogue));
  text->growth = published_->manifest.growth(told_.steps.lines, [&](std::int64_t from) {
    return as_in_file(contents.describe(catalogue, from - beginning_.steps, last));
  });
  const auto begin = [=, published = published_]() -> Prepared {
    return published->is_there ? published->manifest.next(target, text) : nullptr;
  };
  auto publish = [=, replace = replaces(), published = published_,
                  format = format_](Prepared next) mutable {
    if (whole_steps) {
      const Path& path = published->is_there ? target.target : target.temporary;
      settle(path, *format);
      // A store gets files with each step: a commit that adds all of them up costs more each time.
      text->head.bytes = format->traits().is_durable_itself ? 0 : size_of_target(path);
      next = begin();
    }
    if (published->is_there) {
      check_identity(target, published->identity);
      if (next) {
        published->manifest.put(target, *next);
      }
    } else {
      try {
        publish_described(target, text->head, text->description, replace, text->steps);
      } catch (...) {
        published->is_stuck = false;
        (void)outcome_of([&] { published->is_stuck = has_final_name(target); });
        throw;
      }
      published->is_there = true;
      published->identity = identity_of(target.target);
      if (!replace) {  // otherwise the manifest may tell what the file has replaced
        published->manifest.note(target, text);
      }
    }
  };
  if (whole_steps) {  // its length is known after all have written
    return {{}, std::move(publish)};
  }
  if (!ends_itself) {
    return {begin, std::move(publish)};
  }
  const auto measure = [text, target, published = published_] {
    text->head.bytes = size_of_target(published->is_there ? target.target : target.temporary);
    return text->head.bytes;
  };
  return {begin, std::move(publish), measure};
}

// Tells the steps up to `last` that are not told yet. @return their description without the
// steps.
contents::Description Publication::tell_until(std::int64_t last, const contents::Contents& contents,
                                              const contents::Catalogue& catalogue) {
  if (told_.removals != contents.removals()) {
    told_ = {.steps = of_earlier_, .removals = contents.removals()};
  }
  auto description = as_in_file(contents.describe(catalogue, told_.until, last));
  told_.end = std::max(told_.end, contents::end_of(description.contents));
  tell(told_.steps, description);
  tell_attributes_of_earlier(description, last, catalogue);
  told_.until = last + 1;
  description.contents.clear();
  description.names.clear();
  return description;
}

// Tells the attributes of variables that only earlier jobs have put.
void Publication::tell_attributes_of_earlier(const contents::Description& description,
                                             std::int64_t last,
                                             const contents::Catalogue& catalogue) {
  if (beginning_.variables.empty()) {
    return;
  }
  for (std::size_t number = 0; number < description.of_variable.size(); ++number) {
    const auto id = static_cast<int>(number);
    const std::string name = catalogue.variable(id, last).name;
    if (!description.of_variable[number].empty() && beginning_.variables.contains(name)) {
      told_.steps.variables.try_emplace(id, name);
    }
  }
}

Publication::Job Publication::drop_step(std::int64_t step) {
  if (!identity_.file_per_step) {
    absent_.push_back(in_file(step));
    steps_ = in_file(step) + 1;
    return [] {};
  }
  return [target = names(step)] { abandon(target); };
}

Publication::Commit Publication::commit_file(const contents::Contents& contents,
                                             const contents::Catalogue& catalogue) {
  if (identity_.file_per_step) {
    return {};
  }
  return publish_until(steps_ - beginning_.steps - 1, true, contents, catalogue);
}

void Publication::go_on_after(std::int64_t steps, std::vector<std::int64_t> absent,
                              bool is_published) {
  steps_ = steps;
  absent_ = std::move(absent);
  published_->is_there = is_published;
}

void Publication::go_on_after(std::deque<std::int64_t> committed, bool has_committed) {
  *kept_ = std::move(committed);
  auto earlier = earlier_steps(path_);
  if (keeps_none_of(earlier.numbers)) {
    *superseded_ = has_committed ? std::move(earlier.superseded) : std::move(earlier.numbers);
  } else {
    std::erase_if(earlier.numbers, [first = catalogue_->number(0)](auto n) { return n >= first; });
    kept_->insert(kept_->begin(), earlier.numbers.begin(), earlier.numbers.end());
  }
}

Publication::Job Publication::abandon_file() const {
  if (identity_.file_per_step || !identity_.held) {
    return [] {};
  }
  return [target = names(-1), published = published_] {
    if (!published->is_there) {
      abandon(target);
    }
  };
}

}  // namespace iocomp::commit
