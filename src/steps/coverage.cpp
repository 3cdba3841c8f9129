// SPDX-License-Identifier: BSD-3-Clause
#include "steps/coverage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/coverage.h"
#include "array/element_type.h"
#include "array/region.h"
#include "array/run_list.h"
#include "base/bug.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/ended.h"
#include "steps/put_log.h"

namespace iocomp::steps {
namespace {

constexpr std::int64_t least_share = std::int64_t{1} << 15;  // elements
constexpr std::int64_t page = 4096;

// The failure of a step in which two puts of a variable cover the same element.
Outcome failure_of(const Question& question, const array::Coverage::Overlap& overlap) {
  // "compute rank 3 ([0:4, 8:16])"
  const auto whose = [&](std::size_t part) {
    return "compute rank " + std::to_string(question.ranks[part]) + " (" +
           array::text(question.parts[part].region) + ')';
  };
  return {ErrorCode::overlapping_puts,
          "variable \"" + question.variable.name + "\": puts of " + whose(overlap.one) +
              " and of " + whose(overlap.other) + " overlap: both have element " +
              array::index_text(question.variable.shape, overlap.index)};
}

}  // namespace

// Only as many writers take part as have enough to do. They differ between variables.
Holes share(const Holes& holes, int writer, int writers) {
  Holes mine;
  for (const auto& [variable, runs] : holes) {
    const std::int64_t all = runs->elements();
    const std::int64_t busy = std::clamp<std::int64_t>(all / least_share, 1, writers);
    const std::int64_t number = (writer + variable) % writers;
    const std::int64_t more = all % busy;  // the first ones take one more
    const std::int64_t first = all / busy * number + std::min(more, number);
    const std::int64_t count = all / busy + (number < more ? 1 : 0);
    if (number < busy && count > 0) {
      const bool is_short = has_bug(Bug::hole_at_border_forgotten) && count > 1;
      mine.emplace(variable, count == all && !is_short
                                 ? runs
                                 : std::make_shared<const array::RunList>(
                                       runs->part(first, is_short ? count - 1 : count)));
    }
  }
  return mine;
}

void answer(Question& question) {
  for (const auto& part : question.parts) {
    array::check_inside(question.variable.shape, part.region);
  }
  question.found = array::coverage_of(question.variable.shape, question.parts);
}

// A new file holds zeros where nothing was written. So holes are filled only with another value.
bool Coverage::is_filled(std::int64_t step, std::int32_t variable) const {
  return !catalogue_->fill(variable, step).empty();
}

Coverage::Look Coverage::look(std::int64_t step, const Covers& put) const {
  Look look;
  for (const auto& [variable, cover] : put) {
    if (variable >= catalogue_->variables()) {
      continue;  // differing definitions of members are found elsewhere
    }
    const auto& shape = catalogue_->shape(variable, step);
    if (cover == array::cover_of_all(shape)) {
      continue;
    }
    const bool fills = is_filled(step, variable);
    const auto known = known_.find(variable);
    if (cover == array::Cover{} && fills) {
      array::RunList all;
      all.append({0, array::elements(shape)});
      look.unput.holes.emplace(variable, std::make_shared<const array::RunList>(std::move(all)));
    } else if (known != known_.end() && known->second.cover == cover &&
               known->second.shape == shape) {
      add(step, variable, known->second, look.unput);
    } else if (fills || !may_overlap_) {
      look.unsure.push_back(variable);
    }
  }
  return look;
}

void Coverage::add(std::int64_t step, std::int32_t variable, const Known& known,
                   Unput& unput) const {
  if (known.holes->size() == 0) {
    return;
  }
  const auto element =
      static_cast<std::int64_t>(array::size_bytes(catalogue_->variable(variable, step).type));
  const auto runs = static_cast<std::int64_t>(known.holes->size());
  if (is_filled(step, variable)) {
    unput.holes.insert_or_assign(variable, known.holes);
  } else if (known.holes->elements() < runs * std::max<std::int64_t>(1, page / element)) {
    unput.gaps.insert_or_assign(variable, known.holes);
  }
}

std::vector<Question> Coverage::ask(std::int64_t step, const std::vector<std::int32_t>& variables,
                                    const Covers& put, const std::vector<PutRecord>& puts) const {
  std::vector<Question> questions;
  for (const auto variable : variables) {
    Question question{catalogue_->variable(variable, step), put.at(variable), {}, {}};
    for (const auto& one : puts) {
      if (one.variable == variable) {
        question.parts.push_back(one.part);
        question.ranks.push_back(one.rank);
      }
    }
    questions.push_back(std::move(question));
  }
  return questions;
}

Outcome Coverage::learn(std::int64_t step, const std::vector<Question>& answered, Unput& unput) {
  for (const auto& question : answered) {
    if (const auto& overlap = question.found.overlap; overlap && !may_overlap_) {
      return failure_of(question, *overlap);
    }
  }
  auto found = std::make_shared<const array::RunList>();
  for (const auto& question : answered) {
    const auto variable = static_cast<std::int32_t>(question.variable.id);
    if (*found != question.found.holes) {
      found = std::make_shared<const array::RunList>(question.found.holes);
    }
    Known known{question.cover, question.variable.shape, found};
    add(step, variable, known, unput);
    known_.insert_or_assign(variable, std::move(known));
  }
  return {};
}

}  // namespace iocomp::steps
