#include "client/kernel_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/runs.h"
#include "base/byte_size.h"
#include "base/free_ranges.h"
#include "base/log.h"
#include "base/pages.h"
#include "client/carrier.h"
#include "client/copy_memory.h"
#include "client/link.h"
#include "client/tickets.h"
#include "disk/engine.h"
#include "disk/output_file.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

constexpr auto page = FreeRanges::page_bytes;
constexpr std::size_t copy_part_bytes = std::size_t{16} << 20;  // of a long run copied at once
constexpr std::size_t large_array_bytes = std::size_t{8} << 20;
constexpr std::size_t short_runs_bytes = std::size_t{4} << 20;  // of short runs copied at once

}  // namespace

KernelWriter::KernelWriter(const disk::Options& disk, CopyMemory& copies, Link& link)
    : disk_{disk}, link_{link}, copies_{copies}, engine_{disk::start_engine(disk)} {}

/// Cuts one block into plans: each run of the file is written from where it lies, or from a copy
/// that is aligned as its place in the file is.
class KernelWriter::Cutter {
 public:
  Cutter(KernelWriter& writer, const Block& block, std::shared_ptr<disk::OutputFile> file,
         std::shared_ptr<Pending> pending, bool swapped)
      : writer_{writer},
        block_{block},
        file_{std::move(file)},
        pending_{std::move(pending)},
        swapped_{swapped},
        can_lend_{block.is_dense() && !block.buffered && !swapped} {}

  /// @return whether anything is read from the program's memory.
  bool cut(std::int64_t offset) {
    const auto element = static_cast<std::int64_t>(block_.element_bytes());
    array::RunCursor runs{block_.variable.shape, block_.region, 0, array::elements(block_.region)};
    array::Run run;
    std::int64_t first = 0;  // element of the packed order
    while (runs.next(run)) {
      add(offset + run.index * element, first, run.elements);
      first += run.elements;
    }
    flush_short();
    const bool lends = !lent_.writes.empty();
    if (lends) {
      lent_.file = file_;
      writer_.submit(std::move(lent_), {}, pending_);
    }
    return lends;
  }

 private:
  void add(std::int64_t offset, std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * block_.element_bytes();
    const bool is_long = bytes >= writer_.disk_.direct_from_bytes;
    if (can_lend_) {
      const std::byte* from =
          block_.first_value() + static_cast<std::size_t>(first) * block_.element_bytes();
      const auto address = reinterpret_cast<std::uintptr_t>(from);
      if (!is_long || address % page == static_cast<std::uintptr_t>(offset) % page) {
        lent_.writes.push_back({offset, {from, bytes}});
        writer_.look_at_pages({from, bytes});
        writer_.link_.counters().add(trace::Counter::lent_bytes, static_cast<double>(bytes));
        return;
      }
    }
    writer_.link_.counters().add(trace::Counter::copied_bytes, static_cast<double>(bytes));
    is_long ? copy_long(offset, first, count) : copy_short(offset, first, count);
  }

  void copy_long(std::int64_t offset, std::int64_t first, std::int64_t count) {
    const std::size_t element = block_.element_bytes();
    const auto most = static_cast<std::int64_t>(
        std::min(copy_part_bytes, writer_.copies_.limit_bytes() / 4) / element);
    while (count > 0) {
      const std::int64_t now = std::min(count, std::max<std::int64_t>(most, 1));
      const std::size_t bytes = static_cast<std::size_t>(now) * element;
      const std::size_t skew = static_cast<std::size_t>(offset) % page;
      if (!writer_.copies_.has_room(bytes)) {
        flush_short();  // or its own copy would be waited for
      }
      Copy copy = writer_.take_memory(bytes, skew);
      std::byte* const to = copy.get();
      block_.copy_to({to, bytes}, first, now, swapped_);
      disk::Plan plan;
      plan.file = file_;
      plan.writes.push_back({offset, {to, bytes}});
      writer_.submit(std::move(plan), std::move(copy), pending_);
      offset += static_cast<std::int64_t>(bytes);
      first += now;
      count -= now;
    }
  }

  void copy_short(std::int64_t offset, std::int64_t first, std::int64_t count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * block_.element_bytes();
    if (short_.used + bytes > short_.bytes) {
      flush_short();
      const std::size_t left =
          static_cast<std::size_t>(array::elements(block_.region) - first) * block_.element_bytes();
      const std::size_t most = std::min(short_runs_bytes, writer_.copies_.limit_bytes() / 4);
      short_.bytes = std::max(bytes, std::min(left, most));
      short_.copy = writer_.take_memory(short_.bytes, 0);
    }
    std::byte* const to = short_.copy.get() + short_.used;
    block_.copy_to({to, bytes}, first, count, swapped_);
    short_.plan.writes.push_back({offset, {to, bytes}});
    short_.used += bytes;
  }

