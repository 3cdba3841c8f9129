// SPDX-License-Identifier: BSD-3-Clause
#include "rings.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "machine.h"

namespace simulation {
namespace {

constexpr Nanoseconds submit_time = 500;
constexpr int futex_wait_operation = 51;

}  // namespace

/// A request that the kernel has taken.
struct Rings::Work {
  Ring* ring = nullptr;
  std::uint64_t thread = 0;  // that has asked
  int operation = 0;
  std::uint64_t tag = 0;
  std::shared_ptr<Machine::Open> file;
  int file_error = 0;
  std::int64_t offset = 0;
  std::span<const std::byte> bytes;
  const std::uint32_t* word = nullptr;
  std::uint32_t seen = 0;
  std::uint64_t target = 0;  // to be cancelled
  std::uint64_t watch = 0;
  std::shared_ptr<Work> next;  // begins when this is done
  bool is_over = false;
};

struct Rings::Ring {
  int process = 0;
  bool is_lazy = false;  // answers are shown when the process calls
  unsigned submitted = 0;
  unsigned taken = 0;
  unsigned flags = 0;
  unsigned answered = 0;
  unsigned seen = 0;
  std::vector<io_uring_sqe> requests;
  std::vector<io_uring_cqe> answers;
  std::deque<io_uring_cqe> hidden;
  std::list<std::shared_ptr<Work>> under_way;

