// Whether the puts of a step cover its variables exactly once; what becomes of the others.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "array/coverage.h"
#include "array/region.h"
#include "array/run_list.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/overlap.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/lead.h"

namespace iocomp::server {

using protocol::Kind;

// A simulation leaves the same holes in every step.
const LeadFile::Gaps* LeadFile::known_gaps(std::int64_t step, std::int32_t variable) {
  const auto known = gaps_.find(variable);
  const bool is_same = known != gaps_.end() &&
                       known->second.cover == steps_[step].sum.variables[variable] &&
                       known->second.shape == catalogue_.variable(variable, step).shape;
  return is_same ? &known->second : nullptr;
}

// What a new file holds where nothing was written need not be written.
void LeadFile::note_gaps(std::int64_t step, std::int32_t variable, const Gaps& gaps) {
  if (gaps.holes->size() > 0 && !catalogue_.fill(variable, step).empty()) {
    steps_[step].holes[variable] = gaps.holes;
  }
}

protocol::Expectation LeadFile::expectation(std::int64_t number) {
  protocol::Expectation expectation{number, 0, {}};
  Step& step = steps_[number];
  for (const auto& [variable, cover] : step.sum.variables) {
    if (variable >= catalogue_.variables()) {
      continue;  // ranks whose definitions differ are found out in another way
    }
    if (cover == array::cover_of_all(catalogue_.variable(variable, number).shape) ||
        (settings_.may_overlap && catalogue_.fill(variable, number).empty())) {
      continue;
    }
    if (const Gaps* const gaps = known_gaps(number, variable)) {
      note_gaps(number, variable, *gaps);
    } else {
      step.unsure.push_back(variable);
    }
  }
  expectation.report = step.unsure;
  return expectation;
}

void LeadFile::put_report(protocol::PutReport report) {
  std::ranges::move(report.puts, std::back_inserter(steps_[report.step].puts));
}

void LeadFile::examine(std::int64_t number) {
  Step& step = steps_[number];
  auto questions = std::make_shared<std::vector<Question>>();
  for (const auto variable : std::exchange(step.unsure, {})) {
    Question question{variable, catalogue_.variable(variable, number).shape, {}, {}, {}};
    for (const auto& put : step.puts) {
      if (put.variable == variable) {
        question.parts.push_back(put.part);
        question.ranks.push_back(put.rank);
      }
    }
    questions->push_back(std::move(question));
  }
  step.puts = {};
  ++examining_;
  context_.submit(
      [questions] {
        for (auto& question : *questions) {
          question.found = array::coverage_of(question.shape, question.parts);
        }
      },
      [this, number, questions](const Outcome& outcome) {
        --examining_;
        examined(number, *questions, outcome);
      });
}

void LeadFile::examined(std::int64_t number, const std::vector<Question>& questions,
                        const Outcome& outcome) {
  Step& step = steps_[number];
  step.failure = outcome;
  for (const auto& question : questions) {
    if (!step.failure.ok()) {
      break;
    }
    if (const auto& overlap = question.found.overlap; overlap && !settings_.may_overlap) {
      const auto whose = [&](std::size_t part) {
        return contents::whose_put(question.ranks[part], question.parts[part].region);
      };
      step.failure =
          in_file(contents::overlap(catalogue_.variable(question.variable, number), overlap->index,
                                    whose(overlap->one), whose(overlap->other)),
                  number);
      break;
    }
    const Gaps gaps{step.sum.variables[question.variable], question.shape,
                    std::make_shared<const array::RunList>(question.found.holes)};
    gaps_.insert_or_assign(question.variable, gaps);
    note_gaps(number, question.variable, gaps);
  }
  if (!step.failure.ok() || step.holes.empty()) {
    step.complete = true;
    advance();
  } else {
    fill_holes(number);
  }
}

// By all servers, as much each. They answer with `step_done`.
void LeadFile::fill_holes(std::int64_t number) {
  Step& step = steps_[number];
  const auto holes = std::exchange(step.holes, {});
  const std::int64_t servers = context_.place.ranks.size();
  for (std::int64_t server = 0; server < servers; ++server) {
    protocol::FillOrder order{number, {}};
    for (const auto& [variable, runs] : holes) {
      const std::int64_t all = runs->elements();
      const std::int64_t first = all / servers * server + std::min(all % servers, server);
      const std::int64_t count = all / servers + (server < all % servers ? 1 : 0);
      if (count > 0) {
        order.holes.emplace(variable, runs->part(first, count));
      }
    }
    context_.post.to_server(static_cast<int>(server), protocol::encode(key_, order));
  }
}

}  // namespace iocomp::server