  void flush_short() {
    if (short_.used > 0) {
      short_.plan.file = file_;
      writer_.submit(std::exchange(short_.plan, {}), std::move(short_.copy), pending_);
    }
    short_ = {};
  }

  KernelWriter& writer_;
  const Block& block_;
  std::shared_ptr<disk::OutputFile> file_;
  std::shared_ptr<Pending> pending_;
  bool swapped_;
  bool can_lend_;
  disk::Plan lent_;
  Part short_;
};

bool KernelWriter::write(const Block& block, const std::shared_ptr<disk::OutputFile>& file,
                         std::int64_t offset, bool swapped, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  const bool lends = Cutter{*this, block, file, pending, swapped}.cut(offset);
  pending->all_submitted = true;
  if (pending->plans == 0) {
    end(pending);
  }
  return lends;
}

void KernelWriter::write_part(const Block& block, std::int64_t first, std::int64_t count,
                              std::span<const std::byte> bytes,
                              const std::shared_ptr<disk::OutputFile>& file, std::int64_t offset,
                              Done done) {
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  pending->all_submitted = true;
  disk::Plan plan;
  plan.file = file;
  const auto element = static_cast<std::int64_t>(block.element_bytes());
  array::RunCursor runs{block.variable.shape, block.region, first, count};
  array::Run run;
  while (runs.next(run)) {
    const auto size = static_cast<std::size_t>(run.elements * element);
    plan.writes.push_back({offset + run.index * element, bytes.first(size)});
    bytes = bytes.subspan(size);
  }
  submit(std::move(plan), {}, pending);
}

void KernelWriter::sync(const std::shared_ptr<disk::OutputFile>& file, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->done = std::move(done);
  pending->all_submitted = true;
  disk::Plan plan;
  plan.file = file;
  plan.sync = true;
  submit(std::move(plan), {}, pending, true);
}

void KernelWriter::submit(disk::Plan plan, Copy copy, const std::shared_ptr<Pending>& pending,
                          bool is_sync) {
  plan.id = next_plan_++;
  ++pending->plans;
  underway_.emplace(plan.id, Underway{pending, std::move(copy), is_sync});
  engine_->submit(std::move(plan));
}

Copy KernelWriter::take_memory(std::size_t bytes, std::size_t page_remainder) {
  Copy copy = copies_.try_take_for_disk(bytes, page_remainder);
  if (!copy) {
    const trace::Timer timer{link_.counters(), trace::Counter::buffer_wait_seconds};
    link_.wait_until(
        [&] { return (copy = copies_.try_take_for_disk(bytes, page_remainder)) != nullptr; },
        [] {
          return std::string{
              "copies of earlier blocks to be written (client.buffer_memory is full)"};
        });
  }
  return copy;
}

// Each array once, and not many: it costs a millisecond.
void KernelWriter::look_at_pages(std::span<const std::byte> memory) {
  constexpr std::size_t most_arrays = 8;
  if (memory.size() < large_array_bytes || looked_at_.size() >= most_arrays ||
      !looked_at_.insert(memory.data()).second) {
    return;
  }
  const std::size_t small = small_page_bytes(memory);
  link_.counters().add(trace::Counter::small_page_bytes, static_cast<double>(small));
  if (small > memory.size() / 2) {
    log::info("an array of " + format_bytes(static_cast<std::int64_t>(memory.size())) +
              " lies in small pages, which takes the kernel several times as long to write as huge "
              "ones: iocomp_alloc gives such memory");
  }
}

void KernelWriter::end(const std::shared_ptr<Pending>& pending) {
  if (pending->done) {
    std::exchange(pending->done, {})(pending->outcome);
  }
}

bool KernelWriter::advance() {
  const auto completed = engine_->take_completed();
  for (const auto& completion : completed) {
    auto node = underway_.extract(completion.id);
    Underway& ended = node.mapped();
    Pending& pending = *ended.pending;
    link_.counters().add(
        ended.is_sync ? trace::Counter::sync_seconds : trace::Counter::write_seconds,
        completion.seconds);
    if (completion.code != ErrorCode::ok && pending.outcome.ok()) {
      pending.outcome = {completion.code, completion.story};
    }
    if (--pending.plans == 0 && pending.all_submitted) {
      end(ended.pending);
    }
  }
  return !completed.empty();
}

}  // namespace iocomp::client
