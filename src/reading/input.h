// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "base/crew.h"
#include "base/open_folder.h"
#include "formats/source.h"
#include "reading/committed.h"

namespace iocomp::reading {

/// Stands for the number of the newest step: of a variable, the newest one that has it.
inline constexpr std::int64_t newest_step = -1;

/// The arguments of a read. Pointers may be null as iocomp.h allows.
struct ReadArguments {
  const std::int64_t* start = nullptr;
  const std::int64_t* count = nullptr;
  void* values = nullptr;
  const std::int64_t* memory_shape = nullptr;
  const std::int64_t* memory_start = nullptr;
  /// The type of the values; empty: that of the file, where the newest step has the same.
  std::optional<array::ElementType> type{};
};

/// A committed file or set of files, open for reading on this rank. All calls are local. Any number
/// of threads may call `read` at a time.
class Input {
 public:
  using Place = Committed::Place;
  using Variable = Committed::Variable;
  /// Called with the bytes that each read has brought.
  using HasRead = std::function<void(std::int64_t bytes)>;

  /// Opens the folder. The files are found there even if its path changes.
  /// @param modules  the setting storage.modules.
  /// @param crew  the threads that read large boxes; null: only the caller does.
  /// @throws Error{storage_failure}.
  Input(std::string name, Committed committed, std::string modules, HasRead has_read = {},
        Crew* crew = nullptr);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Committed& committed() const noexcept { return committed_; }

  /// The index of a variable.
  /// @throws Error{not_found} naming the nearest.
  [[nodiscard]] int find(const std::string& variable) const;
  /// @throws Error{invalid_argument} if there is no such index.
  [[nodiscard]] const Variable& variable(std::int64_t index) const;
  /// A variable in a step, which may be `newest_step`.
  /// @throws Error{not_found} telling what there is.
  [[nodiscard]] const Place& place(const std::string& variable, std::int64_t step) const;

  /// @throws Error{not_found} telling which steps there are.
  [[nodiscard]] const Committed::Step& step_of(std::int64_t step) const;

  /// The physical time of a step, which may be `newest_step`, as its writer said. Otherwise it is
  /// the scalar variable "time", if that is a real number; NaN if there is none.
  /// @throws Error{not_found}.
  [[nodiscard]] double time(std::int64_t step);

  /// Read a box. @throws Error naming variable, step and file; Error{storage_failure} also if a
  /// block in it has another checksum than when it was put; Error{unsupported} without a type, if
  /// type or number of dimensions differ from those of the newest step.
  void read(const std::string& variable, std::int64_t step, const ReadArguments& arguments);

  /// The place of a variable in the file of a step, for other programs.
  /// @throws Error{not_found}; Error{unsupported} if other programs cannot find it by themselves.
  [[nodiscard]] formats::Whereabouts whereabouts(const std::string& variable, const Place& where);

  /// Open the file of the newest step, so that it is told now if it cannot be read.
  void try_newest();

 private:
  [[nodiscard]] std::shared_ptr<formats::Source> source(int file);
  [[nodiscard]] formats::Placed placed(const std::string& variable, const Place& where) const;
  void read(const std::string& variable, const Place& where, const array::Box& box,
            const formats::Destination& to);
  void read_converted(const std::string& variable, const Place& where, const array::Box& box,
                      array::ElementType type, const formats::Destination& to);
  void check_is_like_newest(const std::string& variable, const Place& where) const;
  void compare(const Place& where, const array::Box& box, const formats::Destination& read) const;

  std::string name_;
  Committed committed_;
  std::shared_ptr<const OpenFolder> folder_;
  std::string modules_;
  HasRead has_read_;
  Crew* crew_;
  std::unordered_map<std::string, int> index_;  // indices of variables, by name
  std::mutex mutex_;
  // Guarded by that mutex. The file used last is at the end.
  std::deque<std::pair<int, std::shared_ptr<formats::Source>>> open_;
};

}  // namespace iocomp::reading
