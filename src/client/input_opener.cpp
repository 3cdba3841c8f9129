// SPDX-License-Identifier: BSD-3-Clause
#include "client/input_opener.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "base/wire.h"
#include "client/council/meeting.h"
#include "client/group_ranks.h"
#include "commit/file_terms.h"
#include "commit/reports.h"
#include "config/file_settings.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "reading/committed.h"
#include "reading/find_committed.h"
#include "reading/input.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

reading::Sought::Kind kind_sought(const config::Settings& settings, const std::string& name) {
  using Kind = reading::Sought::Kind;
  const auto chosen = settings.file_text(name, "kind");
  if (chosen == "checkpoint" || chosen == "file_per_step") {
    return Kind::file_per_step;
  }
  return chosen == "series" ? Kind::one_file : Kind::either;
}

// Files of a path may be read even if they are not of the back-end in the settings.
std::string path_sought(const config::Settings& settings, const std::string& name,
                        const std::string& modules) {
  const auto path = settings.file_text(name, "path");
  formats::FormatOptions options;
  options.engine = settings.file_text(name, "engine");
  return path.empty()
             ? commit::path_in_force(
                   name, {}, formats::format(settings.file_text(name, "backend"), modules, options))
             : path;
}

std::vector<std::byte> encode(const Outcome& outcome, const reading::Committed& committed) {
  WireWriter writer;
  writer.put(outcome.code);
  writer.put_text(outcome.story);
  writer.put_bytes(reading::encode(committed));
  return writer.take();
}

reading::Committed decode(const std::vector<std::byte>& bytes) {
  WireReader reader{bytes};
  const auto code = reader.get<ErrorCode>();
  const auto story = reader.get_text();
  if (code != ErrorCode::ok) {
    throw Error{code, story};
  }
  return reading::decode_committed(reader.get_bytes());
}

// The other ranks wait for the outcome, whatever goes wrong.
template <typename Body>
Outcome outcome_of_anything(Body&& body) {
  try {
    return outcome_of(std::forward<Body>(body));
  } catch (const std::exception& error) {
    return {ErrorCode::internal, error.what()};
  }
}

}  // namespace

std::unique_ptr<reading::Input> InputOpener::open(MPI_Comm comm, const std::string& name,
                                                  const std::string& options,
                                                  std::function<void()> meanwhile) {
  commit::check_name(name);
  (void)settings_.with_options(name, options);  // throws before anybody waits
  if (!meeting_.ended().ok()) {
    throw Error{meeting_.ended().code, meeting_.ended().story};
  }
  const MPI_Comm group = comm == MPI_COMM_NULL ? place_.comm : comm;
  const auto ranks = ranks_within(place_.comm, group);
  // Files that are being written go on while this rank waits, and servers may die.
  mpi::WaitPolicy policy = link_.policy();
  policy.meanwhile = std::move(meanwhile);

  std::unique_ptr<reading::Input> input;
  if (have_same_ranks(group, place_.comm)) {
    Meeting meeting{place_.comm, {}, policy};
    try {
      input = find_together(place_.comm, meeting, name, options, policy);
    } catch (const Error&) {
      meeting_.end(meeting.ended());
      throw;
    }
  } else {
    const auto own = mpi::duplicate(group, policy, "the other ranks to open a file for reading");
    Meeting meeting{own.raw(), ranks, policy};
    input = find_together(own.raw(), meeting, name, options, policy);
  }
  for (const auto& torn : input->committed().torn) {
    link_.journal().note("file \"" + name + "\" was read without step " +
                         std::to_string(torn.step) + ": " + torn.story);
  }
  return input;
}

reading::Input::HasRead InputOpener::counted() const {
  return [&counters = link_.counters()](std::int64_t bytes) {
    counters.add(trace::Counter::reads, 1);
    counters.add(trace::Counter::read_bytes, static_cast<double>(bytes));
  };
}

std::unique_ptr<reading::Input> InputOpener::find_together(MPI_Comm comm, Meeting& meeting,
                                                           const std::string& name,
                                                           const std::string& options,
                                                           const mpi::WaitPolicy& policy) {
  const std::string call =
      options.empty() ? "open_input" : "open_input with the options <" + options + '>';
  (void)meeting.meet(
      {.name = call.c_str(), .file = mix(empty_digest, name) | 1U, .file_name = name});
  std::vector<std::byte> found;
  std::unique_ptr<reading::Input> input;
  const auto settings = settings_.with_options(name, options);
  int rank = 0;
  mpi::check(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    reading::Committed committed;
    const Outcome looked = outcome_of_anything([&] {
      committed = reading::find_committed({name, path_sought(settings, name, modules()),
                                           settings.file_text(name, "backend"), modules(),
                                           kind_sought(settings, name)});
      if (settings.file_text(name, "checksum") == "none") {
        committed.forget_sums();
      }
      input = std::make_unique<reading::Input>(name, committed, modules(), counted(), link_.crew());
      input->try_newest();
    });
    found = encode(looked, committed);
  }
  const std::string what = "the other ranks to open file \"" + name + "\" for reading";
  mpi::broadcast(comm, 0, found, policy, what.c_str());
  auto committed = decode(found);
  const Outcome opened = outcome_of([&] {
    const auto mine = address_of(folder_of(settings.file_text(name, "path")));
    if (const auto different = commit::different_folder(committed.folder, mine);
        !different.empty()) {
      throw Error{ErrorCode::inconsistent_calls,
                  "file \"" + name + "\": compute rank " + std::to_string(place_.rank) +
                      " means another folder than the first rank of the file: " + different};
    }
    if (!input) {
      input = std::make_unique<reading::Input>(name, std::move(committed), modules(), counted(),
                                               link_.crew());
    }
  });
  mpi::agree(comm, opened, policy, what.c_str()).throw_unless_ok();
  return input;
}

}  // namespace iocomp::client
