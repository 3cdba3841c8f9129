// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "common/session.h"
#include "stream/output.h"

namespace iocomp::apps::stream {

/// Written by iocomp: at most one ticket is open for each variable.
class IocompOutput : public Output {
 public:
  /// Collective over the compute ranks. @param elements  per rank; the variables have elements *
  /// ranks. @param first  of the kernels whose arrays are put; those behind it are, too.
  IocompOutput(const Session& session, std::int64_t elements, Kernel first);

 private:
  void start_put(Kernel kernel, std::span<const double> values) override;
  void finish_put(Kernel kernel) override;
  void finish_step() override;
  void make_progress() override;
  void make_durable() override;

  const Session& session_;
  std::int64_t start_ = 0;
  std::int64_t count_ = 0;
  iocomp_file* file_ = nullptr;
  std::array<iocomp_var*, kernel_count> variables_{};
  std::array<iocomp_ticket, kernel_count> tickets_{};
};

}  // namespace iocomp::apps::stream
