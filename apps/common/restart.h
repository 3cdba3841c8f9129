// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/part.h"
#include "common/session.h"

namespace iocomp::apps {

/// The name of the checkpoints of every client, in the settings.
inline constexpr const char* checkpoint_name = "restart";

/// A checkpoint to go on from, open as long as this object lives.
class Restart {
 public:
  /// The newest one. Collective over the compute ranks. @return null if there is none.
  static std::unique_ptr<Restart> newest(const Session& session);
  Restart(const Restart&) = delete;
  Restart& operator=(const Restart&) = delete;
  ~Restart() { iocomp_close_input(input_); }

  [[nodiscard]] std::int64_t number() const noexcept { return number_; }
  [[nodiscard]] Indices shape(const std::string& name) const;
  /// The part of this rank.
  void read(const std::string& name, const Part& part, std::span<double> values) const {
    part.read(input_, name, number_, values);
  }
  /// A whole row. @tparam Value  of the type that was put.
  template <typename Value>
  [[nodiscard]] std::vector<Value> row(const std::string& name) const {
    const Indices size = shape(name);
    std::vector<Value> values(static_cast<std::size_t>(size[0]));
    const std::int64_t start = 0;
    check(iocomp_read(input_, name.c_str(), number_, &start, size.data(), values.data()),
          "iocomp_read");
    return values;
  }

 private:
  Restart(iocomp_input* input, std::int64_t number) : input_{input}, number_{number} {}

  iocomp_input* input_;
  std::int64_t number_;
};

}  // namespace iocomp::apps
