// SPDX-License-Identifier: BSD-3-Clause
// The calls of the first iocomp over iocomp.h. Each array that is sent is a file of one step.
#include <iocomp/iocomp.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iocomp.h"

/// The state of one iocompInit.
struct iocomp_v1 {
  /// An array on its way.
  struct Send {
    MPI_Request* request = nullptr;
    double* data = nullptr;
    std::size_t elements = 0;
    std::string file{};  ///< empty: not named yet, so nothing was put
    double started = 0;
    iocomp_ticket ticket{};  ///< of the close of its file
    bool is_free = false;    ///< the program may change the array
  };

  iocomp_session* io = nullptr;
  std::string next_file{};
  std::string usual_file{};     ///< of arrays that no call names
  bool names_no_files = false;  ///< a dataWait without a name has come
  std::vector<Send> sends{};    ///< those that are not durable
  std::FILE* times = nullptr;
};

namespace {

using Send = iocomp_v1::Send;

[[noreturn]] void give_up(std::string_view call, const std::string& story) {
  std::fprintf(stderr, "iocomp, calls of 0.1: %s: %s\n", std::string{call}.c_str(), story.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(int code, std::string_view call) {
  if (code != IOCOMP_OK) {
    give_up(call, std::string{iocomp_code_name(code)} + ": " + iocomp_error());
  }
}

iocomp_v1& state_of(iocomp_params* p, std::string_view call) {
  if (p == nullptr || p->state == nullptr) {
    give_up(call, "iocompInit comes before it, and stopSend or winFinalise last");
  }
  return *p->state;
}

/// The meaning of a number of ioLib.
struct Library {
  const char* settings;
  const char* file;  ///< that the first iocomp wrote where the program named none
};

const Library& library_of(int number) {
  static constexpr std::array<Library, 5> libraries{
      {{"backend = \"mpiio\"", "mpiio.dat"},
       {"backend = \"hdf5\"\nlayout = \"flat\"", "hdf5.h5"},
       {"backend = \"adios2\"\nengine = \"HDF5\"", "adios2.h5"},
       {"backend = \"adios2\"\nengine = \"BP4\"", "adios2.bp4"},
       {"backend = \"adios2\"\nengine = \"BP5\"", "adios2.bp5"}}};
  if (number < 0 || number >= static_cast<int>(libraries.size())) {
    give_up("iocompInit", "ioLib is " + std::to_string(number) + "; allowed are 0 to 4");
  }
  return libraries[static_cast<std::size_t>(number)];
}

std::string settings(bool serves, const Library& library, int node_size, bool shared) {
  std::string text = serves ? "mode = \"async\"\n" : "mode = \"sync\"\n";
  if (serves) {
    text += "[placement]\npolicy = \"halves\"\nnode_size = " + std::to_string(node_size) +
            "\n[transport]\nkind = \"" + (shared ? "shared" : "message") + "\"\n";
  }
  return text + "[files.default]\nexisting = \"replace\"\n" + library.settings + '\n';
}

// The name in settings for a file of this path: its last part, in the letters that names have.
std::string name_of(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  for (char& letter : name) {
    const bool is_known = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
                          letter == '-' || letter == '.';
    letter = is_known ? letter : '_';
  }
  return name;
}

std::string path_option(const std::string& file) {
  std::string text = "path = \"";
  for (const char letter : file) {
    text += letter == '"' || letter == '\\' ? std::string{'\\', letter} : std::string{letter};
  }
  return text + '"';
}

// Time from the send to when somebody has asked and found it durable.
void note_time(iocomp_v1& state, const Send& send) {
  if (state.times != nullptr) {
    std::fprintf(state.times, "%s,%.6f\n", send.file.c_str(), MPI_Wtime() - send.started);
    std::fflush(state.times);
  }
}

/// Forget what is durable.
void settle(iocomp_v1& state) {
  std::erase_if(state.sends, [&](const Send& send) {
    int is_durable = 0;
    if (!send.file.empty()) {
      check(iocomp_test(&send.ticket, IOCOMP_DURABLE, &is_durable), send.file);
    }
    if (is_durable == 0 || !send.is_free) {
      return false;
    }
    note_time(state, send);
    return true;
  });
}

void finish(iocomp_v1& state, const std::string& file) {
  for (Send& send : state.sends) {
    if (!send.file.empty() && (file.empty() || send.file == file)) {
      check(iocomp_wait(&send.ticket, IOCOMP_DURABLE), send.file);
      send.is_free = true;
    }
  }
  settle(state);
}

/// Collective over the compute ranks.
void start(iocomp_v1& state, Send send, const std::string& file) {
  finish(state, file);  // a file that is written again
  send.file = file;
  send.started = MPI_Wtime();
  iocomp_file* out = nullptr;
  iocomp_var* var = nullptr;
  const auto count = static_cast<std::int64_t>(send.elements);
  std::int64_t first = 0;
  std::int64_t total = 0;
  MPI_Exscan(&count, &first, 1, MPI_INT64_T, MPI_SUM, iocomp_comm(state.io));
  MPI_Allreduce(&count, &total, 1, MPI_INT64_T, MPI_SUM, iocomp_comm(state.io));
  const std::string path = path_option(file);
  const iocomp_open_options options{.size = sizeof options, .settings = path.c_str()};
  check(iocomp_open(state.io, name_of(file).c_str(), IOCOMP_SERIES, &options, &out), file);
  check(iocomp_define(out, "IntArray", IOCOMP_FLOAT64, 1, &total, &var), file);
  check(iocomp_put(var, &first, &count, send.data, nullptr), file);
  check(iocomp_end_step(out), file);
  check(iocomp_close_later(out, &send.ticket), file);
  state.sends.push_back(std::move(send));
}

/// The newest send of this request, else of this array.
Send* find(iocomp_v1& state, const MPI_Request* request, const double* data) {
  const auto newest = [&](auto&& is_it) -> Send* {
    const auto found = std::find_if(state.sends.rbegin(), state.sends.rend(),
                                    [&](const Send& send) { return !send.is_free && is_it(send); });
    return found == state.sends.rend() ? nullptr : &*found;
  };
  Send* found = newest([&](const Send& send) { return send.request == request; });
  return found != nullptr || data == nullptr
             ? found
             : newest([&](const Send& send) { return send.data == data; });
}

void end(iocomp_params* p) {
  if (p->state->times != nullptr) {
    std::fclose(p->state->times);
  }
  check(iocomp_finalize(p->state->io), "the end");
  delete p->state;
  p->state = nullptr;
}

}  // namespace

MPI_Comm iocomp_v1_init(iocomp_params* p, MPI_Comm comm, bool HT, int ioLib, int NODESIZE,
                        bool shared, int numWin) {
  *p = {};
  p->numWin = numWin;
  auto state = std::make_unique<iocomp_v1>();
  const Library& library = library_of(ioLib);
  state->usual_file = library.file;
  const std::string text = settings(HT || shared, library, NODESIZE, shared);
  check(iocomp_init(comm, text.c_str(), &state->io), "iocompInit");
  MPI_Comm_dup(iocomp_comm(state->io), &p->compServerComm);
  int rank = 0;
  MPI_Comm_rank(p->compServerComm, &rank);
  if (rank == 0) {
    state->times = std::fopen("write_time.csv", "w");
  }
  p->state = state.release();
  return p->compServerComm;
}

MPI_Comm iocomp_v1_init_5(iocomp_params* p, MPI_Comm comm, bool HT, int ioLib, int NODESIZE) {
  return iocomp_v1_init(p, comm, HT, ioLib, NODESIZE, false, 0);
}

void iocomp_v1_win_inits(iocomp_params* p, int n) {
  iocomp_v1& state = state_of(p, "winInits");
  p->localDataSize = static_cast<std::size_t>(n);
  p->array = new double* [static_cast<std::size_t>(p->numWin)] {};
  for (int i = 0; i < p->numWin; ++i) {
    void* memory = nullptr;
    check(iocomp_alloc(state.io, p->localDataSize * sizeof(double), &memory), "winInits");
    p->array[i] = static_cast<double*>(memory);
  }
}

void iocomp_v1_pre_data_send(iocomp_params* p, double* /*data*/, const char* file) {
  state_of(p, "preDataSend").next_file = file;
}

void iocomp_v1_data_send(double* data, iocomp_params* p, MPI_Request* request, std::size_t n) {
  iocomp_v1& state = state_of(p, "dataSend");
  p->localDataSize = n;
  if (request != nullptr) {
    *request = MPI_REQUEST_NULL;
  }
  std::string file = std::exchange(state.next_file, {});
  if (file.empty() && state.names_no_files) {
    file = state.usual_file;
  }
  if (file.empty()) {
    state.sends.push_back({.request = request, .data = data, .elements = n});
  } else {
    start(state, {.request = request, .data = data, .elements = n}, file);
  }
}

int iocomp_v1_data_send_test(iocomp_params* p, MPI_Request* request, double* data) {
  iocomp_v1& state = state_of(p, "dataSendTest");
  check(iocomp_progress(state.io), "dataSendTest");
  Send* send = find(state, request, data);
  int is_free = send == nullptr ? 1 : 0;
  if (send != nullptr && !send->file.empty()) {
    check(iocomp_test(&send->ticket, IOCOMP_REUSABLE, &is_free), send->file);
    send->is_free = is_free != 0;
  }
  settle(state);
  return is_free;
}

int iocomp_v1_data_send_test_2(iocomp_params* p, MPI_Request* request) {
  return iocomp_v1_data_send_test(p, request, nullptr);
}

void iocomp_v1_data_wait(iocomp_params* p, MPI_Request* request, double* data, const char* file) {
  iocomp_v1& state = state_of(p, "dataWait");
  Send* send = find(state, request, data);
  if (send != nullptr && send->file.empty()) {
    std::string named = file == nullptr ? std::exchange(state.next_file, {}) : file;
    if (named.empty()) {
      state.names_no_files = true;
      named = state.usual_file;
    }
    const Send unnamed = *send;
    state.sends.erase(state.sends.begin() + (send - state.sends.data()));
    start(state, unnamed, named);
    send = &state.sends.back();
  }
  if (send != nullptr) {
    check(iocomp_wait(&send->ticket, IOCOMP_REUSABLE), send->file);
    send->is_free = true;
  }
  settle(state);
}

void iocomp_v1_data_wait_2(iocomp_params* p, MPI_Request* request) {
  iocomp_v1_data_wait(p, request, nullptr, nullptr);
}

void iocomp_v1_stop_send(iocomp_params* p) {
  iocomp_v1& state = state_of(p, "stopSend");
  finish(state, {});
  for (const Send& unnamed : std::exchange(state.sends, {})) {  // that nobody has waited for
    start(state, unnamed, state.usual_file);
  }
  finish(state, {});
  if (p->array == nullptr) {
    end(p);
  }
}

void iocomp_v1_win_finalise(iocomp_params* p) {
  if (p->state == nullptr) {
    return;  // stopSend was the end
  }
  finish(*p->state, {});
  for (int i = 0; p->array != nullptr && i < p->numWin; ++i) {
    check(iocomp_free(p->state->io, p->array[i]), "winFinalise");
  }
  delete[] p->array;
  p->array = nullptr;
  end(p);
}

void iocomp_v1_win_info(iocomp_params* p, double* /*data*/) {
  check(iocomp_progress(state_of(p, "winTestInfo").io), "winTestInfo");
}

void iocomp_v1_error_report(int ierr, int line, const char* file) {
  if (ierr != MPI_SUCCESS) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(ierr, text.data(), &length);
    give_up(std::string{file} + ':' + std::to_string(line), text.data());
  }
}
