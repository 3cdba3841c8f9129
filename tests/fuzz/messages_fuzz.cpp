// SPDX-License-Identifier: BSD-3-Clause
// The wire's receiving side: the header, and the bodies of all kinds of messages. The first byte
// chooses the decoder. What is decoded is encoded again, and that is read as the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"
#include "base/error.h"
#include "client/exchange/exchange_runs.h"
#include "contents/catalogue.h"
#include "fuzz/target.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "reading/committed.h"

namespace iocomp::fuzz {
namespace {

using protocol::Bytes;
using protocol::Kind;
using Body = std::span<const std::byte>;

constexpr std::uint64_t file = 0x0123456789abcdef;

/// Decodes, and gives what a sender would have sent.
using Again = std::function<Bytes(Body)>;

Bytes body_of(const Bytes& message) {
  (void)protocol::check_header(message, 1);
  const auto body = protocol::body(message);
  return {body.begin(), body.end()};
}

void check(const array::RunList& runs) {
  std::int64_t elements = 0;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    require(runs.run(i).elements > 0 && runs.run(i).index >= end, "runs that do not ascend");
    end = runs.run(i).index + runs.run(i).elements;
    elements += runs.run(i).elements;
  }
  require(elements == runs.elements() && end == runs.end(), "a list of runs that miscounts");
  require(runs.elements_below(end) == elements, "elements below the end");
}

void check(const array::Region& region) {
  if (region.runs) {
    check(*region.runs);
  }
  require(array::elements(region) >= 0, "less than no elements");
  (void)array::text(region);
}

Bytes again_puts(Body body) {
  const auto report = protocol::decode<protocol::PutReport>(body);
  for (const auto& put : report.puts) {
    check(put.part.region);
  }
  return body_of(encode(file, Kind::put_report, report));
}

Bytes again_own(Body body) {
  const auto own = protocol::decode<protocol::OwnWritten>(body);
  for (const auto& put : own.puts) {
    check(put.part.region);
  }
  return body_of(encode(file, Kind::own_written, own));
}

Bytes again_runs(Body body) {
  const auto list = protocol::decode<protocol::NumberedRuns>(body);
  check(list.runs);
  return body_of(encode(0, Kind::run_list, list));
}

Bytes again_fill(Body body) {
  const auto order = protocol::decode<protocol::FillOrder>(body);
  for (const auto& [variable, runs] : order.holes) {
    check(runs);
  }
  return body_of(encode(file, Kind::fill, order));
}

Bytes again_piece(Body body) {
  const auto piece = protocol::decode<protocol::Piece>(body);
  check(piece.box);
  require(piece.chunk_elements != 0 || piece.inside.size() == piece.chunk_bytes(piece.count),
          "a piece with other bytes than it says");
  return body_of(encode(file, Kind::piece, piece));
}

Bytes again_definition(Body body) {
  const auto event = contents::decode_event(body);
  require(!contents::text(event).empty() && event.attribute.count() >= 0, "an event without text");
  return contents::encode(event);
}

// Lists of runs, and that they are forgotten, as ranks tell one another who exchange blocks.
Bytes again_news(Body body) {
  client::ExchangedRuns runs;
  runs.hear(3, body);
  for (std::uint64_t number = 0; number < 4; ++number) {
    (void)accepts([&] { check(*runs.list(3, number)); });
  }
  return {};
}

Bytes again_header(Body body) {
  const auto header = protocol::check_header(body, 1);
  return protocol::message(header.kind, header.file, protocol::body(body));
}

const std::vector<Again>& decoders() {
  static const std::vector<Again> all{
      &again_header,
      [](Body b) { return body_of(encode(file, Kind::open, protocol::decode<protocol::Open>(b))); },
      [](Body b) {
        return body_of(encode(file, Kind::event, protocol::decode<protocol::Event>(b)));
      },
      &again_piece,
      [](Body b) {
        return body_of(encode(file, Kind::end_step, protocol::decode<protocol::StepCounts>(b)));
      },
      [](Body b) {
        return body_of(encode(file, Kind::placed, protocol::decode<protocol::StepNote>(b)));
      },
      [](Body b) {
        return body_of(encode(file, Kind::action, protocol::decode<protocol::ActionNote>(b)));
      },
      [](Body b) {
        return body_of(encode(file, Kind::opened, protocol::decode<protocol::Opened>(b)));
      },
      [](Body b) { return body_of(encode(file, Kind::closed, protocol::decode<Outcome>(b))); },
      [](Body b) {
        return body_of(
            protocol::encode(0, Kind::notices, protocol::decode<std::vector<protocol::Notice>>(b)));
      },
      [](Body b) {
        return body_of(protocol::encode(0, Kind::all_bye, protocol::decode<protocol::Counters>(b)));
      },
      &again_runs,
      [](Body b) {
        return body_of(
            protocol::encode(0, Kind::forget_run_list, protocol::decode<std::uint64_t>(b)));
      },
      &again_puts,
      &again_own,
      [](Body b) {
        return body_of(encode(file, Kind::expect, protocol::decode<protocol::Expectation>(b)));
      },
      &again_fill,
      &again_definition,
      [](Body b) { return reading::encode(reading::decode_committed(b)); },
      &again_news,
  };
  return all;
}

}  // namespace
}  // namespace iocomp::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iocomp;
  fuzz::Material material{data, size};
  const auto& decoders = fuzz::decoders();
  const auto& again = decoders[material.number<std::uint8_t>() % decoders.size()];
  const fuzz::MemoryLimit limit{32 * size + (std::size_t{8} << 10)};
  fuzz::Bytes once;
  if (fuzz::accepts([&] { once = again(material.bytes_left()); })) {
    fuzz::Bytes twice;
    fuzz::must("what was encoded is refused", [&] { twice = again(once); });
    fuzz::require(once == twice, "it changes on its way");
  }
  return 0;
}
