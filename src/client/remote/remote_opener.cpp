// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/remote_opener.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "client/remote/own_writes.h"
#include "client/remote/remote_carrier.h"
#include "commit/publication.h"
#include "config/file_settings.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "writing/file_writer.h"

namespace iocomp::client {
namespace {

// A block up to this size costs less to copy than to ask for. The copy is written in place, and the
// program has its memory back at once.
constexpr std::size_t small_block_bytes = std::size_t{64} << 10;

}  // namespace

void RemoteOpener::open(OpenedFile& opened) {
  const config::FileSettings& file = opened.settings;
  RemoteCarrier::Route route;
  route.key = opened.file->key();
  route.name = opened.file->name();
  route.compute_rank = place_.rank;
  route.home = place_.home;
  route.chunk_bytes = place_.chunk_bytes;
  // Bytes inside a header need staging memory where they arrive, like any other data.
  route.copies.inline_bytes =
      std::min(static_cast<std::size_t>(settings_.bytes("test.inline")), place_.chunk_bytes);
  const auto way = settings_.text("test.way");
  const bool shares = link_.shares_memory();
  route.copies.copy_bytes = way == "staged"           ? std::numeric_limits<std::size_t>::max()
                            : way != "pull" && shares ? small_block_bytes
                                                      : 0;
  route.copies.pulls = way == "pull";
  route.steps_in_flight = file.steps_in_flight;
  route.whole_steps = opened.format->traits().writes_whole_steps();
  route.appears_at_close = !file.file_per_step && !opened.format->traits().readable_while_open;
  route.keeps_posts = link_.server_side().leave_notes() && opened.format->traits().is_plain() &&
                      opened.format->traits().offsets_by_layout;
  protocol::Open open;
  open.name = route.name;
  open.options = opened.options;
  open.kind = file.checkpoint ? 2 : 1;
  open.opener = place_.rank;
  open.after = opened.after;
  open.beginning.folder = opened.folder;
  open.members = static_cast<std::int64_t>(opened.members.size());
  open.home_members = std::ranges::count_if(opened.members, [this](int rank) {
    return std::ranges::binary_search(place_.neighbours, rank);
  });
  auto carrier = std::make_unique<RemoteCarrier>(std::move(route), link_, opened.file->catalogue());
  RemoteCarrier& opening = *carrier;
  opened.remote = &opening;
  opened.file->carry_with(std::move(carrier));
  opened.file->begin_at(opening.open(open));
  // The folder is needed only to go on without servers, or by a rank that writes itself.
  (void)outcome_of([&] {
    commit::Publication names{opened.identity(place_.job), *opened.format,
                              &opened.file->catalogue()};
    names.begin_at(opening.beginning());
    opened.held = names.path().shared_folder();
  });
}

void RemoteOpener::offer_own_writes(OpenedFile& opened) {
  const config::FileSettings& file = opened.settings;
  const formats::Format& format = *opened.format;
  const std::string name = "file \"" + opened.file->name() + "\": by servers, ";
  if (!format.traits().is_plain() || !format.traits().offsets_by_layout) {
    link_.journal().explain(name + std::string{format.name()} + " lays its variables out itself");
    return;
  }
  if (file.when_full == config::WhenFull::spill || file.bandwidth > 0) {
    link_.journal().explain(name + (file.bandwidth > 0 ? "which keep to its bandwidth"
                                                       : "which spill what finds no room"));
    return;
  }
  if (file.file_per_step) {
    link_.journal().explain(name + "each step is a file of its own");
    return;
  }
  commit::Publication names{opened.identity(place_.job), format, &opened.file->catalogue()};
  if (!outcome_of([&] { names.begin_at(opened.remote->beginning()); }).ok()) {
    link_.journal().explain(name + "since this rank does not see its folder");
    return;
  }
  const Outcome started = outcome_of([&] {
    if (!disk_.is_started()) {
      disk_.start();
    }
  });
  if (!started.ok()) {
    link_.journal().explain(name + "since this rank cannot write itself: " + started.story);
    return;
  }
  auto own = std::make_unique<OwnWrites>(
      OwnWrites::Setup{.key = opened.file->key(),
                       .home = place_.home,
                       .rank = place_.rank,
                       .least_bytes = static_cast<std::size_t>(settings_.bytes("test.kernel_from")),
                       .files = {.format = opened.format,
                                 .disk = disk_.options_for(file),
                                 .submit = disk_.submitter()}},
      names, disk_.blocks(), link_, opened.file->catalogue());
  // If the folder cannot be found, the servers write, and tell what is wrong.
  if (outcome_of([&] { own->open(); }).ok()) {
    opened.remote->write_with(std::move(own));
  }
}

}  // namespace iocomp::client
