// The words of a script that are not calls of iocomp: what happens around it.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "faults.h"
#include "stage.h"

namespace actor {
namespace {

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// User and system time of a process so far.
double cpu_seconds(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  std::getline(file, text);
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) {
    throw std::runtime_error{"process " + std::to_string(process) + " is not there"};
  }
  std::istringstream fields{text.substr(end_of_name + 1)};
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

}  // namespace

void Stage::group(const Line& line) {
  MPI_Comm comm = MPI_COMM_NULL;
  bool inside = false;
  for (const auto member : numbers(line.argument(1), ',')) {
    inside = inside || member == rank_;
  }
  MPI_Comm_split(iocomp_comm(session_), inside ? 0 : MPI_UNDEFINED, rank_, &comm);
  groups_[line.argument(0)] = comm;
}

void Stage::barrier(const Line& /*line*/) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(iocomp_comm(session_), &request);
  for (int met = 0; met == 0;) {
    MPI_Test(&request, &met, MPI_STATUS_IGNORE);
    sleep_for(met != 0 ? 0 : 0.0002);
  }
}

void Stage::pause(const Line& line) { sleep_for(std::stod(line.argument(0))); }

void Stage::kill(const Line& line) {
  journal_.write({{"call", "kill"}, {"victim", std::stoi(line.argument(0))}});
  ::kill(processes_.at(std::stoul(line.argument(0))), SIGKILL);
}

void Stage::stop(const Line& line) {
  journal_.write({{"call", "stop"}, {"victim", std::stoi(line.argument(0))}});
  ::kill(processes_.at(std::stoul(line.argument(0))), SIGSTOP);
}

void Stage::go_on(const Line& line) {
  ::kill(processes_.at(std::stoul(line.argument(0))), SIGCONT);
}

// Without MPI_Finalize, which may wait for a rank that is dead.
void Stage::leave(const Line& /*line*/) {
  finalize();
  std::_Exit(0);
}

void Stage::measure_cpu(const Line& line) {
  const pid_t process = processes_.at(std::stoul(line.argument(0)));
  const double cpu_before = cpu_seconds(process);
  const double began = now_seconds();
  sleep_for(std::stod(line.argument(1)));
  const double cpu = cpu_seconds(process) - cpu_before;
  journal_.write({{"call", "measure_cpu"},
                  {"of", std::stoi(line.argument(0))},
                  {"cpu_seconds", cpu},
                  {"seconds", now_seconds() - began}});
}

void Stage::limit_file_size(const Line& line) {
  const auto bytes = static_cast<rlim_t>(std::stoull(line.argument(0)));
  const rlimit limit{bytes, bytes};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) {
    throw std::runtime_error{"the size of files cannot be limited"};
  }
}

void Stage::pin(const Line& line) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(std::stoul(line.argument(0)), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    throw std::runtime_error{"there is no CPU " + line.argument(0)};
  }
}

void Stage::fault(const Line& line) {
  add_fault({line.argument(0), errno_of(line.argument(1)), std::stoi(line.option("after", "0")),
             std::stoi(line.option("times", "-1")), line.option("path", "")});
}

void Stage::remove_tree(const Line& line) { std::filesystem::remove_all(line.argument(0)); }

void Stage::rename(const Line& line) {
  std::filesystem::rename(line.argument(0), line.argument(1));
}

void Stage::make_folder(const Line& line) { std::filesystem::create_directories(line.argument(0)); }

void Stage::settings(const Line& line) {
  journal_.write(
      {{"call", "settings"}, {"line", line.number}, {"text", iocomp_settings(session_)}});
}

}  // namespace actor
