// What becomes of files whose servers are given up.
#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "client/client.h"
#include "client/file.h"
#include "client/lost_carrier.h"
#include "client/remote_carrier.h"

namespace iocomp::client {

void Client::go_on_without_servers() {
  if (!link_.loss() || !link_.has_servers()) {
    return;
  }
  const bool have_ended = link_.wait_for_end_of_servers();
  link_.leave_servers();
  link_.note(*link_.loss() + "; the compute ranks go on without servers");
  if (place_.rank == 0) {
    std::fprintf(stderr, "iocomp: %s\n", link_.notes().back().c_str());
  }
  for (auto& [key, opened] : files_) {
    if (opened.remote != nullptr) {
      auto next = successor(opened, have_ended);
      opened.remote = nullptr;
      opened.file->carry_with(std::move(next));
    }
  }
}

std::unique_ptr<Carrier> Client::successor(Opened& opened, bool /*have_ended*/) {
  const std::string story = "file \"" + opened.file->name() + "\": " + *link_.loss() +
                            ", and a file of back-end " + std::string{opened.format->name()} +
                            " cannot be finished without it";
  log::error(story);
  return std::make_unique<LostCarrier>(opened.file->key(),
                                       Outcome{ErrorCode::storage_failure, story}, link_);
}

}  // namespace iocomp::client
