#pragma once

#include <string_view>

#include "contents/rules.h"
#include "contents/variable.h"

namespace iocomp::steps {

/// Rules that allow everything.
class Anything : public contents::Rules {
 public:
  [[nodiscard]] std::string_view name() const override { return "anything"; }
  void check(const contents::Variable&) const override {}
};

}  // namespace iocomp::steps
