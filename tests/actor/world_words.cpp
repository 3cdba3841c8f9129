// SPDX-License-Identifier: BSD-3-Clause
#include <iocomp/iocomp.h>
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "faults.h"
#include "meeting.h"
#include "recorder.h"
#include "words.h"

namespace actor {
namespace {

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// User and system time of a process so far.
double cpu_seconds(pid_t process) {
  const std::string text = process_state(process);
  if (text.empty()) {
    throw std::runtime_error{"process " + std::to_string(process) + " is not there"};
  }
  std::istringstream fields{text};
  constexpr int before_times = 11;  // from the state on, see proc(5)
  std::string skipped;
  for (int i = 0; i < before_times; ++i) {
    fields >> skipped;
  }
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// The compute ranks that the line names, or part I of N as `part=I/N`, perhaps backward.
std::vector<int> members_of(const Line& line, int size) {
  std::vector<int> members;
  if (!line.has("part")) {
    for (const auto member : numbers(line.argument(1), ',')) {
      members.push_back(static_cast<int>(member));
    }
    return members;
  }
  const auto part = numbers(line.option("part", ""), '/');
  const auto index = part.at(0);
  const auto parts = part.at(1);
  for (int rank = 0; rank < size; ++rank) {
    if (size < parts ? rank == index % size : rank * parts / size == index) {
      members.push_back(rank);
    }
  }
  if (line.option("order", "forward") == "backward") {
    std::ranges::reverse(members);
  }
  return members;
}

/// Only the members meet here.
void group(Stage& stage, const Line& line) {
  const MPI_Comm compute = iocomp_comm(stage.session);
  int size = 0;
  MPI_Comm_size(compute, &size);
  const auto members = members_of(line, size);
  MPI_Comm& comm = stage.groups[line.argument(0)];
  comm = MPI_COMM_NULL;
  if (std::ranges::find(members, stage.rank) == members.end()) {
    return;
  }
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(compute, &all);
  MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
  MPI_Comm_create_group(compute, some, line.number, &comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
}

void ungroup(Stage& stage, const Line& line) {
  if (MPI_Comm& comm = stage.groups.at(line.argument(0)); comm != MPI_COMM_NULL) {
    MPI_Comm_free(&comm);
  }
}

void barrier(Stage& stage, const Line& /*line*/) { meet_asleep(iocomp_comm(stage.session)); }

void pause(Stage& /*stage*/, const Line& line) { sleep_for(std::stod(line.argument(0))); }

pid_t process_of(const Stage& stage, const Line& line) {
  return stage.processes.at(std::stoul(line.argument(0)));
}

void kill(Stage& stage, const Line& line) {
  stage.journal.write({{"call", "kill"}, {"victim", std::stoi(line.argument(0))}});
  ::kill(process_of(stage, line), SIGKILL);
}

void stop(Stage& stage, const Line& line) {
  stage.journal.write({{"call", "stop"}, {"victim", std::stoi(line.argument(0))}});
  ::kill(process_of(stage, line), SIGSTOP);
}

void signal(Stage& stage, const Line& line) {
  const std::map<std::string, int> known{{"TERM", SIGTERM}, {"USR1", SIGUSR1}};
  ::kill(process_of(stage, line), known.at(line.argument(1)));
}

void go_on(Stage& stage, const Line& line) { ::kill(process_of(stage, line), SIGCONT); }

void measure_cpu(Stage& stage, const Line& line) {
  const pid_t process = process_of(stage, line);
  const double cpu_before = cpu_seconds(process);
  const double began = now_seconds();
  sleep_for(std::stod(line.argument(1)));
  const double cpu = cpu_seconds(process) - cpu_before;
  stage.journal.write({{"call", "measure_cpu"},
                       {"of", std::stoi(line.argument(0))},
                       {"cpu_seconds", cpu},
                       {"seconds", now_seconds() - began}});
}

pid_t process_or_this(Stage& stage, const Line& line) {
  return line.has("of") ? stage.processes.at(std::stoul(line.option("of", ""))) : ::getpid();
}

/// As `ulimit -f` does: what is not told by the library ends this process.
void limit_file_size(Stage& stage, const Line& line) {
  const pid_t process = process_or_this(stage, line);
  rlimit limit{};
  ::prlimit(process, RLIMIT_FSIZE, nullptr, &limit);
  limit.rlim_cur = static_cast<rlim_t>(std::stoull(line.argument(0)));
  if (::prlimit(process, RLIMIT_FSIZE, &limit, nullptr) != 0 ||
      std::signal(SIGXFSZ, SIG_DFL) == SIG_ERR) {
    throw std::runtime_error{"the size of files cannot be limited"};
  }
}

/// As `ulimit -n` does, counted from the highest descriptor that is open.
void leave_descriptors(Stage& stage, const Line& line) {
  const pid_t process = process_or_this(stage, line);
  rlim_t used = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{"/proc/" + std::to_string(process) + "/fd"}) {
    used = std::max<rlim_t>(used, std::stoul(entry.path().filename()) + 1);
  }
  rlimit limit{};
  ::prlimit(process, RLIMIT_NOFILE, nullptr, &limit);
  limit.rlim_cur = used + std::stoul(line.argument(0));
  if (::prlimit(process, RLIMIT_NOFILE, &limit, nullptr) != 0) {
    throw std::runtime_error{"the number of open files cannot be limited"};
  }
}

void pin(Stage& /*stage*/, const Line& line) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(std::stoul(line.argument(0)), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::runtime_error{"there is no CPU " + line.argument(0)};
  }
}

void fault(Stage& /*stage*/, const Line& line) {
  add_fault({line.argument(0), errno_of(line.argument(1)), std::stoi(line.option("after", "0")),
             std::stoi(line.option("times", "-1")), line.option("path", ""),
             std::stoll(line.option("room", "-1")), line.option("to", ""),
             line.option("sign", "")});
}

void record(Stage& /*stage*/, const Line& line) { recorder::start(line.argument(0)); }

void clock(Stage& /*stage*/, const Line& line) { move_clock(std::stod(line.argument(0))); }

void remove_tree(Stage& /*stage*/, const Line& line) {
  std::error_code ignored;  // others may write into it at the same time
  std::filesystem::remove_all(line.argument(0), ignored);
}

/// Removes the files of a folder that are not committed.
void remove_temporaries(Stage& /*stage*/, const Line& line) {
  for (const auto& entry : std::filesystem::directory_iterator{line.argument(0)}) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.') && !name.ends_with("-lock")) {
      std::filesystem::remove(entry.path());
    }
  }
}

void rename(Stage& /*stage*/, const Line& line) {
  std::filesystem::rename(line.argument(0), line.argument(1));
}

void enter(Stage& /*stage*/, const Line& line) { std::filesystem::current_path(line.argument(0)); }

void make_folder(Stage& /*stage*/, const Line& line) {
  std::filesystem::create_directories(line.argument(0));
}

}  // namespace

Words world_words() {
  return {{"group", group},
          {"ungroup", ungroup},
          {"barrier", barrier},
          {"pause", pause},
          {"kill", kill},
          {"stop", stop},
          {"go_on", go_on},
          {"signal", signal},
          {"measure_cpu", measure_cpu},
          {"limit_file_size", limit_file_size},
          {"leave_descriptors", leave_descriptors},
          {"pin", pin},
          {"fault", fault},
          {"record", record},
          {"clock", clock},
          {"remove_tree", remove_tree},
          {"remove_temporaries", remove_temporaries},
          {"rename", rename},
          {"enter", enter},
          {"make_folder", make_folder}};
}

}  // namespace actor
