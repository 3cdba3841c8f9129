#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <iocomp/iocomp.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "script.h"
#include "written_block.h"

/// Carries out the lines of a script on one compute rank, through the public interface only.
/// script.py says what the lines mean. All ranks get the same lines; a put is carried out by the
/// member of the file that its writer falls to, so that a script makes the same files on any number
/// of ranks.
class Performer {
 public:
  explicit Performer(iocomp::Session& session);

  /// @throws iocomp::Error or std::runtime_error.
  void perform(Line line);

 private:
  struct Variable {
    iocomp_var* handle = nullptr;
    iocomp_type type{};
    std::uint64_t seed = 0;
    std::vector<std::int64_t> shape;
  };
  struct Put {
    iocomp_ticket ticket{};
    std::vector<std::byte> memory;   // until the library no longer needs it
    std::span<std::byte> allocated;  // or this, from iocomp_alloc; finalize frees what is left
  };
  struct File {
    std::string name;
    iocomp_file* handle = nullptr;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int size = 0;
    std::map<std::string, Variable> variables;
    std::vector<Put> puts;
    std::vector<WrittenBlock> written;  // by all members
    std::map<iocomp_state, std::size_t>
        waited;  // so many puts, from the first, have come to the state
  };
  using Action = void (Performer::*)(Line&, File&);

  void open(Line& line);
  void define(Line& line, File& file);
  void set_shape(Line& line, File& file);
  void attribute(Line& line, File& file);
  void text(Line& line, File& file);
  void put(Line& line, File& file);
  void reuse_memory(Put& put);
  [[nodiscard]] std::span<std::byte> allocated_copy(const std::vector<std::byte>& values);
  void wait(Line& line, File& file);
  void poll(Line& line, File& file);
  void end_step(Line& line, File& file);
  void wait_step(Line& line, File& file);
  void close(Line& line, File& file);
  void read_back(const File& file);

  /// Puts that no earlier line has waited for in this state, in the order to wait in.
  [[nodiscard]] std::vector<std::size_t> unsettled(File& file, iocomp_state state,
                                                   const std::string& order) const;

  iocomp::Session& session_;
  int rank_ = 0;
  int size_ = 0;
  std::map<std::string, File> files_;
};
