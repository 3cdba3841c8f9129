// SPDX-License-Identifier: BSD-3-Clause
#include "api/handed_out.h"

#include <cstdint>
#include <string>
#include <vector>

#include "session/session.h"

namespace iocomp::api {

HandedOut::HandedOut(const session::Input& input) {
  for (const auto& step : input.committed().steps) {
    steps_.push_back(step.number);
  }
  for (const auto& torn : input.committed().torn) {
    left_out_.push_back(torn.step);
    causes_.push_back(torn.story.c_str());
  }
  for (const auto& variable : input.committed().variables) {
    variables_.push_back(variable.name.c_str());
  }
}

const std::vector<const char*>& HandedOut::names(const session::Attributes& all) const {
  std::vector<const char*>& names = names_[&all];
  if (names.empty()) {
    for (const auto& [name, attribute] : all) {
      names.push_back(name.c_str());
    }
  }
  return names;
}

const char* HandedOut::text(const session::Attribute& attribute) const {
  const auto* const first = reinterpret_cast<const char*>(attribute.values.data());
  return texts_.try_emplace(&attribute, first, attribute.values.size()).first->second.c_str();
}

const std::vector<const char*>& HandedOut::texts(const session::Attribute& attribute) const {
  return lists_.try_emplace(&attribute, contents::c_texts_of(attribute)).first->second;
}

}  // namespace iocomp::api
