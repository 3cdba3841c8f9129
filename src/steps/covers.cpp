// SPDX-License-Identifier: BSD-3-Clause
#include "steps/covers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "array/cover.h"

namespace iocomp::steps {

void Covers::add(std::int32_t variable, const array::Cover& cover) {
  if (items_.empty() || items_.back().first < variable) {
    items_.emplace_back(variable, cover);
    return;
  }
  const auto place = std::ranges::lower_bound(items_, variable, {}, &Item::first);
  if (place->first == variable) {
    array::add(place->second, cover);
  } else {
    items_.emplace(place, variable, cover);
  }
}

void Covers::add(const Covers& more) {
  Items sum;
  sum.reserve(std::max(items_.size(), more.items_.size()));
  auto mine = items_.cbegin();
  for (const auto& theirs : more.items_) {
    for (; mine != items_.cend() && mine->first < theirs.first; ++mine) {
      sum.push_back(*mine);
    }
    sum.push_back(theirs);
    if (mine != items_.cend() && mine->first == theirs.first) {
      array::add(sum.back().second, mine->second);
      ++mine;
    }
  }
  sum.insert(sum.end(), mine, items_.cend());
  items_ = std::move(sum);
}

const array::Cover& Covers::at(std::int32_t variable) const {
  const auto found = std::ranges::lower_bound(items_, variable, {}, &Item::first);
  if (found == items_.end() || found->first != variable) {
    throw std::out_of_range{"nothing was put of variable " + std::to_string(variable)};
  }
  return found->second;
}

}  // namespace iocomp::steps
