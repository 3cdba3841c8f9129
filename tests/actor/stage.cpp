// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "words.h"

namespace actor {
namespace {

const Words& words() {
  static const Words all = [] {
    Words merged;
    for (Words some :
         {file_words(), put_words(), read_words(), session_words(), wait_words(), world_words()}) {
      merged.merge(some);
    }
    return merged;
  }();
  return all;
}

}  // namespace

Stage::Stage(Journal& kept) : journal{kept} {
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  processes.resize(static_cast<std::size_t>(size));
  const pid_t mine = ::getpid();
  static_assert(sizeof(pid_t) == sizeof(int));
  MPI_Allgather(&mine, 1, MPI_INT, processes.data(), 1, MPI_INT, MPI_COMM_WORLD);
}

Stage::~Stage() {
  for (auto& [name, comm] : groups) {
    if (comm != MPI_COMM_NULL) {
      MPI_Comm_free(&comm);
    }
  }
}

void Stage::perform(const Line& line) {
  const auto word = words().find(line.word);
  if (word == words().end()) {
    throw std::runtime_error{"line " + std::to_string(line.number) + ": there is no word \"" +
                             line.word + '"'};
  }
  if (!line.concerns(rank)) {
    return;
  }
  try {
    word->second(*this, line);
  } catch (const std::exception& error) {
    throw std::runtime_error{"line " + std::to_string(line.number) + " (" + line.word +
                             "): " + error.what()};
  }
}

void Stage::finalize() {
  Line line;
  line.word = "finalize";
  perform(line);
}

int Stage::tell(const Line& line, int code, double began, nlohmann::json more) {
  more["call"] = line.word;
  more["line"] = line.number;
  more["code"] = code;
  more["seconds"] = now_seconds() - began;
  if (code != IOCOMP_OK) {
    more["story"] = iocomp_error();
  }
  journal.write(std::move(more));
  return code;
}

std::string process_state(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  std::getline(file, text);
  const auto end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos ? std::string{} : text.substr(end_of_name + 2);
}

}  // namespace actor
