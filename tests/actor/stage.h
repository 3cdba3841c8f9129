// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>
#include <mpi.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "block.h"
#include "journal.h"
#include "memory.h"
#include "script.h"
#include "values.h"

namespace actor {

struct Variable {
  iocomp_var* handle = nullptr;
  Values values;
  Extents shape;
};

struct Put {
  iocomp_ticket ticket{};
  std::int64_t step = 0;
  std::string variable;
  Memory memory;
};

/// A block that some member put, for others to read.
struct Written {
  std::string variable;
  Values values;
  std::int64_t step = 0;
  Block block;
};

struct File {
  iocomp_file* handle = nullptr;  // null: closed, never opened, or of others
  MPI_Comm members = MPI_COMM_NULL;
  int rank = 0;  // among the members
  int size = 1;
  std::map<std::string, Variable> variables;
  std::vector<Put> puts;
  std::vector<Put> forgotten;  // of which nobody asks; their memory stays
  std::vector<Written> written;
  std::map<iocomp_state, std::size_t> waited;  // so many puts, from the first, for this state
};

/// The belongings of one rank while it carries out a script; the words (words.h) work on them.
struct Stage {
  explicit Stage(Journal& kept);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  /// Free the communicators of groups.
  ~Stage();

  /// Carry out a line. Before `init` lines concern ranks of the world, then compute ranks. A failed
  /// call changes nothing for the next line: that is for the script to say.
  /// @throws std::runtime_error naming the line when it makes no sense.
  void perform(const Line& line);
  [[nodiscard]] bool is_server() const { return role == IOCOMP_SERVER; }
  void finalize();

  /// The file that the first argument names.
  [[nodiscard]] File& file(const Line& line) { return files[line.argument(0)]; }
  /// Its variable that the second argument names. @throws std::out_of_range.
  [[nodiscard]] Variable& variable(const Line& line) {
    return file(line).variables.at(line.argument(1));
  }
  /// Write down how a call went, and about which file and variable it was; returns its code.
  int tell(const Line& line, int code, double began, nlohmann::json more = {});

  Journal& journal;
  int rank = 0;                  // in the world; after init among the compute ranks
  std::vector<pid_t> processes;  // by world rank
  iocomp_session* session = nullptr;
  iocomp_rank_role role = IOCOMP_BOTH;
  std::map<std::string, File> files;
  std::map<std::string, MPI_Comm> groups;
  using Elements = std::tuple<Extents, std::string, Extents>;  // shape, form, indices
  std::map<Elements, iocomp_decomp*> decompositions;           // that are kept for the next put
};

/// The system's words for a process, from its state on (proc(5)); empty if there is none.
[[nodiscard]] std::string process_state(pid_t process);

}  // namespace actor
