#include "storage/publication.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "storage/catalogue.h"
#include "storage/commit.h"
#include "storage/format.h"

namespace iocomp::storage {

Publication::Publication(Identity identity, const Format& format)
    : identity_{std::move(identity)}, format_{&format} {
  if (identity_.path.empty()) {
    identity_.path = identity_.name + std::string{format.extension()};
  }
}

TargetNames Publication::names(std::int64_t step) const {
  return target_names(identity_.path, target_of(step), identity_.job);
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
  return head;
}

Publication::Job Publication::commit_step(std::int64_t step, std::int64_t bytes,
                                          const Contents& contents, const Catalogue& catalogue) {
  const TargetNames target = names(step);
  const bool replace = identity_.replace;
  if (identity_.file_per_step) {
    auto description = contents.describe(catalogue, step, step);
    auto manifest = head(step, 1, bytes);
    manifest.absent.clear();
    kept_.push_back(step);
    std::vector<TargetNames> outdated;
    while (identity_.keep > 0 && kept_.size() > static_cast<std::size_t>(identity_.keep)) {
      outdated.push_back(names(kept_.front()));
      kept_.erase(kept_.begin());
    }
    return [=] {
      write_manifest(target, manifest, description);
      publish(target, replace);
      std::for_each(outdated.begin(), outdated.end(), remove_committed);
    };
  }
  steps_ = step + 1;
  if (!format_->readable_while_open()) {
    return [] {};  // appears as a whole when it is closed
  }
  auto description = contents.describe(catalogue, 0, step);
  const auto manifest = head(0, steps_, bytes);
  return [=, published = published_] {
    write_manifest(target, manifest, description);
    if (!*published) {
      publish(target, replace);
      *published = true;
    }
  };
}

Publication::Job Publication::drop_step(std::int64_t step) {
  absent_.push_back(step);
  if (!identity_.file_per_step) {
    steps_ = step + 1;
    return [] {};
  }
  return [target = names(step)] { abandon(target); };
}

Publication::Job Publication::commit_file(std::int64_t bytes, const Contents& contents,
                                          const Catalogue& catalogue) {
  if (identity_.file_per_step) {
    return [] {};
  }
  const TargetNames target = names(-1);
  auto description = contents.describe(catalogue, 0, steps_);
  const auto manifest = head(0, steps_, bytes);
  return [=, replace = identity_.replace, published = published_] {
    write_manifest(target, manifest, description);
    if (!*published) {
      publish(target, replace);
      *published = true;
    }
  };
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
