#include "storage/publication.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/catalogue.h"
#include "storage/commit.h"
#include "storage/folder_targets.h"
#include "storage/format.h"

namespace iocomp::storage {
namespace {

// Nobody but the format has the files of whole steps open: whoever publishes makes them durable.
std::int64_t settled_bytes(const std::string& path, bool whole_steps) {
  if (whole_steps) {
    make_durable(path);
  }
  return size_of_target(path);
}

}  // namespace

Publication::Publication(Identity identity, const Format& format)
    : identity_{std::move(identity)}, format_{&format} {
  if (identity_.path.empty()) {
    identity_.path = identity_.name + std::string{format.extension()};
  }
}

TargetNames Publication::names(std::int64_t step) const {
  TargetNames names = target_names(identity_.path, target_of(step), identity_.job);
  names.folder_mark = format_->folder_mark();
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
  head.byte_order = format_->byte_order();
  return head;
}

std::int64_t Publication::bytes(std::int64_t step, const Contents& contents,
                                const Catalogue& catalogue) const {
  if (step < 0 || !format_->readable_while_open() || format_->writes_whole_steps()) {
    return 0;
  }
  return format_->offsets_by_layout()
             ? catalogue.layout().end(step)
             : contents.end(catalogue, identity_.file_per_step ? step : 0, step);
}

Publication::Job Publication::commit_step(std::int64_t step, const Contents& contents,
                                          const Catalogue& catalogue) {
  const TargetNames target = names(step);
  const bool replace = identity_.replace;
  const bool whole_steps = format_->writes_whole_steps();
  const bool ends_itself = !format_->readable_while_open() || whole_steps;
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
    return [=, kept = kept_, keep = static_cast<std::size_t>(identity_.keep)]() mutable {
      if (ends_itself) {
        manifest.bytes = settled_bytes(target.temporary, whole_steps);
      }
      publish_described(target, manifest, description, replace);
      kept->push_back(step);
      while (keep > 0 && kept->size() > keep) {
        remove_committed(target_of(kept->front()));
        kept->pop_front();
      }
    };
  }
  steps_ = step + 1;
  if (!format_->readable_while_open()) {
    return [] {};  // appears as a whole when it is closed
  }
  auto description = tell_until(step, contents, catalogue);
  auto manifest = head(0, steps_, bytes(step, contents, catalogue));
  return [=, published = published_, told = told_]() mutable {
    if (whole_steps) {
      manifest.bytes = settled_bytes(*published ? target.target : target.temporary, whole_steps);
    }
    if (*published) {
      write_manifest(target, manifest, description, told);
    } else {
      publish_described(target, manifest, description, replace, told);
      *published = true;
    }
  };
}

// Tell what is not told yet of the steps up to `last`. @return what is left to be told of them.
Description Publication::tell_until(std::int64_t last, const Contents& contents,
                                    const Catalogue& catalogue) {
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

Publication::Job Publication::drop_step(std::int64_t step) {
  absent_.push_back(step);
  if (!identity_.file_per_step) {
    steps_ = step + 1;
    return [] {};
  }
  return [target = names(step)] { abandon(target); };
}

Publication::Job Publication::commit_file(const Contents& contents, const Catalogue& catalogue) {
  if (identity_.file_per_step) {
    return [] {};
  }
  const TargetNames target = names(-1);
  auto description = tell_until(steps_, contents, catalogue);
  auto manifest = head(0, steps_, bytes(steps_ - 1, contents, catalogue));
  const bool whole_steps = format_->writes_whole_steps();
  const bool ends_itself = !format_->readable_while_open() || whole_steps;
  return [=, replace = identity_.replace, published = published_, told = told_]() mutable {
    if (ends_itself) {
      manifest.bytes = settled_bytes(*published ? target.target : target.temporary, whole_steps);
    }
    if (*published) {
      write_manifest(target, manifest, description, told);
    } else {
      publish_described(target, manifest, description, replace, told);
      *published = true;
    }
  };
}

void Publication::go_on_after(std::int64_t steps, std::vector<std::int64_t> absent,
                              bool is_published) {
  steps_ = steps;
  absent_ = std::move(absent);
  *published_ = is_published;
}

Publication::Job Publication::abandon_file() const {
  if (identity_.file_per_step) {
    return [] {};
  }
  return [target = names(-1), published = published_] {
    if (!*published) {
      abandon(target);
    }
  };
}

}  // namespace iocomp::storage
