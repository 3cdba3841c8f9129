// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/put_messages.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "base/error.h"
#include "protocol/fields.h"
#include "protocol/header.h"
#include "steps/put_log.h"

namespace iocomp::protocol {
namespace {

using Runs = std::shared_ptr<const array::RunList>;

void runs_of(FieldWriter& io, const array::RunList& runs) {
  io(static_cast<std::uint64_t>(runs.size()));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    io(runs.run(i));
  }
}

void runs_of(FieldReader& io, array::RunList& runs) {
  auto left = io.count(sizeof(array::Run));
  runs.reserve(left);
  for (array::Run run; left > 0; --left) {
    io(run);
    if (run.index < runs.end() || run.elements <= 0 ||
        run.elements > std::numeric_limits<std::int64_t>::max() - run.index) {
      throw Error{ErrorCode::internal, "the runs of a list do not ascend"};
    }
    runs.append(run);
  }
}

void runs_of(FieldWriter& io, const Runs& runs) { runs_of(io, *runs); }

void runs_of(FieldReader& io, Runs& runs) {
  auto read = std::make_shared<array::RunList>();
  runs_of(io, *read);
  runs = std::move(read);
}

// Others rely on these.
void check(const FieldReader& /*io*/, const std::vector<steps::PutRecord>& puts) {
  for (const auto& put : puts) {
    const array::Part& part = put.part;
    if (!part.region.runs) {
      array::check(part.region.box);
    }
    const auto elements = array::elements(part.region);
    if (part.first < 0 || part.count < 0 || part.first > elements ||
        part.count > elements - part.first) {
      throw Error{ErrorCode::internal, "a message has a put of " + std::to_string(part.count) +
                                           " elements from " + std::to_string(part.first) +
                                           " on of " + array::text(part.region)};
    }
  }
}

void put_fields(auto& io, auto& puts) {
  io.each(puts, [](auto& in, auto& put) {
    auto& region = put.part.region;
    bool has_runs = region.runs != nullptr;
    in(put.variable, put.rank, put.part.first, put.part.count, has_runs);
    if (has_runs) {
      runs_of(in, region.runs);
    } else {
      in(region.box);
    }
  });
  check(io, puts);
}

// Variables that follow one another often have the same holes.
void put_holes(FieldWriter& io, const steps::Holes& holes) {
  io(static_cast<std::uint64_t>(holes.size()));
  Runs before;
  for (const auto& [variable, runs] : holes) {
    io(variable, runs == before);
    if (runs != before) {
      runs_of(io, runs);
      before = runs;
    }
  }
}

void put_holes(FieldReader& io, steps::Holes& holes) {
  Runs runs;
  for (auto left = io.count(1); left > 0; --left) {
    std::int32_t variable = 0;
    bool is_as_before = false;
    io(variable, is_as_before);
    if (!is_as_before) {
      runs_of(io, runs);
    } else if (runs == nullptr) {
      throw Error{ErrorCode::internal, "the first list of a message is that of one before it"};
    }
    holes.emplace(variable, runs);
  }
}

}  // namespace

void fields(auto& io, Is<NumberedRuns> auto& list) {
  io(list.number);
  runs_of(io, list.runs);
}

void fields(auto& io, Is<std::uint64_t> auto& number) { io(number); }

void fields(auto& io, Is<PutReport> auto& report) {
  io(report.step);
  put_fields(io, report.puts);
}

void fields(auto& io, Is<OwnWritten> auto& own) {
  io(own.step, own.outcome);
  put_fields(io, own.puts);
}

void fields(auto& io, Is<Expectation> auto& expectation) {
  io(expectation.step, expectation.pieces, expectation.report, expectation.ends_stripes);
}

void fields(auto& io, Is<FillOrder> auto& order) {
  io(order.step);
  put_holes(io, order.holes);
}

template Bytes encode(std::uint64_t, Kind, const NumberedRuns&);
template NumberedRuns decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const std::uint64_t&);
template std::uint64_t decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const PutReport&);
template PutReport decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const OwnWritten&);
template OwnWritten decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const Expectation&);
template Expectation decode(std::span<const std::byte>);
template Bytes encode(std::uint64_t, Kind, const FillOrder&);
template FillOrder decode(std::span<const std::byte>);

}  // namespace iocomp::protocol
