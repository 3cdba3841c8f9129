// SPDX-License-Identifier: BSD-3-Clause
// liburing's calls, for the whole program: the rings are those of the simulated Machine. What
// liburing.h defines itself works on them as it would on the kernel's.
#include <liburing.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "machine.h"
#include "rings.h"

using simulation::Machine;

namespace {

Machine& machine() {
  if (Machine::current() == nullptr) {
    std::abort();  // only simulated processes have rings
  }
  return *Machine::current();
}

}  // namespace

extern "C" {

int io_uring_queue_init_params(unsigned entries, io_uring* ring, io_uring_params* wish) {
  return machine().rings().set_up(entries, *ring, *wish, machine().system().rings);
}
void io_uring_queue_exit(io_uring* ring) { machine().rings().remove(*ring); }

io_uring_probe* io_uring_get_probe_ring(io_uring* /*ring*/) {
  constexpr unsigned old_operations = 40;
  constexpr unsigned operations = 56;
  const bool is_old = machine().system().rings == simulation::System::Rings::old;
  const unsigned count = is_old ? old_operations : operations;
  auto* const probe = static_cast<io_uring_probe*>(
      std::calloc(1, sizeof(io_uring_probe) + count * sizeof(io_uring_probe_op)));
  probe->last_op = static_cast<__u8>(count - 1);
  for (unsigned i = 0; i < count; ++i) {
    probe->ops[i].op = static_cast<__u8>(i);
    probe->ops[i].flags = IO_URING_OP_SUPPORTED;
  }
  return probe;
}
int io_uring_register_iowq_max_workers(io_uring* /*ring*/, unsigned* /*most*/) { return 0; }
void io_uring_free_probe(io_uring_probe* probe) { std::free(probe); }

int io_uring_submit(io_uring* ring) { return machine().rings().submit(*ring); }

int io_uring_submit_and_wait_timeout(io_uring* ring, io_uring_cqe** answer, unsigned /*count*/,
                                     __kernel_timespec* time, sigset_t* /*signals*/) {
  const int result = machine().rings().submit_and_wait(
      *ring, machine().world().now() + time->tv_sec * simulation::second + time->tv_nsec);
  (void)__io_uring_peek_cqe(ring, answer, nullptr);
  return result;
}

int __io_uring_get_cqe(io_uring* ring, io_uring_cqe** answer, unsigned /*submit*/,
                       unsigned /*count*/, sigset_t* /*signals*/) {
  if ((*ring->sq.kflags & IORING_SQ_TASKRUN) != 0) {
    machine().rings().show_answers(*ring);
  }
  (void)__io_uring_peek_cqe(ring, answer, nullptr);
  return *answer == nullptr ? -EAGAIN : 0;
}

}  // extern "C"
