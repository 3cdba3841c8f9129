#include "client/takeover.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "client/file.h"
#include "client/kernel_carrier.h"
#include "client/lost_carrier.h"
#include "client/remote_carrier.h"
#include "commit/file_terms.h"
#include "mpi/error.h"
#include "protocol/notes.h"

namespace iocomp::client {
namespace {

using protocol::Note;

// Two tags that only messages about this file have: every rank of it computes the same.
int tag_of(std::uint64_t key, MPI_Comm comm) {
  void* most = nullptr;
  int is_set = 0;
  mpi::check(MPI_Comm_get_attr(comm, MPI_TAG_UB, &most, &is_set));
  constexpr std::uint64_t least_most = 32767;
  const auto tags = is_set != 0 ? static_cast<std::uint64_t>(*static_cast<int*>(most)) : least_most;
  return static_cast<int>((key >> 1U) % (tags / 2)) * 2;
}

}  // namespace

void Takeover::go_on_without_servers() {
  if (!link_.loss() || !link_.has_servers()) {
    return;
  }
  servers_have_ended_ = link_.wait_for_end_of_servers();
  link_.leave_servers();
  link_.note(*link_.loss() + "; the compute ranks go on without servers");
  if (place_.rank == 0) {
    std::fprintf(stderr, "iocomp: %s\n", link_.notes().back().c_str());
  }
  if (!disk_.is_started()) {
    disk_.start();
  }
  for (auto& [key, opened] : files_) {
    if (opened.remote != nullptr) {
      carry_on(opened);
    }
  }
}

void Takeover::carry_on(OpenedFile& opened) {
  auto next = successor(opened);
  opened.remote = nullptr;
  opened.file->carry_with(std::move(next));
}

bool Takeover::is_opened_by_servers(const OpenedFile& opened) {
  return opened.remote != nullptr &&
         link_.server_side().have_noted(protocol::word(opened.file->key(), Note::opened));
}

std::unique_ptr<Carrier> Takeover::successor(OpenedFile& opened) {
  const std::uint64_t key = opened.file->key();
  const std::string name = "file \"" + opened.file->name() + "\": ";
  std::string story;
  if (!opened.remote->keeps_remains()) {
    story = *link_.loss() + ", and a file of back-end " + std::string{opened.format->name()} +
            " cannot be finished without it" +
            (link_.server_side().leave_notes() ? "" : " (there are several nodes)");
  } else if (!servers_have_ended_) {
    story = *link_.loss() + ", and another server does not leave the file";
  } else if (link_.server_side().have_noted(protocol::word(key, Note::failed_closed))) {
    story = *link_.loss() + " when it had failed";
  } else if (link_.server_side().have_noted(protocol::word(key, Note::closed))) {
    return std::make_unique<LostCarrier>(key, Outcome{}, link_);
  } else {
    std::unique_ptr<Carrier> next;
    const Outcome taken_over = outcome_of([&] { next = take_over(opened); });
    if (taken_over.ok()) {
      return next;
    }
    story = *link_.loss() + ", and " + taken_over.story;
  }
  log::error(name + story);
  return std::make_unique<LostCarrier>(key, Outcome{ErrorCode::storage_failure, name + story},
                                       link_);
}

std::unique_ptr<Carrier> Takeover::take_over(OpenedFile& opened) {
  const std::uint64_t key = opened.file->key();
  KernelCarrier::Setup setup;
  setup.key = key;
  setup.name = opened.file->name();
  setup.circle = {place_.comm, opened.members, tag_of(key, place_.comm)};
  setup.verdicts = setup.circle.with_tag(setup.circle.tag + 1);
  setup.members = opened.members;
  setup.format = opened.format;
  setup.disk = disk_.options_for(opened.settings);
  setup.submit = disk_.plans().submitter();
  setup.may_overlap = opened.settings.may_overlap;
  setup.steps_in_flight = opened.settings.steps_in_flight;
  auto carrier = std::make_unique<KernelCarrier>(
      std::move(setup), commit::identity(opened.file->name(), opened.settings, place_.job),
      disk_.blocks(), link_, opened.file->catalogue());
  const std::size_t blocks =
      carrier->resume(opened.remote->take_remains(), [&](Note note, std::int64_t step) {
        return link_.server_side().have_noted(protocol::word(key, note, step));
      });
  opened.kernel = carrier.get();
  const std::string story = *link_.loss() + "; " + std::to_string(blocks) + " blocks of file \"" +
                            opened.file->name() + "\" are written by compute rank " +
                            std::to_string(place_.rank);
  log::error(story);
  link_.note(story);
  return carrier;
}

}  // namespace iocomp::client
