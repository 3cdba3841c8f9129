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
}

// Others rely on these.
void check(const std::vector<steps::PutRecord>& puts) {
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

struct NumberedRuns {
  std::uint64_t number = 0;
  const array::RunList& runs;
};

}  // namespace

void fields(FieldWriter& io, const NumberedRuns& list) {
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

Bytes encode(std::uint64_t number, const array::RunList& runs) {
  return encode_fields(0, Kind::run_list, NumberedRuns{number, runs},
                       runs.size() * sizeof(array::Run));
}

std::pair<std::uint64_t, array::RunList> decode_run_list(std::span<const std::byte> body) {
  FieldReader io{body};
  std::pair<std::uint64_t, array::RunList> list;
  io(list.first);
  runs_of(io, list.second);
  return list;
}

Bytes encode_forget_run_list(std::uint64_t number) {
  return encode_fields(0, Kind::forget_run_list, number);
}

std::uint64_t decode_forget_run_list(std::span<const std::byte> body) {
  return decode_fields<std::uint64_t>(body);
}

Bytes encode(std::uint64_t file, const PutReport& report) {
  return encode_fields(file, Kind::put_report, report);
}

PutReport decode_put_report(std::span<const std::byte> body) {
  auto report = decode_fields<PutReport>(body);
  check(report.puts);
  return report;
}

Bytes encode(std::uint64_t file, const OwnWritten& own) {
  return encode_fields(file, Kind::own_written, own);
}

OwnWritten decode_own_written(std::span<const std::byte> body) {
  auto own = decode_fields<OwnWritten>(body);
  check(own.puts);
  return own;
}

Bytes encode(std::uint64_t file, const Expectation& expectation) {
  return encode_fields(file, Kind::expect, expectation);
}

Expectation decode_expectation(std::span<const std::byte> body) {
  return decode_fields<Expectation>(body);
}

Bytes encode(std::uint64_t file, const FillOrder& order) {
  return encode_fields(file, Kind::fill, order);
}

FillOrder decode_fill_order(std::span<const std::byte> body) {
  return decode_fields<FillOrder>(body);
}

}  // namespace iocomp::protocol
