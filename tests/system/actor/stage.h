#pragma once

#include <iocomp/iocomp.h>
#include <mpi.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "journal.h"
#include "script.h"
#include "values.h"

namespace actor {

/// Carries out the lines of a script on one rank, and writes into the journal how each call went. A
/// failed call changes nothing for the next line: that is for the script to say.
class Stage {
 public:
  explicit Stage(Journal& journal);

  /// Before `init` lines concern ranks of the world, then compute ranks.
  void perform(const Line& line);
  [[nodiscard]] bool is_server() const { return role_ == IOCOMP_SERVER; }
  [[nodiscard]] bool has_session() const { return session_ != nullptr; }
  void finalize();

 private:
  struct Variable {
    iocomp_var* handle = nullptr;
    iocomp_type type = IOCOMP_INT64;
    std::vector<std::int64_t> shape;
  };
  struct Put {
    iocomp_ticket ticket{};
    std::int64_t step = 0;
    std::string variable;
  };
  struct File {
    iocomp_file* handle = nullptr;
    MPI_Comm members = MPI_COMM_NULL;
    std::map<std::string, Variable> variables;
    std::vector<Put> puts;  // not waited for yet
    std::deque<Bytes> buffers;
  };
  struct Block {
    std::vector<std::int64_t> start;
    std::vector<std::int64_t> count;
  };
  using Act = void (Stage::*)(const Line&);
  [[nodiscard]] static const std::map<std::string, Act>& acts();

  // One for each word of a script, in stage.cpp and scenery.cpp.
  void init(const Line& line);
  void open(const Line& line);
  void define(const Line& line);
  void set_shape(const Line& line);
  void attribute(const Line& line);
  void fill(const Line& line);
  void put(const Line& line);
  void put_runs(const Line& line);
  void put_text(const Line& line);  // in text.cpp
  void end_step(const Line& line);
  void wait(const Line& line);
  void test(const Line& line);
  void wait_step(const Line& line);
  void progress(const Line& line);
  void close(const Line& line);
  void read(const Line& line);  // in reading.cpp
  void finalize_now(const Line& line);
  void group(const Line& line);
  void barrier(const Line& line);
  void pause(const Line& line);
  void kill(const Line& line);
  void leave(const Line& line);
  void stop(const Line& line);
  void go_on(const Line& line);
  void measure_cpu(const Line& line);
  void limit_file_size(const Line& line);
  void pin(const Line& line);
  void fault(const Line& line);
  void remove_tree(const Line& line);
  void rename(const Line& line);
  void make_folder(const Line& line);
  void settings(const Line& line);

  [[nodiscard]] File& file(const Line& line);
  [[nodiscard]] Block block(const Line& line, const Variable& variable, const File& file) const;
  /// Write down how a call went; returns its code.
  int tell(const Line& line, int code, double began, nlohmann::json more = {});

  Journal& journal_;
  int rank_ = 0;                  // in the world; after init among the compute ranks
  std::vector<pid_t> processes_;  // by world rank
  iocomp_session* session_ = nullptr;
  iocomp_rank_role role_ = IOCOMP_BOTH;
  std::map<std::string, File> files_;
  std::map<std::string, MPI_Comm> groups_;
};

}  // namespace actor
