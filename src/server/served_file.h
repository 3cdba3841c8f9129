// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "array/region.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "writer/writer_file.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::server {

/// The compute ranks that wait for what they have put into a file, and up to which step.
class Hurry {
 public:
  /// @param durable  true if it waits until that is durable, false if until it is written.
  void note(int client, std::int64_t step, bool durable);
  [[nodiscard]] bool for_written(int client, std::int64_t step) const {
    return covers(written_, client, step);
  }
  [[nodiscard]] bool for_durable(int client, std::int64_t step) const {
    return covers(durable_, client, step);
  }
  /// Nobody waits any more for this step and those before it.
  void settle(std::int64_t step);

 private:
  using Steps = std::map<int, std::int64_t>;  // by client: the last one
  [[nodiscard]] static bool covers(const Steps& steps, int client, std::int64_t step);

  Steps written_;
  Steps durable_;
};

/// A file that this server writes for compute ranks. It begins the pieces that they send, has its
/// WriterFile write them, and tells the ranks what became of them.
class ServedFile : private writer::WriterFile::Owner {
 public:
  ServedFile(Context& context, std::uint64_t key, const protocol::Open& open,
             config::FileSettings settings, const formats::Format& format);

  [[nodiscard]] writer::WriterFile& writer() noexcept { return file_; }
  [[nodiscard]] const writer::WriterFile& writer() const noexcept { return file_; }
  void apply(const protocol::Event& event);
  /// Carry out an ordered action. Collective over the servers.
  void act(const protocol::ActionNote& action);

  // Calls of the intake.
  /// True if a piece can be begun, because all events that its sender had issued are known here.
  [[nodiscard]] bool knows(std::int64_t step, std::int64_t events) const noexcept {
    return catalogue_.events() >= events || file_.is_lost(step);
  }
  [[nodiscard]] std::shared_ptr<writing::Piece> begin(int client, const protocol::Piece& piece,
                                                      const array::Region& region);
  /// The piece fails, because there is no staging memory for `bytes` of it, and the file does not
  /// want to wait.
  void refuse(writing::Piece& piece, std::int64_t bytes);
  /// The step fails, because it needs this piece, and there will be no memory before the step ends.
  void refuse_step(writing::Piece& piece, std::int64_t bytes);
  /// A chunk is in staging memory, or was drained because its piece has failed.
  void arrived(writing::Chunk chunk);
  /// Write what this client puts into the steps up to `step` without waiting for the end of the
  /// step. If `durable`, make it durable as soon as it is written.
  void hurry(int client, std::int64_t step, bool durable);
  /// Nobody waits for this step any more.
  void settle(std::int64_t step, const Outcome& outcome);
  /// The number of elements of a piece, from `first` on, to fetch at once; no more than `at_most`.
  [[nodiscard]] std::int64_t elements_at_once(const writing::Piece& piece, std::int64_t first,
                                              std::int64_t at_most) const;
  /// True if there is memory for these elements in their stripe, if they go into one.
  [[nodiscard]] bool has_room(const writing::Piece& piece, std::int64_t first) const {
    return !piece.is_joined() || settings_.when_full == config::WhenFull::fail ||
           stripes().has_room(piece, first);
  }

  // Pieces that were put together with others and wait for more.
  [[nodiscard]] const writing::Stripes& stripes() const { return *file_.files().stripes(); }
  /// Write the oldest stripe as it is, because memory is needed.
  void write_oldest_stripe() { file_.write(file_.files().stripes()->withdraw_oldest()); }

  /// If a library writes, write at most one slice. @return true if anything was written.
  bool write_slice();

  [[nodiscard]] const config::FileSettings& settings() const noexcept { return settings_; }
  /// The name of the file in the program.
  [[nodiscard]] const std::string& name() const noexcept { return file_.files().names().name(); }
  /// True if chunks are written from where their sender has them. Chunks of other files are
  /// changed, or wait for their turn, too long to keep memory of a compute rank busy.
  [[nodiscard]] bool writes_as_they_lie() const {
    return file_.files().is_plain() && !file_.files().traits().swaps_bytes();
  }

 private:
  void tell(const writer::Given& piece, writer::WriterFile::Became became,
            const Outcome& outcome) override;
  [[nodiscard]] bool is_awaited(const writer::Given& piece) const override {
    return hurry_.for_written(piece.rank, piece.step);
  }
  void report(protocol::Kind kind, const protocol::StepNote& note) override {
    context_.post.report(protocol::encode(key_, kind, note));
  }
  void report(const protocol::PutReport& puts) override {
    context_.post.report(protocol::encode(key_, protocol::Kind::put_report, puts));
  }
  [[nodiscard]] writer::WriterFile::Setup writer_setup(const formats::Format& format) const;

  Context& context_;
  std::uint64_t key_;
  config::FileSettings settings_;
  std::int64_t domain_bytes_;  // borders between domains
  contents::Catalogue catalogue_;
  writer::WriterFile file_;
  Hurry hurry_;
};

}  // namespace iocomp::server
