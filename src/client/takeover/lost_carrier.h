// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "contents/catalogue.h"

namespace iocomp::client {

/// Carries a file that cannot be finished without its lost servers. Every call is told so, except
/// waits for committed steps, and nobody waits. It also carries a file that servers have closed
/// without telling this rank: then `why` is ok.
class LostCarrier : public Carrier {
 public:
  LostCarrier(std::uint64_t key, Outcome why, Link& link,
              std::function<bool(std::int64_t)> is_committed)
      : key_{key}, why_{std::move(why)}, link_{link}, is_committed_{std::move(is_committed)} {
    if (!why_.ok()) {
      const auto from_step = link_.progress().standing(key_).settled;
      link_.failures().add_cause(key_, from_step, why_);
      link_.progress().lost(key_, from_step, why_);
    } else {
      link_.progress().closed(key_);
    }
    link_.tickets().for_each([&](std::uint64_t, Ticket& ticket) {
      if (ticket.file == key_ && !ticket.settled()) {
        ticket.posts.clear();
        ticket.kept = false;
        ticket.durable = why_.ok() ? ticket.pieces : ticket.durable;
        ticket.written = why_.ok() ? ticket.pieces : ticket.written;
        if (ticket.failure.ok()) {
          ticket.fail(why_);
        }
      }
    });
  }

  void announce(const contents::Event&, std::int64_t) override { tell(); }
  void enter_step(std::int64_t) override { tell(); }
  void put(const Block&) override { tell(); }
  void put_nothing(const Block&) override { tell(); }
  void end_step(std::int64_t, const StepEnd&) override { tell(); }
  [[nodiscard]] bool is_lost() const override { return !why_.ok(); }
  void wait_step(std::int64_t step) override {
    if (is_committed_(step)) {
      return;
    }
    const auto& failures = link_.file(key_).failures;
    if (const auto failed = failures.find(step); failed != failures.end()) {
      tell(failed->second);
    }
    if (why_.ok()) {
      throw Error{ErrorCode::storage_failure,
                  "step " + std::to_string(step) + " was not committed before the file was closed"};
    }
    tell();
  }
  void urge(std::uint64_t, State) override {}
  void begin_close(std::int64_t, const StepEnd&) override {}
  [[nodiscard]] bool is_closed() override { return true; }
  [[nodiscard]] Outcome close() override { return why_; }
  [[nodiscard]] std::int64_t give_up(std::int64_t, const Outcome&) override { return 0; }

 private:
  [[noreturn]] void tell() { tell(why_); }
  [[noreturn]] void tell(const Outcome& failure) { link_.failures().tell(key_, failure); }

  std::uint64_t key_;
  Outcome why_;
  Link& link_;
  std::function<bool(std::int64_t)> is_committed_;
};

}  // namespace iocomp::client
