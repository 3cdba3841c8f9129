// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/open_folder.h"

namespace iocomp {

/// The folder a file lies in (empty for a plain name), and its name there.
[[nodiscard]] std::string folder_of(const std::string& path);
[[nodiscard]] std::string name_in_folder(const std::string& path);

/// A path that was resolved: a name in a folder that is held open. Copies share the folder.
class Path {
 public:
  /// No path.
  Path() = default;
  /// Resolve it now. @throws Error{storage_failure} if its folder cannot be opened.
  explicit Path(const std::string& text);
  Path(std::shared_ptr<const OpenFolder> folder, std::string name)
      : folder_{std::move(folder)}, name_{std::move(name)} {}
  /// No path, and the failure that `folder` throws.
  explicit Path(Outcome failure) : failure_{std::make_shared<const Outcome>(std::move(failure))} {}

  /// @throws Error for no path: this rank has not come to the folder of its file.
  [[nodiscard]] const OpenFolder& folder() const;
  [[nodiscard]] const std::shared_ptr<const OpenFolder>& shared_folder() const noexcept {
    return folder_;
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Text for messages: the path as the user has said it.
  [[nodiscard]] std::string text() const { return folder_ ? folder_->text(name_) : name_; }
  /// A path to another name in the same folder.
  [[nodiscard]] Path beside(std::string name) const {
    Path path = *this;
    path.name_ = std::move(name);
    return path;
  }
  /// The same name with an ending.
  [[nodiscard]] Path operator+(const std::string& ending) const { return beside(name_ + ending); }

  [[nodiscard]] bool is_there() const { return folder().has(name_); }

 private:
  std::shared_ptr<const OpenFolder> folder_;
  std::string name_;
  std::shared_ptr<const Outcome> failure_;
};

}  // namespace iocomp
