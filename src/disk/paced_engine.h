// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/pace.h"

namespace iocomp::disk {

/// An engine for files of which some are written at a limited rate: these have a thread each, which
/// sleeps until the file's pace lets the next slice through. Everything else, and all fsyncs, go to
/// another engine.
class PacedEngine : public Engine {
 public:
  PacedEngine(std::unique_ptr<Engine> engine, Options options);

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<std::uint64_t> move(std::span<const std::byte> from,
                                                std::span<std::byte> to) override;
  [[nodiscard]] bool reads(std::span<const std::byte> memory) override;
  [[nodiscard]] Moved moved() const override;
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override;
  [[nodiscard]] std::string name() const override { return engine_->name(); }

 private:
  [[nodiscard]] std::size_t paced_outstanding() const;

  Options options_;
  std::unique_ptr<Engine> engine_;
  std::map<std::shared_ptr<const Pace>, std::unique_ptr<Engine>> paced_;
  Moved moved_;  // by engines that have ended
};

}  // namespace iocomp::disk
