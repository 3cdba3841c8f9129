// SPDX-License-Identifier: BSD-3-Clause
#include "protocol/put_messages.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
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
#include "base/wire.h"
#include "protocol/header.h"
#include "steps/put_log.h"

namespace iocomp::protocol {
namespace {

void put_runs(WireWriter& writer, const array::RunList& runs) {
  writer.put(static_cast<std::uint64_t>(runs.size()));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    writer.put(runs.run(i));
  }
}

array::RunList get_runs(WireReader& reader) {
  const auto size = reader.get_count(sizeof(array::Run));
  array::RunList runs;
  runs.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto run = reader.get<array::Run>();
    if (run.index < runs.end() || run.elements <= 0 ||
        run.elements > std::numeric_limits<std::int64_t>::max() - run.index) {
      throw Error{ErrorCode::internal, "the runs of a list do not ascend"};
    }
    runs.append(run);
  }
  return runs;
}

void put(WireWriter& writer, const std::vector<steps::PutRecord>& puts) {
  writer.put(static_cast<std::uint64_t>(puts.size()));
  for (const auto& put : puts) {
    writer.put(put.variable);
    writer.put(put.rank);
    writer.put(put.part.first);
    writer.put(put.part.count);
    writer.put(put.part.region.runs != nullptr);
    if (put.part.region.runs) {
      put_runs(writer, *put.part.region.runs);
    } else {
      writer.put(put.part.region.box);
    }
  }
}

constexpr std::size_t least_bytes_of_put =  // of a list without runs
    2 * sizeof(std::int32_t) + 3 * sizeof(std::int64_t) + sizeof(bool);

std::vector<steps::PutRecord> get_puts(WireReader& reader) {
  std::vector<steps::PutRecord> puts(reader.get_count(least_bytes_of_put));
  for (auto& put : puts) {
    put.variable = reader.get<std::int32_t>();
    put.rank = reader.get<std::int32_t>();
    put.part.first = reader.get<std::int64_t>();
    put.part.count = reader.get<std::int64_t>();
    if (reader.get_truth()) {
      put.part.region = std::make_shared<const array::RunList>(get_runs(reader));
    } else {
      const auto box = reader.get<array::Box>();
      array::check(box);
      put.part.region = box;
    }
    const auto elements = array::elements(put.part.region);
    if (put.part.first < 0 || put.part.count < 0 || put.part.first > elements ||
        put.part.count > elements - put.part.first) {
      throw Error{ErrorCode::internal, "a message has a put of " + std::to_string(put.part.count) +
                                           " elements from " + std::to_string(put.part.first) +
                                           " on of " + array::text(put.part.region)};
    }
  }
  return puts;
}

}  // namespace

Bytes encode(std::uint64_t number, const array::RunList& runs) {
  WireWriter writer;
  writer.reserve(2 * sizeof number + runs.size() * sizeof(array::Run));
  writer.put(number);
  put_runs(writer, runs);
  return message(Kind::run_list, 0, writer.take());
}

std::pair<std::uint64_t, array::RunList> decode_run_list(std::span<const std::byte> body) {
  WireReader reader{body};
  const auto number = reader.get<std::uint64_t>();
  return {number, get_runs(reader)};
}

Bytes encode_forget_run_list(std::uint64_t number) {
  WireWriter writer;
  writer.put(number);
  return message(Kind::forget_run_list, 0, writer.take());
}

std::uint64_t decode_forget_run_list(std::span<const std::byte> body) {
  return WireReader{body}.get<std::uint64_t>();
}

Bytes encode(std::uint64_t file, const PutReport& report) {
  WireWriter writer;
  writer.put(report.step);
  put(writer, report.puts);
  return message(Kind::put_report, file, writer.take());
}

PutReport decode_put_report(std::span<const std::byte> body) {
  WireReader reader{body};
  PutReport report;
  report.step = reader.get<std::int64_t>();
  report.puts = get_puts(reader);
  return report;
}

Bytes encode(std::uint64_t file, const OwnWritten& own) {
  WireWriter writer;
  writer.put(own.step);
  writer.put(own.outcome.code);
  writer.put_text(own.outcome.story);
  put(writer, own.puts);
  return message(Kind::own_written, file, writer.take());
}

OwnWritten decode_own_written(std::span<const std::byte> body) {
  WireReader reader{body};
  OwnWritten own;
  own.step = reader.get<std::int64_t>();
  own.outcome.code = reader.get<ErrorCode>();
  own.outcome.story = reader.get_text();
  own.puts = get_puts(reader);
  return own;
}

Bytes encode(std::uint64_t file, const Expectation& expectation) {
  WireWriter writer;
  writer.put(expectation.step);
  writer.put(expectation.pieces);
  writer.put_bytes(std::as_bytes(std::span{expectation.report}));
  writer.put(expectation.ends_stripes);
  return message(Kind::expect, file, writer.take());
}

Expectation decode_expectation(std::span<const std::byte> body) {
  WireReader reader{body};
  Expectation expectation;
  expectation.step = reader.get<std::int64_t>();
  expectation.pieces = reader.get<std::int64_t>();
  const auto report = reader.get_bytes();
  if (report.size() % sizeof(std::int32_t) != 0) {
    throw Error{ErrorCode::internal, "a message ends within a number"};
  }
  expectation.report.resize(report.size() / sizeof(std::int32_t));
  if (!report.empty()) {
    std::memcpy(expectation.report.data(), report.data(), report.size());
  }
  expectation.ends_stripes = reader.get_truth();
  return expectation;
}

Bytes encode(std::uint64_t file, const FillOrder& order) {
  WireWriter writer;
  writer.put(order.step);
  writer.put(static_cast<std::uint64_t>(order.holes.size()));
  std::shared_ptr<const array::RunList> before;
  for (const auto& [variable, runs] : order.holes) {
    writer.put(variable);
    writer.put(runs == before);
    if (runs != before) {
      put_runs(writer, *runs);
      before = runs;
    }
  }
  return message(Kind::fill, file, writer.take());
}

FillOrder decode_fill_order(std::span<const std::byte> body) {
  WireReader reader{body};
  FillOrder order;
  order.step = reader.get<std::int64_t>();
  const auto variables = reader.get<std::uint64_t>();
  std::shared_ptr<const array::RunList> runs;
  for (std::uint64_t i = 0; i < variables; ++i) {
    const auto variable = reader.get<std::int32_t>();
    if (!reader.get_truth()) {
      runs = std::make_shared<const array::RunList>(get_runs(reader));
    } else if (runs == nullptr) {
      throw Error{ErrorCode::internal, "the first list of a message is that of one before it"};
    }
    order.holes.emplace(variable, runs);
  }
  return order;
}

}  // namespace iocomp::protocol