  void show() {
    for (; !hidden.empty(); hidden.pop_front()) {
      if (answered - seen == answers.size()) {
        std::abort();  // nobody asks for so much
      }
      answers[answered++ % answers.size()] = hidden.front();
    }
    flags = 0;
  }
};

Rings::Rings(World& world, Machine& machine) : world_{world}, machine_{machine} {}
Rings::~Rings() = default;

Rings::Ring& Rings::of(const io_uring& ring) { return *rings_.at(ring.ring_fd); }

int Rings::set_up(unsigned places, io_uring& ring, io_uring_params& wish, System::Rings known) {
  world_.spend(10 * microsecond);
  if (known == System::Rings::none) {
    return -EPERM;
  }
  if (known == System::Rings::old && wish.flags != 0) {
    return -EINVAL;
  }
  unsigned size = 1;
  while (size < places) {
    size *= 2;
  }
  auto made = std::make_unique<Ring>();
  made->process = world_.process();
  made->is_lazy = (wish.flags & IORING_SETUP_COOP_TASKRUN) != 0;
  made->requests.resize(size);
  made->answers.resize(2 * std::size_t{size});
  ring = {};
  ring.flags = wish.flags;
  ring.features = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_SUBMIT_STABLE;
  ring.ring_fd = ring.enter_ring_fd = next_;
  ring.sq.khead = &made->taken;
  ring.sq.ktail = &made->submitted;
  ring.sq.kflags = &made->flags;
  ring.sq.sqes = made->requests.data();
  ring.sq.ring_mask = size - 1;
  ring.sq.ring_entries = size;
  ring.cq.khead = &made->seen;
  ring.cq.ktail = &made->answered;
  ring.cq.cqes = made->answers.data();
  ring.cq.ring_mask = 2 * size - 1;
  ring.cq.ring_entries = 2 * size;
  rings_[next_++] = std::move(made);
  return 0;
}

void Rings::remove(io_uring& ring) {
  give_up(of(ring));
  rings_.erase(ring.ring_fd);
}

void Rings::end(int process) {
  for (const auto& [descriptor, ring] : rings_) {
    if (ring->process == process) {
      give_up(*ring);
    }
  }
}

void Rings::end_thread() {
  for (const auto& [descriptor, ring] : rings_) {
    for (const auto& work : std::list{ring->under_way}) {
      if (ring->process == world_.process() && work->thread == world_.thread() &&
          world_.random().chance(2, 3)) {
        complete(work, -ECANCELED);
      }
    }
  }
}

void Rings::give_up(Ring& ring) {
  for (const auto& work : std::exchange(ring.under_way, {})) {
    world_.forget(work->watch);
    work->is_over = true;
    if (work->operation == IORING_OP_WRITE && work->file && world_.random().chance(1, 2)) {
      (void)machine_.write_now(*work->file, work->offset, work->bytes);
    }
  }
}

int Rings::submit(io_uring& ring) {
  world_.spend(submit_time);
  Ring& own = of(ring);
  own.show();
  io_uring_sq& queue = ring.sq;
  queue.sqe_head = own.submitted = queue.sqe_tail;
  unsigned count = own.submitted - own.taken;
  if (count > 1 && world_.random().chance(1, 50)) {  // short of memory: the others next time
    count = static_cast<unsigned>(world_.random().between(1, count - 1));
  }
  std::shared_ptr<Work> before;  // that the next one waits for
  for (unsigned i = 0; i < count; ++i) {
    const io_uring_sqe& asked = queue.sqes[own.taken++ & queue.ring_mask];
    auto work = std::make_shared<Work>();
    work->ring = &own;
    work->thread = world_.thread();
    work->operation = asked.opcode;
    work->tag = asked.user_data;
    if (asked.opcode == futex_wait_operation) {
      work->word = reinterpret_cast<const std::uint32_t*>(asked.addr);
      work->seen = static_cast<std::uint32_t>(asked.off);
    } else if (asked.opcode == IORING_OP_ASYNC_CANCEL) {
      work->target = asked.addr;
    } else {
      work->file = machine_.file(asked.fd);
      work->offset = static_cast<std::int64_t>(asked.off);
      work->bytes = {reinterpret_cast<const std::byte*>(asked.addr),
                     asked.opcode == IORING_OP_WRITE ? asked.len : 0};
    }
    own.under_way.push_back(work);
    if (before) {
      before->next = work;
    } else {
      begin(work);
    }
    before = (asked.flags & IOSQE_IO_LINK) != 0 ? work : nullptr;
  }
  own.show();
  return static_cast<int>(count);
}

int Rings::submit_and_wait(io_uring& ring, Nanoseconds until) {
  Ring& own = of(ring);
  (void)submit(ring);
  if (own.taken != own.submitted) {
    return 0;
  }
  while (own.answered == own.seen) {
    if (world_.now() >= until) {
      return -ETIME;
    }
    world_.sleep_at({&own}, until);
    own.show();
  }
  return 0;
}

void Rings::show_answers(io_uring& ring) {
  world_.spend(submit_time);
  of(ring).show();
}

void Rings::begin(const std::shared_ptr<Work>& work) {
  if (work->operation == futex_wait_operation) {
    if (*work->word != work->seen) {
      complete(work, -EAGAIN);
    } else {
      work->watch =
          world_.watch(machine_.memory().place(work->word), [this, work] { complete(work, 0); });
    }
    return;
  }
  if (work->operation == IORING_OP_ASYNC_CANCEL) {
    cancel(work);
    return;
  }
  const Nanoseconds about =
      work->operation == IORING_OP_FSYNC ? Machine::sync_time : Machine::write_time;
  const bool is_late = world_.random().chance(1, 50);
  world_.at(world_.now() + machine_.slowness() * world_.random().between(about / 2, 2 * about) +
                (is_late ? world_.random().below(3 * millisecond) : 0),
            [this, work] { carry_out(work); });
}

void Rings::cancel(const std::shared_ptr<Work>& work) {
  const auto& all = work->ring->under_way;
  const auto found = std::ranges::find_if(
      all, [&](const auto& one) { return one != work && one->tag == work->target; });
  if (found == all.end()) {
    complete(work, -ENOENT);
    return;
  }
  const auto target = *found;
  // Nobody knows of a write whether a worker has begun with it.
  const bool is_cancelled = target->operation == IORING_OP_WRITE
                                ? world_.random().chance(1, 2)
                                : target->watch != 0 && world_.forget(target->watch);
  complete(work, is_cancelled ? 0 : -EALREADY);
  if (is_cancelled) {
    complete(target, -ECANCELED);
  }
}

void Rings::carry_out(const std::shared_ptr<Work>& work) {
  if (!work->is_over) {
    complete(work, result_of(*work));
  }
}

std::int64_t Rings::result_of(const Work& work) {
  if (!work.file) {
    return -EBADF;
  }
  if (world_.random().chance(1, 60)) {
    return world_.random().chance(1, 2) ? -EAGAIN : -EINTR;
  }
  switch (work.operation) {
    case IORING_OP_WRITE:
      return machine_.write_now(*work.file, work.offset, work.bytes);
    case IORING_OP_FSYNC:
      return machine_.sync_now(*work.file);
    case IORING_OP_SYNC_FILE_RANGE:
      return 0;
    default:
      return -EINVAL;
  }
}

void Rings::complete(const std::shared_ptr<Work>& work, std::int64_t result) {
  if (std::exchange(work->is_over, true)) {
    return;
  }
  Ring& ring = *work->ring;
  ring.under_way.remove(work);
  io_uring_cqe answer{};
  answer.user_data = work->tag;
  answer.res = static_cast<int>(result);
  ring.hidden.push_back(answer);
  if (ring.is_lazy) {
    ring.flags = IORING_SQ_TASKRUN;
  } else {
    ring.show();
  }
  world_.wake(&ring, 1);
  if (work->next) {
    const bool is_whole =
        result >= 0 && (work->operation != IORING_OP_WRITE || result == std::ssize(work->bytes));
    is_whole ? begin(work->next) : complete(work->next, -ECANCELED);
  }
}

}  // namespace simulation
