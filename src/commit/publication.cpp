#include "commit/publication.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/bug.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "commit/commit.h"
#include "commit/file_terms.h"
#include "commit/xdmf/xdmf_file.h"
#include "commit/xdmf/xdmf_steps.h"
#include "contents/catalogue.h"
#include "formats/format.h"

namespace iocomp::commit {
namespace {

// Nobody but the format has the files of whole steps open: whoever publishes makes them durable.
std::int64_t settled_bytes(const std::string& path, bool whole_steps) {
  if (whole_steps) {
    make_durable(path);
  }
  return size_of_target(path);
}

// The first commit under a name: an XDMF file that is there describes what will be gone.
void publish_first(const TargetNames& names, const ManifestHead& head,
                   const contents::Description& description, bool replace, const ToldSteps& earlier,
                   XdmfFile* xdmf) {
  if (xdmf == nullptr) {
    publish_described(names, head, description, replace, earlier);
    return;
  }
  xdmf->step_aside();
  try {
    publish_described(names, head, description, replace, earlier);
  } catch (...) {
    xdmf->come_back();
    throw;
  }
}

void describe(XdmfFile* xdmf, const NewXdmfSteps& told, const TargetNames& names) {
  if (xdmf == nullptr || (told.steps.empty() && !told.are_all)) {
    return;
  }
  if (told.are_all) {
    xdmf->clear();
  }
  xdmf->add(told.steps, names.target);
  xdmf->write(names.temporary + ".xdmf");
}

}  // namespace

bool Publication::Published::says(const ManifestHead& new_head, const ToldSteps& told,
                                  const contents::Description& description) const {
  return is_known && head == new_head && lines == told.lines &&
         attributes == description.attributes && of_variable == description.of_variable;
}

void Publication::Published::note(ManifestHead new_head, ToldSteps told,
                                  contents::Description description) {
  is_known = true;
  head = std::move(new_head);
  lines = std::move(told.lines);
  attributes = std::move(description.attributes);
  of_variable = std::move(description.of_variable);
}

Publication::Publication(Identity identity, const formats::Format& format)
    : identity_{std::move(identity)}, format_{&format} {
  identity_.path = path_in_force(identity_.name, identity_.path, format);
  if (identity_.xdmf) {
    formats::FormatOptions options;
    options.one_step = identity_.file_per_step;
    xdmf_ = std::make_shared<XdmfFile>(identity_.name, identity_.path, format, options);
  }
}

TargetNames Publication::names(std::int64_t step) const {
  TargetNames names = target_names(identity_.path, target_of(step), identity_.job);
  names.folder_mark = format_->traits().folder_mark;
  if (identity_.is_given_up && !has_bug(Bug::late_server_publishes)) {
    names.may_appear = [given_up = identity_.is_given_up] {
      if (given_up()) {
        throw Error{ErrorCode::storage_failure, "the compute ranks have taken the file over"};
      }
    };
  }
  return names;
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
  if (step < 0 || !format_->traits().readable_while_open ||
      format_->traits().writes_whole_steps()) {
    return 0;
  }
  return format_->traits().offsets_by_layout
             ? catalogue.layout().end(step)
             : contents.end(catalogue, identity_.file_per_step ? step : 0, step);
}

Publication::Job Publication::commit_step(std::int64_t step, const contents::Contents& contents,
                                          const contents::Catalogue& catalogue) {
  const TargetNames target = names(step);
  const bool replace = identity_.replace;
  const bool whole_steps = format_->traits().writes_whole_steps();
  const bool ends_itself = whole_steps || !format_->traits().offsets_by_layout;
  if (identity_.file_per_step) {
    auto description = contents.describe(catalogue, step, step);
    auto manifest = head(step, 1, bytes(step, contents, catalogue));
    manifest.absent.clear();
    const auto target_of = [path = identity_.path, job = identity_.job,
                            mark = target.folder_mark](std::int64_t committed) {
      TargetNames old = target_names(path, committed, job);
      old.folder_mark = mark;
      return old;
    };
    return [=, xdmf = xdmf_, described = told_to_xdmf(contents, catalogue, step), kept = kept_,
            keep = static_cast<std::size_t>(identity_.keep), path = identity_.path,
            job = identity_.job]() mutable {
      if (ends_itself) {
        manifest.bytes = settled_bytes(target.temporary, whole_steps);
      }
      if (kept->empty()) {
        publish_first(target, manifest, description, replace, {}, xdmf.get());
      } else {
        publish_described(target, manifest, description, replace);
      }
      kept->push_back(step);
      std::vector<TargetNames> old;
      for (; keep > 0 && kept->size() > keep; kept->pop_front()) {
        old.push_back(target_of(kept->front()));
        if (xdmf) {
          xdmf->remove(kept->front());
        }
      }
      if (xdmf) {
        for (const auto earlier : *kept) {
          if (earlier != step && !xdmf->knows(earlier)) {
            xdmf->add_from_manifest(target_of(earlier).target);
          }
        }
        xdmf->add(described.steps, target.target);
        xdmf->write(target_names(path, -1, job).temporary + ".xdmf");
      }
      for (const auto& names : old) {  // that nothing describes any more
        remove_committed(names);
      }
    };
  }
  steps_ = step + 1;
  if (!format_->traits().readable_while_open) {
    return [] {};  // appears as a whole when it is closed
  }
  return publish_until(step, false, contents, catalogue);
}

// The one file, with the steps up to this one. @param is_finished  nothing comes after them but
// attributes.
Publication::Job Publication::publish_until(std::int64_t last, bool is_finished,
                                            const contents::Contents& contents,
                                            const contents::Catalogue& catalogue) {
  const TargetNames target = names(-1);
  auto description = tell_until(is_finished ? last + 1 : last, contents, catalogue);
  auto manifest = head(0, steps_, bytes(last, contents, catalogue));
  const bool whole_steps = format_->traits().writes_whole_steps();
  const bool ends_itself = whole_steps || (is_finished && !format_->traits().offsets_by_layout);
  return [=, xdmf = xdmf_, described = told_to_xdmf(contents, catalogue, last),
          replace = identity_.replace, published = published_, told = told_]() mutable {
    if (ends_itself) {
      manifest.bytes =
          settled_bytes(published->is_there ? target.target : target.temporary, whole_steps);
    }
    if (published->is_there) {
      check_identity(target, published->identity);
      if (!published->says(manifest, told, description)) {
        published->is_known = false;  // also where it fails
        describe_again(target, manifest, description, told);
        published->note(manifest, told, description);
      }
    } else {
      publish_first(target, manifest, description, replace, told, xdmf.get());
      published->is_there = true;
      published->identity = identity_of(target.target);
      if (!replace) {  // else it may say what it was put in the place of
        published->note(manifest, told, description);
      }
    }
    describe(xdmf.get(), described, target);
  };
}

// Tell what is not told yet of the steps up to `last`. @return what is left to be told of them.
contents::Description Publication::tell_until(std::int64_t last, const contents::Contents& contents,
                                              const contents::Catalogue& catalogue) {
  if (removals_ != contents.removals()) {
    removals_ = contents.removals();
    told_ = {};
    told_until_ = 0;
  }
  auto description = contents.describe(catalogue, told_until_, last);
  tell(told_, description);
  told_until_ = last + 1;
  description.contents.clear();
  return description;
}

NewXdmfSteps Publication::told_to_xdmf(const contents::Contents& contents,
                                       const contents::Catalogue& catalogue, std::int64_t last) {
  return xdmf_ ? xdmf_steps_.take(contents, catalogue, last, !identity_.file_per_step)
               : NewXdmfSteps{};
}

Publication::Job Publication::drop_step(std::int64_t step) {
  absent_.push_back(step);
  if (!identity_.file_per_step) {
    steps_ = step + 1;
    return [] {};
  }
  return [target = names(step)] { abandon(target); };
}

Publication::Job Publication::commit_file(const contents::Contents& contents,
                                          const contents::Catalogue& catalogue) {
  if (identity_.file_per_step) {
    return [] {};
  }
  return publish_until(steps_ - 1, true, contents, catalogue);
}

void Publication::go_on_after(std::int64_t steps, std::vector<std::int64_t> absent,
                              bool is_published) {
  steps_ = steps;
  absent_ = std::move(absent);
  published_->is_there = is_published;
}

Publication::Job Publication::abandon_file() const {
  if (identity_.file_per_step) {
    return [] {};
  }
  return [target = names(-1), published = published_] {
    if (!published->is_there) {
      abandon(target);
    }
  };
}

}  // namespace iocomp::commit
