// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/engine.h"
#include "disk/options.h"

namespace iocomp::disk {

inline const auto every_engine = testing::Values(EngineKind::uring, EngineKind::threads);

inline std::string engine_name(const testing::TestParamInfo<EngineKind>& tested) {
  switch (tested.param) {
    case EngineKind::uring:
      return "Uring";
    case EngineKind::threads:
      return "Threads";
    case EngineKind::automatic:
      return "Automatic";
  }
  return {};
}

/// With an engine of each kind that can be had.
class WithEngine : public testing::TestWithParam<EngineKind> {
 protected:
  void SetUp() override {
    try {
      engine_ = start_engine({.engine = GetParam()});
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  std::unique_ptr<Engine> engine_;
};

inline std::vector<Completion> wait_for_all(Engine& engine) {
  std::vector<Completion> all;
  while (engine.outstanding() > 0) {
    engine.wait(std::chrono::minutes{1});
    for (Completion& completion : engine.take_completed()) {
      all.push_back(std::move(completion));
    }
  }
  return all;
}

}  // namespace iocomp::disk
