// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/commit.h"
#include "config/file_settings.h"
#include "config/settings.h"
#include "contents/catalogue.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "mpi/peers.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "server/context.h"
#include "server/post_office.h"
#include "server/served_file.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "steps/tree.h"
#include "unit/temporary_folder.h"
#include "unit/wire.h"
#include "unit/writing/fake_target.h"

namespace iocomp::server {

/// The parts of the one server of a session, with its compute ranks 0 and 1 at the other
/// end of a wire: session ranks 1 and 2. It writes a file "out" with the variables "u" and "v" of
/// 128 KiB.
class OneServer : public testing::Test {
 protected:
  static constexpr std::uint64_t key = 7;
  static constexpr std::int64_t elements = 128 << 10;  // of a byte
  static constexpr std::size_t page = staging::Arena::page_bytes;

  /// A format that writes whole steps, slowly.
  static formats::Format whole_steps(writing::Asked& asked) {
    return formats::Format{
        {.rules = {.format = "whole_steps"}, .extension = ".bin", .kind = formats::Kind::step},
        [&asked](const auto& /*path*/, const auto& /*options*/, const auto& /*writers*/) {
          sleep();
          return std::make_unique<writing::FakeStepTarget>(asked);
        }};
  }
  static constexpr double slow_seconds = 0.01;
  static void sleep() { std::this_thread::sleep_for(std::chrono::duration<double>{slow_seconds}); }

  /// @param servers  that there seem to be.
  explicit OneServer(int servers = 1)
      : post_{wire_, place().ranks, steps::Tree{servers, 8, 0}, [] { return false; },
              [](std::uint64_t) {}} {}

  static Place place() {
    Place made;
    made.servers = MPI_COMM_SELF;
    made.ranks = mpi::Peers{MPI_COMM_SELF, mpi::group_of(MPI_COMM_SELF)};
    made.clients = {{1, 0}, {2, 1}};
    made.client_counts = {2};
    made.job = "here-1";
    return made;
  }
  static disk::Options threads() {
    disk::Options options;
    options.engine = disk::EngineKind::threads;
    return options;
  }

  ServedFile& open(const formats::Format& format,
                   config::WhenFull when_full = config::WhenFull::wait) {
    auto settings = config::file_settings(settings_, "out", "series");
    settings.path = folder_ / "out.bin";
    settings.when_full = when_full;
    write_text(temporary(), "");
    protocol::Open open;
    open.name = "out";
    open.members = open.home_members = 2;
    open.domain_bytes = static_cast<std::int64_t>(page);
    open.beginning.folder = OpenFolder{folder_ / ""}.address();
    file_ = std::make_unique<ServedFile>(context_, key, open, settings, format);
    for (const char* const name : {"u", "v"}) {
      contents::Event event;
      event.what = contents::Event::What::define;
      event.name = name;
      event.type = array::ElementType::uint8;
      event.shape = {1, {elements}};
      file_->apply({events_++, 0, contents::encode(event)});
    }
    return *file_;
  }
  ServedFile& open() { return open(formats::format("posix")); }
  [[nodiscard]] std::string temporary() const {
    return commit::target_names(Path{folder_ / "out.bin"}, -1, "here-1").temporary.text();
  }

  /// A piece that has come from a session rank. Its bytes are inside, or are offered in chunks.
  [[nodiscard]] protocol::Piece piece(int client, std::int32_t variable, std::int64_t first,
                                      std::int64_t count, std::int64_t chunk = 0) {
    protocol::Piece made;
    made.variable = variable;
    made.events = events_;
    made.ticket = ++tickets_;
    made.sender = client - 1;
    made.box = array::Box{1, {first}, {count}};
    made.count = count;
    made.chunk_elements = chunk;
    made.element_bytes = 1;
    if (chunk == 0) {
      made.inside = std::span{values_}.first(static_cast<std::size_t>(count));
    } else {
      auto& offered = wire_.offered[client];
      offered.insert(offered.end(), values_.begin(), values_.begin() + count);
    }
    return made;
  }
  /// All that was given to the disk ends.
  void finish() {
    file_->writer().files().submit();
    do {
      while (!context_.plans.empty()) {
        engine_->wait(std::chrono::minutes{1});
        for (const auto& completion : engine_->take_completed()) {
          context_.ended(completion);
        }
      }
    } while (file_->writer().advance());
    post_.flush();
  }
  /// The news of a session rank about its pieces, in words: "1 written".
  [[nodiscard]] std::vector<std::string> told(int client) const {
    constexpr std::array names{"", "written", "durable", "failed", "settled", "file failed"};
    std::vector<std::string> all;
    for (const auto& body : wire_.bodies(client, protocol::Kind::notices)) {
      for (const auto& notice : protocol::decode<std::vector<protocol::Notice>>(body)) {
        all.push_back(std::to_string(notice.number) + ' ' +
                      names.at(static_cast<std::size_t>(notice.about)));
      }
    }
    return all;
  }

  TemporaryFolder folder_;
  config::Settings settings_;
  disk::Options disk_ = threads();
  Wire wire_;
  staging::Arena arena_{std::size_t{1} << 20};
  staging::ArenaStripes stripes_{arena_};
  std::unique_ptr<disk::Engine> engine_ = disk::start_engine(disk_);
  SideJobs jobs_{"iocomp-commit"};
  PostOffice post_;
  Context context_{.settings = settings_,
                   .policy = mpi::WaitPolicy{mpi::usual_deadline_seconds},
                   .disk = disk_,
                   .place = place(),
                   .arena = arena_,
                   .stripes = stripes_,
                   .engine = *engine_,
                   .jobs = jobs_,
                   .post = post_,
                   .counters = {},
                   .is_given_up = [] { return false; },
                   .was_given_up = [] { return false; },
                   .plans = {},
                   .ordered = {}};
  writing::Asked asked_;
  formats::Format whole_steps_ = whole_steps(asked_);
  std::vector<std::byte> values_ =
      std::vector<std::byte>(static_cast<std::size_t>(elements), std::byte{5});
  std::int64_t events_ = 0;
  std::uint64_t tickets_ = 0;
  std::unique_ptr<ServedFile> file_;
};

}  // namespace iocomp::server
