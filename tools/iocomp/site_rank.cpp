// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/core.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/host.h"
#include "base/number_ranges.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/owner.h"
#include "iocomp/place.h"
#include "iocomp/settings_here.h"
#include "iocomp/subcommands.h"
#include "topology/binding.h"

namespace iocomp::command {
namespace {

using Json = nlohmann::ordered_json;

/// Ask one thing. A rank that fails says why, and goes on: the others wait for it.
void ask(Json& told, const std::string& name, const std::function<Json()>& question) {
  try {
    told[name] = question();
  } catch (const std::exception& error) {
    told["failures"][name] = error.what();
  }
}

const char* thread_level_word(int level) {
  return level == MPI_THREAD_MULTIPLE     ? "multiple"
         : level == MPI_THREAD_SERIALIZED ? "serialized"
         : level == MPI_THREAD_FUNNELED   ? "funneled"
                                          : "single";
}

/// Seconds until a new name in the folder is durable.
double seconds_of_folder_sync(const std::string& folder, int rank) {
  const OpenFolder opened{folder};
  const std::string name = "named-by-" + std::to_string(rank);
  (void)opened.create(name, O_WRONLY);
  const auto begin = std::chrono::steady_clock::now();
  opened.sync();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  opened.unlink(name);
  return taken.count();
}

const char* word(commit::Holder::State state) {
  switch (state) {
    case commit::Holder::State::nobody:
      return "nobody";
    case commit::Holder::State::ended:
      return "ended";
    case commit::Holder::State::alive:
      return "alive";
    case commit::Holder::State::unknown:
      return "unknown";
  }
  throw Error{ErrorCode::internal, "a lock in no state"};
}

/// The view that the other ranks have of the lock of a file that rank 0 writes. Collective over all
/// ranks.
void ask_for_locks(Json& told, const std::string& folder, int rank) {
  const auto locked = [&folder] { return Path{folder + "/locked"}; };
  std::optional<commit::Owner> owner;
  if (rank == 0) {
    ask(told, "lock", [&] {
      owner.emplace(locked(), "iocomp check-site");
      return "taken";
    });
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    ask(told, "lock", [&] { return word(commit::holder_of(locked()).state); });
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

Json gathered(const Json& mine, int rank, int ranks) {
  const std::string text = mine.dump(-1, ' ', false, Json::error_handler_t::replace);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks));
  MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(rank == 0 ? offsets.back() + lengths.back() : 0), ' ');
  MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
              0, MPI_COMM_WORLD);
  Json each = Json::array();
  for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i) {
    each.push_back(Json::parse(
        all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]))));
  }
  return each;
}

void tell(const std::string& folder) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 0;
  int node_ranks = 0;
  MPI_Comm_rank(node, &here);
  MPI_Comm_size(node, &node_ranks);
  MPI_Comm_free(&node);

  Json mine{{"rank", rank},
            {"host", host_name()},
            {"cpus", number_ranges(topology::allowed_cpus())},
            {"node_ranks", node_ranks},
            {"failures", Json::object()}};
  ask(mine, "engine", [] { return engine_here(settings_here()); });
  if (here == 0) {  // one of each node is enough
    ask(mine, "place", [&] { return json_of(place_at(folder, ranks)); });
    ask(mine, "folder_sync_seconds", [&] { return seconds_of_folder_sync(folder, rank); });
  }
  ask_for_locks(mine, folder, rank);
  const Json each = gathered(mine, rank, ranks);
  if (rank == 0) {
    fmt::print("{}\n", Json{{"thread_level", thread_level_word(level)}, {"each", each}}.dump());
  }
  MPI_Finalize();
}

}  // namespace

void add_site_rank(CLI::App& app) {
  auto folder = std::make_shared<std::string>();  // lives as long as the action
  auto* command = app.add_subcommand("site-rank", "What `iocomp check-site` starts on every rank");
  command->add_option("folder", *folder, "Where it makes small files")->required();
  command->callback([folder] { tell(*folder); });
}

}  // namespace iocomp::command
