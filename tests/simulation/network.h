// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "world.h"

namespace simulation {

/// The promises of MPI, and nothing more: messages of a pair in order, all else at any time. Small
/// messages leave at once; of large ones the bytes are taken when the receiver is there, at some
/// later moment.
class Network {
 public:
  /// The ranks of a communicator are processes of the world.
  struct Communicator;
  struct Group {
    std::vector<int> processes;
  };
  struct Status {
    int source = 0;
    int tag = 0;
    std::size_t bytes = 0;
  };
  struct Message;
  /// The places of the bytes of a message, in parts.
  using Source = std::vector<std::span<const std::byte>>;
  using Target = std::vector<std::span<std::byte>>;
  /// Something that was started. It completes at a time that is known once all it needs is there.
  struct Request {
    std::optional<Nanoseconds> done_at{};
    std::function<void()> finish{};  ///< what completion does, once
    Status status{};
    std::shared_ptr<Message> message{};
    bool is_receive = false;
    bool is_free = false;  ///< nobody asks for it any more
  };
  static constexpr int any = -1;

  explicit Network(World& world);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  [[nodiscard]] static Network* current() noexcept;

  [[nodiscard]] Communicator& make(std::vector<int> processes);
  [[nodiscard]] static int rank(const Communicator& comm, int process);
  [[nodiscard]] int rank(const Communicator& comm) const { return rank(comm, world_.process()); }
  [[nodiscard]] static const std::vector<int>& processes(const Communicator& comm);
  [[nodiscard]] Group& make_group(std::vector<int> processes);
  /// The same communicator for all processes that make this call for the same group.
  [[nodiscard]] Communicator& make_of(const Group& group);

  /// @param waits_for_receiver  as MPI_Issend.
  Request& send(Communicator& comm, int to, int tag, Source bytes, bool waits_for_receiver);
  Request& receive(Communicator& comm, int from, int tag, Target bytes);
  void cancel(Request& request);
  /// A message that has come and is taken by nobody else from here on.
  [[nodiscard]] std::shared_ptr<Message> probe(Communicator& comm, int from, int tag);
  [[nodiscard]] static Status status(const Message& message);
  void take(Message& message, const Target& bytes);
  /// @return whether it has completed; then it does not exist any more.
  [[nodiscard]] bool test(Request& request, Status* status);
  void release(Request& request);

  /// One rank's part in a collective call: what it gives, and what it gets.
  struct Part {
    std::vector<std::byte> given{};
    std::function<void(const std::vector<Part>&)> take{};  ///< called when the rank completes
    bool is_here = false;
  };
  enum class Needs { all, root, lower, own };
  /// @param needs  whose parts must be there before this rank can complete.
  Request& collective(Communicator& comm, Needs needs, int root, std::vector<std::byte> given,
                      std::function<void(const std::vector<Part>&)> take);
  /// The same communicator for all ranks that make this call. Not waited for.
  Request& duplicate(Communicator& comm, Communicator** made);

  /// Messages that nobody has received, for people.
  [[nodiscard]] std::vector<std::string> waiting_messages() const;

  [[nodiscard]] World& world() noexcept { return world_; }

 private:
  struct Call;
  [[nodiscard]] Nanoseconds delay(std::size_t bytes);
  void match(Communicator& comm, int rank);
  void advance(Communicator& comm, Call& call);
  Request& make_request();

  World& world_;
  std::deque<std::unique_ptr<Communicator>> communicators_;
  std::deque<std::unique_ptr<Group>> groups_;
  struct OfGroup {
    std::vector<Communicator*> made{};   ///< by calls of one process
    std::map<int, std::size_t> calls{};  ///< by process
  };
  std::map<std::vector<int>, OfGroup> of_groups_;
  std::map<Request*, std::unique_ptr<Request>> requests_;
};

}  // namespace simulation
