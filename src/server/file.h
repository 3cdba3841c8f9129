// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "contents/catalogue.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "server/context.h"
#include "server/hurry.h"
#include "server/writers.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::server {

/// A file as every server sees it: which pieces of a step are expected here and have come, who is
/// told what became of them, and where variables lie. What concerns the file as a whole comes from
/// the lead (lead.h) as messages; bytes go to its Writers.
class File {
 public:
  File(Context& context, std::uint64_t key, const protocol::Open& open,
       config::FileSettings settings, const formats::Format& format);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // From the lead.
  void apply(const protocol::Event& event);
  void place(const protocol::StepNote& note);
  void expect(const protocol::Expectation& expectation);
  /// Write the fill value where nobody has put anything.
  void fill(const protocol::FillOrder& order);
  void settle(std::int64_t step, const Outcome& outcome);
  /// Steps from this one on fail.
  void fail(const Outcome& outcome, std::int64_t from_step);
  /// Carry out an ordered action (MPI files only). Collective over the servers.
  void act(const protocol::ActionNote& action);

  // From the intake.
  /// Whether a piece can be begun: all events its sender had issued are known here.
  [[nodiscard]] bool knows(std::int64_t step, std::int64_t events) const noexcept {
    return catalogue_.events() >= events || is_lost(step);
  }
  /// Whether pieces of a step can be begun: formats that write whole steps take one at a time.
  [[nodiscard]] bool admits(std::int64_t step) const noexcept {
    return !keeps_steps() || step <= next_step_ || is_lost(step);
  }
  /// Whether chunks keep their memory until their step is written as a whole.
  [[nodiscard]] bool keeps_steps() const { return format_.traits().writes_whole_steps(); }
  /// Bytes of staging memory that are kept for a step of which more may come.
  [[nodiscard]] std::size_t kept_bytes() const;
  [[nodiscard]] std::shared_ptr<writing::Piece> begin(int client, const protocol::Piece& piece,
                                                      const array::Region& region);
  /// There is no staging memory for `bytes` of a piece, and the file does not want to wait: the
  /// piece fails.
  void refuse(writing::Piece& piece, std::int64_t bytes);
  /// There will be none before the step ends, which needs this piece: the step fails.
  void refuse_step(writing::Piece& piece, std::int64_t bytes);
  /// A chunk is in staging memory, or was drained because its piece has failed.
  void arrived(writing::Chunk chunk);
  /// A compute rank has written blocks of a step itself: durable, or failed.
  void written_by_client(protocol::OwnWritten own);
  /// Write what this client puts into the steps up to `step` without waiting for the end of the
  /// step; and make it durable as soon as it is written.
  void hurry(int client, std::int64_t step, bool durable);
  /// How many elements of a piece, from `first` on, to fetch at once, of `at_most`.
  [[nodiscard]] std::int64_t elements_at_once(const writing::Piece& piece, std::int64_t first,
                                              std::int64_t at_most) const;
  /// Whether there is memory for these elements among others of their stripe, where they need it.
  [[nodiscard]] bool has_room(const writing::Piece& piece, std::int64_t first) const {
    return !piece.is_joined() || settings_.when_full == config::WhenFull::fail ||
           writers_.stripes().has_room(piece, first);
  }

  // What was put together with others, and waits for more of them.
  [[nodiscard]] bool has_stripes() const noexcept { return writers_.stripes().has_open(); }
  [[nodiscard]] double oldest_stripe() const { return writers_.stripes().oldest(); }
  /// Write the oldest as it is: memory is needed.
  void write_oldest_stripe();
  /// Write those that somebody waits for and nobody adds to; true if there were any.
  bool write_late_stripes(double now);

  // What was spilled.
  [[nodiscard]] bool spills() const noexcept { return writers_.spills(); }
  /// Take back what there is memory for; true if there was any.
  bool take_back() { return writers_.take_back(); }

  /// Give small chunks that arrived in this round to the engine, neighbours as one write.
  void submit_gathered() { writers_.submit(); }
  /// MPI files: write at most one slice. @return whether anything was written.
  bool write_slice() { return writers_.write_slice(); }
  /// The same: whether one is to be written when the file's pace allows it.
  [[nodiscard]] bool is_held_back() const { return writers_.is_held_back(); }

  [[nodiscard]] const config::FileSettings& settings() const noexcept { return settings_; }
  /// Whether a step has failed with the file.
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from_step;
  }
  [[nodiscard]] const Outcome& failure() const noexcept { return loss_.cause; }
  /// In the program.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether chunks are written from where their sender has them. Those of other files are kept
  /// until their turn, too long to keep memory of a compute rank busy, or changed.
  [[nodiscard]] bool writes_as_they_lie() const {
    return is_plain() && !format_.traits().swaps_bytes();
  }

 private:
  using Pieces = Writers::Pieces;
  struct Loss {  // of the file, from a step on
    Outcome cause;
    std::int64_t from_step = 0;
  };
  struct Step {
    std::int64_t expected = -1;  // unknown
    std::int64_t come = 0;       // pieces that are here to the last byte, or failed
    std::int64_t written = 0;    // pieces written, or failed
    std::int64_t synced = 0;     // pieces durable, or failed
    Outcome failure;
    bool reported = false;
    steps::PutLog puts;                // pieces that came here, whoever writes them
    std::vector<std::int32_t> report;  // variables whose puts the lead wants to know
    Pieces kept;                       // until the step is written as a whole
  };
  struct Room {  // of a variable in a step
    bool asked = false;
    bool ready = false;
    Outcome failure;
    std::int64_t offset = -1;
    std::vector<writing::Chunk> waiting;
  };

  [[nodiscard]] bool is_plain() const { return format_.traits().is_plain(); }
  [[nodiscard]] std::int64_t offset(int variable, std::int64_t step, const Room& room) const;
  Room& room(std::int64_t step, int variable) { return rooms_[{step, variable}]; }
  [[nodiscard]] formats::Target create(const Path& path);
  [[nodiscard]] std::shared_ptr<writing::Piece> make_piece(std::int64_t step,
                                                           const array::Region& region,
                                                           std::int64_t first, std::int64_t count);
  void write(writing::Chunk chunk);
  void came(const std::shared_ptr<writing::Piece>& piece, std::int64_t elements);
  void check_stripes(std::int64_t step);
  void settle_kept(std::int64_t step, const Outcome& outcome);
  void fail_piece(writing::Piece& piece, const Outcome& outcome);
  void piece_ended(const std::shared_ptr<writing::Piece>& piece);
  void request_sync(std::int64_t number);
  void synced(const Pieces& pieces, const Outcome& outcome);
  void check_step(std::int64_t step);
  void report_puts(std::int64_t number, Step& step);
  [[nodiscard]] std::string told(const writing::Piece& piece, const std::string& cause) const;
  void notify(const writing::Piece& piece, protocol::Notice::About about,
              const Outcome& outcome = {});

  Context& context_;
  std::uint64_t key_;
  std::string name_;
  config::FileSettings settings_;
  std::int64_t domain_bytes_;  // borders between domains
  const formats::Format& format_;
  commit::Publication publication_;  // for the names only
  contents::Catalogue catalogue_;
  contents::Contents contents_;  // MPI files: what the format was told to make room for
  Writers writers_;
  std::map<std::int64_t, Step> steps_;
  std::map<std::pair<std::int64_t, int>, Room> rooms_;
  Hurry hurry_;
  std::int64_t next_step_ = 0;  // formats that write whole steps: the one that is being taken in
  Loss loss_;
};

}  // namespace iocomp::server
