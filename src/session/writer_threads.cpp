// SPDX-License-Identifier: BSD-3-Clause
#include "session/writer_threads.h"

#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory_domains.h"
#include "base/number_ranges.h"
#include "config/settings.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "placement/writer_division.h"
#include "placement/writer_policy.h"
#include "placement/writer_threads.h"
#include "session/others.h"
#include "session/seating.h"
#include "topology/binding.h"
#include "topology/discover.h"
#include "topology/node.h"

namespace iocomp::session {
namespace {

// The processes of the node, in the order of its ranks.
std::vector<placement::WritingProcess> processes_of(const Seating& seating, bool computes,
                                                    const mpi::WaitPolicy& policy) {
  std::string mine = computes ? "1" : "0";
  for (const int cpu : topology::allowed_cpus()) {
    mine += ' ' + std::to_string(cpu);
  }
  std::string all;
  for (const auto& one : mpi::gather(seating.node(), 0, mine, policy, others)) {
    all += one + '\n';
  }
  mpi::broadcast(seating.node(), 0, all, policy, others);
  std::vector<placement::WritingProcess> processes;
  std::istringstream lines{all};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers{line};
    auto& process = processes.emplace_back();
    numbers >> process.computes;
    for (int cpu = 0; numbers >> cpu;) {
      process.cpus.push_back(cpu);
    }
  }
  return processes;
}

placement::WriterBinding binding_of(const config::Settings& settings) {
  const auto binding = settings.text("writing.bind");
  return binding == "l3"     ? placement::WriterBinding::l3
         : binding == "none" ? placement::WriterBinding::none
                             : placement::WriterBinding::domain;
}

std::map<int, int> domains_of_cpus(const topology::Node& node) {
  std::map<int, int> domains;
  for (const auto& core : node.cores) {
    for (const auto& thread : core.threads) {
      domains[thread.cpu] = core.numa;
    }
  }
  return domains;
}

// If the system does not tell, the memory counts as that of the caller.
std::vector<int> look_at_memory(std::span<const std::byte> memory, std::size_t step) {
  std::vector<int> domains((memory.size() + step - 1) / step, -1);
  (void)outcome_of([&] { domains = domains_by_step(memory, step); });
  return domains;
}

placement::WriterDivision division(topology::Node node,
                                   const std::vector<placement::WriterThread>& seats,
                                   const config::Settings& settings) {
  placement::WriterDivision::Setup setup;
  setup.policy = placement::writer_policy_named(settings.text("writing.policy"));
  for (const auto& seat : seats) {
    setup.threads.push_back(seat.domain);
  }
  setup.caller = [domains = domains_of_cpus(node)] {
    const auto found = domains.find(sched_getcpu());
    return found == domains.end() ? 0 : found->second;
  };
  setup.look = look_at_memory;
  setup.node = std::move(node);
  return placement::WriterDivision{std::move(setup)};
}

void tell(const std::vector<placement::WriterThread>& seats, const config::Settings& settings) {
  std::string text = "writer threads: " + std::to_string(seats.size()) +
                     " beside this one, policy " + settings.text("writing.policy");
  for (const auto& seat : seats) {
    text += "; NUMA domain " + std::to_string(seat.domain) + ", CPUs " +
            (seat.cpus.empty() ? "of the process" : number_ranges(seat.cpus));
  }
  log::info(text);
}

}  // namespace

bool wants_writer_threads(const config::Settings& settings) {
  return settings.integer("writing.threads") > 1;
}

std::unique_ptr<Crew> make_crew(const Seating& seating, bool computes,
                                const config::Settings& settings, const mpi::WaitPolicy& policy) {
  const auto processes = processes_of(seating, computes, policy);
  int self = 0;
  mpi::check(MPI_Comm_rank(seating.node(), &self));
  Crew::Terms terms;
  terms.threads = static_cast<int>(settings.integer("writing.threads"));
  topology::Node node;
  const Outcome known = outcome_of([&] { node = topology::whole_machine(); });
  if (!known.ok()) {
    log::warning("writer threads are not bound to CPUs: " + known.story);
    return std::make_unique<Crew>(std::move(terms));
  }
  const auto seats = placement::seat_writer_threads(node, processes, static_cast<std::size_t>(self),
                                                    terms.threads, binding_of(settings),
                                                    settings.text("writing.bind") == "shared");
  tell(seats, settings);
  // Threads are bound when they start, so that a process without large requests starts none.
  terms.enter = [seats](int thread) {
    const auto& cpus = seats[static_cast<std::size_t>(thread) - 1].cpus;
    const Outcome bound = outcome_of([&cpus] {
      if (!cpus.empty()) {
        topology::ThreadBinder{}.bind_this_thread(cpus);
      }
    });
    if (!bound.ok()) {
      log::warning(bound.story);
    }
  };
  if (node.numa_domains > 1) {
    std::vector<int> own;
    const auto domains = domains_of_cpus(node);
    for (const int cpu : processes[static_cast<std::size_t>(self)].cpus) {
      if (const auto found = domains.find(cpu); found != domains.end()) {
        own.push_back(found->second);
      }
    }
    terms.domains = placement::domains_of_threads(node, own, seats);
    terms.divide = division(std::move(node), seats, settings);
  }
  return std::make_unique<Crew>(std::move(terms));
}

}  // namespace iocomp::session
