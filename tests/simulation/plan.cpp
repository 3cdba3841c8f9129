// SPDX-License-Identifier: BSD-3-Clause
#include "plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "array/element_type.h"
#include "random.h"

namespace simulation {
namespace {

using iocomp::array::ElementType;
using Index = std::vector<std::int64_t>;

std::int64_t product(const Index& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{1}, std::multiplies<>{});
}

// All indices of a box in row-major order.
template <typename Body>
void for_each_element(const Index& start, const Index& count, Body&& body) {
  Index index = start;
  for (std::int64_t left = product(count); left > 0; --left) {
    body(index);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < start[d] + count[d]) {
        break;
      }
      index[d] = start[d];
    }
  }
}

std::int64_t linear(const Index& index, const Index& shape) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    place = place * shape[d] + index[d];
  }
  return place;
}

// The value of an element, as bytes: any bits will do, so floats are what they are.
void put_value(std::byte* to, std::size_t size, std::size_t file, std::size_t variable,
               std::int64_t step, const Index& index) {
  std::uint64_t seed = file * 1000003 + variable * 10007 + static_cast<std::uint64_t>(step) * 101;
  for (const std::int64_t i : index) {
    seed = seed * 1000003 + static_cast<std::uint64_t>(i) + 1;
  }
  const std::uint64_t bits = Random{seed}.next() | 0x0101010101010101U;  // no byte is 0
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<std::byte>(bits >> (8 * (i % 8)));
  }
}

// Files have other values, and so has what a file replaces.
std::size_t number_of(const PlannedFile& file) {
  return static_cast<std::size_t>(file.name.back()) +
         1000 * static_cast<std::size_t>(file.generation);
}

/// Cut a box at random places among some ranks; some parts may be nobody's.
void cut(Random& random, const Index& start, const Index& count, int parts, bool has_holes,
         const std::vector<int>& ranks, std::vector<Put>& puts) {
  const auto longest = static_cast<std::size_t>(std::ranges::max_element(count) - count.begin());
  const std::size_t along =
      random.chance(1, 2)
          ? longest
          : static_cast<std::size_t>(random.below(static_cast<std::int64_t>(count.size())));
  if (parts <= 1 || count[along] < 2) {
    if (has_holes && random.chance(1, 4)) {
      return;
    }
    Put put;
    put.rank = random.among(ranks);
    put.start = start;
    put.count = count;
    put.is_buffered = random.chance(1, 4);
    put.is_strided = random.chance(1, 5);
    put.is_scattered = !put.is_strided && random.chance(1, 8);
    put.is_allocated = random.chance(1, 5);
    put.is_aligned = random.chance(1, 3);
    put.is_polled = random.chance(1, 4);
    put.await = random.chance(1, 2) ? Await::nothing : static_cast<Await>(random.between(1, 3));
    puts.push_back(std::move(put));
    return;
  }
  const std::int64_t at = random.between(1, count[along] - 1);
  Index first = count;
  Index second = count;
  Index second_start = start;
  first[along] = at;
  second[along] = count[along] - at;
  second_start[along] += at;
  cut(random, start, first, parts / 2, has_holes, ranks, puts);
  cut(random, second_start, second, parts - parts / 2, has_holes, ranks, puts);
}

Index random_shape(Random& random, bool is_large) {
  const auto dimensions = static_cast<std::size_t>(random.between(1, 3));
  static constexpr std::array<std::int64_t, 3> most{4000, 60, 16};
  Index shape(dimensions);
  for (auto& extent : shape) {
    extent = random.between(1, is_large ? most[dimensions - 1] : 8);
  }
  return shape;
}

Step make_step(Random& random, const Plan& plan, const std::vector<int>& members,
               const std::vector<Index>& shapes, std::int64_t number, bool is_together,
               bool has_all) {
  Step step;
  for (const auto& shape : shapes) {
    StepOfVariable part{.shape = shape};
    if (!random.chance(1, 10) || has_all) {
      const bool has_holes = random.chance(1, 5);
      const int parts = static_cast<int>(random.between(1, 2 * std::ssize(members)));
      cut(random, Index(shape.size(), 0), shape, parts, has_holes, members, part.puts);
    }
    step.variables.push_back(std::move(part));
  }
  for (int rank = 0; rank < plan.ranks; ++rank) {
    std::optional<std::int64_t> waits;
    if (random.chance(1, 3)) {
      waits = random.between(0, number);
    }
    const bool is_collective = is_together && rank > 0;
    step.waits_for.push_back(is_collective ? step.waits_for.front() : waits);
  }
  return step;
}

// Some ranks, as a communicator of them orders them.
std::vector<int> choose_members(Random& random, const std::vector<int>& ranks) {
  std::vector<int> chosen = ranks;
  for (std::size_t i = chosen.size(); i > 1; --i) {
    std::swap(chosen[i - 1],
              chosen[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
  chosen.resize(static_cast<std::size_t>(random.between(1, std::ssize(chosen))));
  if (random.chance(1, 2)) {
    std::ranges::sort(chosen);
  }
  return chosen;
}

void choose_settings(Random& random, PlannedFile& file) {
  file.is_synchronous = random.chance(1, 20);
  file.has_file_per_step = !file.is_checkpoint && random.chance(1, 6);
  const bool has_one_file = !file.is_checkpoint && !file.has_file_per_step;
  file.grows_along_time = file.backend == "hdf5" && has_one_file && random.chance(1, 3);
  file.is_compressed = (file.grows_along_time || file.backend == "netcdf") && random.chance(1, 2);
  file.exists_before = random.chance(1, 10);
  file.replaces = file.exists_before && random.chance(3, 4);
  file.has_attributes = random.chance(1, 8);
  file.has_sums =
      Random{Random{random}.next() ^ 0x5355}.chance(1, 3);  // no seed means another plan
  file.may_overlap = random.chance(1, 6);
  file.fails_when_full = random.chance(1, 20);
  const bool has_whole_steps = file.is_compressed;
  file.spills = !has_whole_steps && !file.fails_when_full &&
                Random{Random{random}.next() ^ 0x5350}.chance(1, 3);
  file.is_limited = !has_whole_steps && Random{Random{random}.next() ^ 0x4257}.chance(1, 8);
  file.keeps = !has_one_file && random.chance(1, 4) ? static_cast<int>(random.between(1, 3)) : 0;
  static const std::vector<std::int64_t> alignments{1, 512, 4096, 4096, 4096, 8192};
  file.alignment_bytes = random.among(alignments);
}

// Most histories are small, so that many more are run in the same time: few ranks, variables and
// steps show most faults.
struct Size {
  bool is_small = false;
  int most_variables = 3;
  int most_steps = 4;
};

PlannedFile make_file(Random& random, const Plan& plan, const Size& size, int number,
                      std::vector<int> members) {
  using enum ElementType;
  static const std::vector<ElementType> usual{float64, float32, int32, uint8, int64};
  static const std::vector<ElementType> all{int8,    int16,     int32,      int64,    uint8,
                                            uint16,  uint32,    uint64,     float32,  float64,
                                            float16, complex64, complex128, character};
  PlannedFile file;
  file.name = "f" + std::to_string(number);
  file.members = std::move(members);
  std::vector<int> ranks = file.members;
  if (ranks.empty()) {
    ranks.resize(static_cast<std::size_t>(plan.ranks));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  // Those that libraries read take several times as long.
  const auto backend = random.below(16);
  file.backend = backend < 9    ? "posix"
                 : backend < 13 ? "pnetcdf"
                 : backend < 15 ? "hdf5"
                                : "netcdf";
  file.is_checkpoint = random.chance(1, 2);
  file.leaves_close_to_finalize = random.chance(1, 6);
  file.steps_in_flight = static_cast<int>(random.between(1, 4));
  choose_settings(random, file);
  Random of_times{Random{random}.next() ^ 0x544D};
  file.has_times = of_times.chance(1, 6);
  file.defines_time = file.has_times && of_times.chance(1, 2);
  if (!plan.next.empty()) {
    file.goes_on = true;
    file.exists_before = file.replaces = Random{Random{random}.next() ^ 0xBEF0}.chance(1, 4);
  }
  const bool is_together = is_written_together(plan, file);
  const bool takes_all_types = file.backend == "posix";
  file.attribute_type = Random{Random{random}.next()}.among(file.backend == "posix" ? all : usual);
  const auto variables = static_cast<int>(random.between(1, size.most_variables));
  std::vector<Index> shapes;
  for (int i = 0; i < variables; ++i) {
    file.variables.push_back({.name = "v" + std::to_string(i),
                              .type = random.among(takes_all_types ? all : usual),
                              .fill = random.chance(1, 4) ? 0x41 : 0});
    shapes.push_back(random_shape(random, !size.is_small && random.chance(1, 4)));
  }
  if (random.chance(1, 12) && ranks.size() > 1) {
    file.mistake = static_cast<Mistake>(random.between(1, 3));
    file.mistaken_rank = random.among(ranks);
    file.leaves_close_to_finalize = false;
  }
  const std::int64_t steps = random.between(1, size.most_steps) + std::ssize(plan.next);
  for (std::int64_t i = 0; i < steps; ++i) {
    if (file.backend == "posix" && random.chance(1, 6)) {
      auto& changed = shapes[static_cast<std::size_t>(random.below(variables))];
      const auto dimensions = changed.size();
      do {
        changed = random_shape(random, false);
      } while (changed.size() != dimensions);
    }
    file.steps.push_back(make_step(random, plan, ranks, shapes, i, is_together,
                                   file.goes_on && file.grows_along_time));
  }
  return file;
}

// Chooses who opens each file: all, or some; groups that have no rank in common, or any.
std::vector<std::vector<int>> choose_groups(Random& random, int ranks, int files) {
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(files));
  if (!random.chance(1, 4)) {
    return groups;
  }
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  const bool are_disjoint = ranks >= files && random.chance(1, 2);
  for (int i = 0; i < files; ++i) {
    const auto first = all.begin() + i * ranks / files;
    const auto last = all.begin() + (i + 1) * ranks / files;
    groups[static_cast<std::size_t>(i)] =
        choose_members(random, are_disjoint ? std::vector<int>{first, last} : all);
  }
  return groups;
}

PlannedFaults choose_faults(Random& random, const Plan& plan, Focus focus) {
  PlannedFaults faults;
  const auto wants = [&](Focus what) {
    return focus == what || (focus == Focus::any && random.chance(1, 3));
  };
  if (wants(Focus::crash)) {
    faults.power_losses = static_cast<int>(random.between(4, 16));
    if (random.chance(1, 6)) {
      faults.killed_at = random.between(0, 20 * millisecond);
    }
  }
  if (wants(Focus::disk)) {
    const auto kind = random.below(6);
    if (kind == 0) {
      faults.disk.capacity_bytes = random.below(40000);
    } else if (kind == 1) {
      faults.disk.failing_write = random.between(1, 60);
      faults.disk.failing_writes = random.chance(1, 2) ? random.between(1, 4) : INT64_MAX / 2;
    } else if (kind == 2 && std::ranges::none_of(plan.files, &PlannedFile::exists_before)) {
      // The name of a file that has replaced another cannot be taken back when its folder cannot be
      // fsynced: what is told as failed is there.
      faults.disk.failing_sync = random.between(1, 20);
      faults.power_losses = std::max(faults.power_losses, 4);
    } else if (kind == 3) {
      faults.disk.writes_are_short = true;
    } else if (kind == 4) {
      faults.folder_goes = random.between(1, 80);
      if (random.chance(1, 2)) {
        faults.folder_is_gone_for = random.between(1, 20);
      }
    } else {
      faults.disk_slowness = random.between(2, 1000);
    }
  }
  if (wants(Focus::network) && random.chance(1, 2)) {
    faults.stopped_process = static_cast<int>(random.below(plan.ranks + plan.servers));
    faults.stopped_at = random.below(5 * millisecond);
    faults.stopped_for = random.between(millisecond, 12 * second);
  }
  const bool is_quiet = faults.power_losses == 0 && !faults.stopped_process &&
                        faults.disk_slowness == 1 && !faults.folder_goes &&
                        faults.disk == Disk::Faults{};
  if (is_quiet && !random.chance(1, 16)) {
    faults.power_losses = static_cast<int>(random.between(2, 8));
  }
  return faults;
}

// By a chance of its own, so that the rest of a seed's plan does not depend on it.
void plan_lost_server(Random random, Plan& plan, Focus focus) {
  const bool can_go_on = plan.shares_memory && plan.nodes == 1;
  if (can_go_on && !plan.faults.killed_at && (focus == Focus::network || random.chance(1, 4))) {
    plan.faults.killed_server = static_cast<int>(random.below(plan.servers));
    plan.faults.server_killed_after =
        random.below(random.chance(1, 2) ? millisecond : 8 * millisecond);
    const Nanoseconds after = plan.faults.server_killed_after;
    if (random.chance(1, 4)) {  // while files are opened
      plan.faults.server_killed_after = after / 16;
    } else if (plan.servers > 1 && random.chance(1, 2)) {
      // Another one stands still, and goes on when the ranks have done its work.
      plan.faults.stopped_process = plan.ranks + (*plan.faults.killed_server + 1) % plan.servers;
      plan.faults.stopped_at = random.below(2 * after + 1);
      plan.faults.stopped_for = random.between(millisecond, 4 * second);
      if (random.chance(1, 2)) {  // the first one, which opens and commits, in some call
        plan.faults.killed_server = static_cast<int>(random.between(1, plan.servers - 1));
        plan.faults.stopped_process = plan.ranks;
        plan.faults.stopped_at_call = random.between(1, 150);
        plan.faults.stopped_for = random.between(second / 4, 4 * second);
      }
    }
  }
}

// Blocks that all go to servers need not fit into the memory for copies. They travel in parts.
void plan_small_memory(Random random, Plan& plan) {
  const bool all_go_to_servers = plan.mode == Mode::servers && !plan.faults.killed_server &&
                                 !plan.faults.stopped_process && plan.next.empty() &&
                                 std::ranges::none_of(plan.files, [](const auto& file) {
                                   return file.is_synchronous || file.is_compressed;
                                 });
  if (all_go_to_servers && random.chance(1, 3)) {
    plan.buffer_bytes = random.among(std::vector<std::int64_t>{1 << 8, 1 << 10, 1 << 12});
  }
}

// Jobs that go on with the files of the first one, in other modes and with other faults.
void plan_next_jobs(Random random, Plan& plan, Focus focus) {
  for (auto& next : plan.next) {
    Plan job = plan;
    job.mode = static_cast<Mode>(random.below(3));
    job.servers = job.mode == Mode::servers
                      ? static_cast<int>(random.between(1, std::min(3, plan.ranks)))
                      : 0;
    choose_system(Random{random.next()}, job);
    job.faults = choose_faults(random, job, focus);
    plan_lost_server(Random{random.next()}, job, focus);
    const std::int64_t goes_back = random.chance(1, 3) ? random.between(1, 3) : 0;
    if (goes_back > 0) {
      job.faults.disk.failing_sync.reset();  // see above: it may replace what is there
    }
    next = {.mode = job.mode,
            .servers = job.servers,
            .shares_memory = job.shares_memory,
            .nodes = job.nodes,
            .follows_power_loss = random.chance(1, 2),
            .goes_back = goes_back,
            .faults = job.faults};
  }
}

// A copy of a block that is larger than all memory for copies is refused.
std::int64_t largest_put_bytes(const Plan& plan) {
  std::size_t largest = 0;
  for (const auto& file : plan.files) {
    for (const auto& step : file.steps) {
      for (std::size_t v = 0; v < step.variables.size(); ++v) {
        for (const auto& put : step.variables[v].puts) {
          largest = std::max(largest, bytes_of(file, v, put));
        }
      }
    }
  }
  return static_cast<std::int64_t>(largest);
}

}  // namespace

bool is_written_together(const Plan& plan, const PlannedFile& file) {
  return plan.mode == Mode::synchronous || file.is_synchronous ||
         (file.is_compressed && plan.mode == Mode::kernel && !plan.system.threads_call_mpi);
}

bool has_mistake(const PlannedFile& file) {
  return file.mistake != Mistake::none && !(file.mistake == Mistake::overlap && file.may_overlap);
}

bool is_member(const PlannedFile& file, int rank) {
  return file.members.empty() || std::ranges::find(file.members, rank) != file.members.end();
}

int count_members(const Plan& plan, const PlannedFile& file) {
  return file.members.empty() ? plan.ranks : static_cast<int>(file.members.size());
}

void choose_sizes(Random& random, Plan& plan) {
  static const std::vector<std::int64_t> memory{1 << 13, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
  plan.staging_bytes = random.among(memory);
  const bool keeps_steps = std::ranges::any_of(plan.files, &PlannedFile::is_compressed);
  if (keeps_steps && (plan.files.size() > 1 || random.chance(1, 2))) {
    plan.staging_bytes = 1 << 22;  // else a step may be too large for its server
  }
  plan.buffer_bytes = std::max(random.among(memory), largest_put_bytes(plan));
  plan.stripe_bytes = random.among(std::vector<std::int64_t>{0, 4096, 1 << 16});
  plan.inline_bytes = random.among(std::vector<std::int64_t>{0, 64, 4096});
  plan.chunk_bytes = random.chance(1, 3) ? 512 : 4096;
  plan.credits = random.between(2, 8);
  plan.kernel_from_bytes = random.chance(1, 4) ? 512 : 8 << 20;
  plan.writing_threads = keeps_steps && random.chance(1, 2) ? 3 : 1;
}

void choose_system(Random random, Plan& plan) {
  plan.shares_memory = plan.mode == Mode::servers && !random.chance(1, 3);
  const int writers = plan.servers > 0 ? plan.servers : plan.ranks;
  plan.nodes = writers > 1 && random.chance(1, 6) ? 2 : 1;
  plan.way = random.among(std::vector<std::string>{"auto", "auto", "in-place", "pull", "staged"});
  System& system = plan.system;
  system.pulls = !random.chance(1, 8);
  system.opens_others = !random.chance(1, 16);
  system.has_memfd = !random.chance(1, 8);
  system.has_process_descriptors = !random.chance(1, 8);
  system.has_processors = random.chance(1, 2);
  system.shared_bytes = random.chance(1, 8) ? random.below(64 << 20) : INT64_MAX;
  system.rings = static_cast<System::Rings>(random.below(3));
  system.ends_threads = random.chance(1, 4);
  system.threads_call_mpi = random.chance(1, 2);
}

// The guard compares steps that take long: many of them, on a slow disk.
void plan_guarded(Random random, Plan& plan) {
  PlannedFile& file = plan.files.front();
  const bool can_watch = plan.files.size() == 1 && plan.next.empty() && !file.spills &&
                         !file.is_limited && file.mistake == Mistake::none;
  if (!can_watch || plan.mode != Mode::kernel || !random.chance(1, 16)) {
    return;
  }
  constexpr std::size_t steps_to_decide = 12;
  file.is_guarded = true;
  while (file.steps.size() < steps_to_decide) {
    file.steps.push_back(file.steps.back());
  }
  plan.faults.disk_slowness = random.between(200, 1000);
}

// Two files whose steps are committed in their order.
void plan_order(Random random, Plan& plan) {
  const bool has_mistake = std::ranges::any_of(plan.files, simulation::has_mistake);
  if (plan.files.size() < 2 || has_mistake || !random.chance(1, 2)) {
    return;
  }
  const auto later = static_cast<std::size_t>(random.below(std::ssize(plan.files)));
  const auto first = (later + 1) % plan.files.size();
  // Nobody ends the last step of a synchronous file that is only closed by finalize.
  if (plan.are_files_in_turn || !plan.files[first].leaves_close_to_finalize) {
    plan.files[later].comes_after = plan.files[first].name;
  }
}

// Several steps are committed at once, and not all of them are alike.
void plan_long_series(Random random, Plan& plan) {
  PlannedFile& file = plan.files.front();
  const bool can_grow = plan.files.size() == 1 && !file.is_guarded && !has_file_per_step(file) &&
                        file.mistake == Mistake::none;
  if (!can_grow || plan.mode == Mode::synchronous ||
      !random.chance(1, file.backend == "hdf5" ? 2 : 12)) {
    return;
  }
  const auto before = file.steps.size();
  const auto all = static_cast<std::size_t>(random.between(8, 24));
  file.steps_in_flight = 8;
  plan.faults.power_losses = std::max(plan.faults.power_losses, 12);
  if (!plan.faults.stopped_process && random.chance(1, 2)) {
    const bool lives_on = plan.shares_memory && plan.nodes == 1;
    if (lives_on && !plan.faults.killed_at) {
      plan.faults.killed_server = static_cast<int>(random.below(plan.servers));
    } else {
      plan.faults.killed_at = 0;
    }
    plan.faults.killed_at_sync = random.between(4, 36);
  }
  const bool must_have_all = file.goes_on && file.grows_along_time;
  const std::int64_t leaves_out = must_have_all ? 0 : random.below(2);
  while (file.steps.size() < all) {
    Step step = file.steps[file.steps.size() % before];
    for (auto& part : step.variables) {
      if (random.chance(leaves_out, 4)) {
        part.puts.clear();
      }
      for (auto& put : part.puts) {
        put.await = Await::nothing;
      }
    }
    std::ranges::fill(step.waits_for, std::nullopt);
    step.computes = random.chance(1, 3) ? random.between(500, 3000) : 0;
    file.steps.push_back(std::move(step));
  }
}

// The first job holds its file as long as nothing else goes wrong.
void plan_second_job(Random random, Plan& plan) {
  const PlannedFaults& faults = plan.faults;
  const bool has_mistake = std::ranges::any_of(plan.files, simulation::has_mistake);
  const bool is_refused = plan.files.front().exists_before && !plan.files.front().replaces;
  const bool holds = !has_mistake && !is_refused && !plan.files.front().fails_when_full &&
                     !plan.files.front().is_compressed && faults.disk == Disk::Faults{} &&
                     !faults.folder_goes && !faults.stopped_process && !faults.killed_server;
  if (holds && random.chance(1, 16)) {
    plan.faults.second_job_at = random.below(4 * millisecond);
  }
}

// Some programs ask when bytes are durable, and set attributes again. In pnetcdf those that are
// set later change in place, when the file is closed.
void plan_looks(Random random, Plan& plan) {
  for (auto& file : plan.files) {
    const bool asks = random.chance(1, 4);
    const bool sets = file.has_attributes && file.backend != "pnetcdf" && random.chance(3, 4);
    for (auto& step : file.steps) {
      step.asks_tickets = asks && random.chance(2, 3);
      step.sets_attributes = sets && random.chance(1, 2);
    }
  }
}

// The numbers of some steps are higher than their places. In one file of all steps those that
// nobody puts, or that have failed, tell no number.
void plan_gaps(Random random, Plan& plan) {
  for (auto& file : plan.files) {
    if (file.is_guarded || !has_file_per_step(file) || !random.chance(1, 3)) {
      continue;
    }
    std::vector<Step> steps;
    std::vector<std::int64_t> numbers;
    for (Step& step : file.steps) {
      Step skipped{.is_skipped = true};
      for (const auto& part : step.variables) {
        skipped.variables.push_back({.shape = part.shape});
      }
      skipped.waits_for.resize(step.waits_for.size());
      steps.insert(steps.end(), static_cast<std::size_t>(random.below(3)), skipped);
      numbers.push_back(std::ssize(steps));
      steps.push_back(std::move(step));
      for (auto& waits : steps.back().waits_for) {
        waits = waits ? std::optional{numbers[static_cast<std::size_t>(*waits)]} : waits;
      }
    }
    file.steps = std::move(steps);
  }
}

Plan make_plan(std::uint64_t seed, Focus focus) {
  Random random{seed};
  Plan plan;
  plan.seed = seed;
  const Size size = Random{seed ^ 0x517E}.chance(23, 24)
                        ? Size{.is_small = true, .most_variables = 2, .most_steps = 2}
                        : Size{};
  const bool is_crowded = !size.is_small && random.chance(1, 100);
  plan.ranks = static_cast<int>(is_crowded      ? random.between(5, 64)
                                : size.is_small ? random.between(1, 2)
                                                : random.between(1, 4));
  static const std::vector<Mode> modes{Mode::synchronous, Mode::kernel, Mode::kernel,
                                       Mode::servers};
  plan.mode = random.among(modes);
  if (plan.mode == Mode::servers) {
    if (size.is_small && random.chance(1, 2)) {  // so that it may have several servers
      plan.ranks = static_cast<int>(random.between(2, 3));
    }
    plan.servers =
        static_cast<int>(random.between(1, std::min<std::int64_t>(is_crowded ? 8 : 3, plan.ranks)));
  }
  Random chain{seed ^ 0xC4A1};
  if (chain.chance(1, 8)) {
    plan.next.resize(static_cast<std::size_t>(size.is_small ? 1 : chain.between(1, 3)));
  }
  // With servers more of them, so that ranks are in another file when a server is lost.
  const bool has_many = random.chance(1, !size.is_small ? 4 : plan.servers > 0 ? 8 : 32);
  const int files = static_cast<int>(has_many ? random.between(2, 3) : 1);
  const auto groups = choose_groups(random, plan.ranks, files);
  for (int i = 0; i < files; ++i) {
    plan.files.push_back(make_file(random, plan, size, i, groups[static_cast<std::size_t>(i)]));
  }
  // If a rank makes a mistake in one file, synchronous ranks lose the others with it.
  plan.are_files_in_turn =
      files > 1 && random.chance(1, 2) && std::ranges::all_of(plan.files, [](const auto& file) {
        return file.mistake == Mistake::none;
      });
  choose_sizes(random, plan);
  plan.faults = choose_faults(random, plan, focus);
  choose_system(Random{seed ^ 0x5EED}, plan);
  plan_lost_server(Random{seed ^ 0xDEAD}, plan, focus);
  plan_guarded(Random{seed ^ 0x6A2D}, plan);
  plan_long_series(Random{seed ^ 0x10E6}, plan);
  plan_next_jobs(chain, plan, focus);
  plan_small_memory(Random{seed ^ 0x5A11}, plan);
  plan_order(Random{seed ^ 0x0DE2}, plan);
  plan_looks(Random{seed ^ 0xA57C}, plan);
  plan_second_job(Random{seed ^ 0x2B0B}, plan);
  plan_gaps(Random{seed ^ 0x6A95}, plan);
  plan.damages = Random{seed ^ 0xDA3A}.chance(1, 8) ? 4 : 0;
  Random closing{seed ^ 0xC105};
  for (auto& file : plan.files) {
    const bool may_wait = file.mistake == Mistake::none && !file.leaves_close_to_finalize;
    file.closes_later = closing.chance(1, 8) && may_wait;
  }
  return plan;
}

iocomp::contents::Attribute attribute_of(const PlannedFile& file, int version) {
  constexpr std::size_t elements = 3;
  const bool is_text = file.attribute_type == ElementType::character;
  iocomp::contents::Attribute made{
      .type = is_text ? ElementType::uint8 : file.attribute_type, .is_text = is_text, .values = {}};
  made.values.assign(elements * iocomp::array::size_bytes(made.type),
                     static_cast<std::byte>('A' + version % 26));
  return made;
}

Plan job_of(const Plan& plan, std::size_t number) {
  Plan job = plan;
  job.next.clear();
  const std::size_t jobs = plan.next.size() + 1;
  if (number > 0) {
    const NextJob& next = plan.next[number - 1];
    job.seed = plan.seed ^ (number << 56U);
    job.mode = next.mode;
    job.servers = next.servers;
    job.shares_memory = next.shares_memory;
    job.nodes = next.nodes;
    job.faults = next.faults;
  }
  for (auto& file : job.files) {
    file.steps.resize(std::max<std::size_t>(1, file.steps.size() * (number + 1) / jobs));
    // The first job replaces what is there; those that follow go on.
    file.goes_on = file.goes_on && (number > 0 || !file.exists_before);
    if (number > 0) {
      file.exists_before = file.replaces = false;
      constexpr int of_what_was_before = 1;
      file.generation = of_what_was_before + static_cast<int>(number);
      file.mistake = Mistake::none;
      for (auto& step : file.steps) {
        if (is_written_together(job, file)) {
          std::ranges::fill(step.waits_for, step.waits_for.front());
        }
      }
    }
  }
  return job;
}

std::size_t bytes_of(const PlannedFile& file, std::size_t variable, const Put& put) {
  return static_cast<std::size_t>(product(put.count)) *
         iocomp::array::size_bytes(file.variables[variable].type);
}

std::vector<std::byte> values_of(const PlannedFile& file, std::size_t variable, std::int64_t step,
                                 const std::vector<std::int64_t>& start,
                                 const std::vector<std::int64_t>& count) {
  const std::size_t size = iocomp::array::size_bytes(file.variables[variable].type);
  const std::size_t number = number_of(file);
  std::vector<std::byte> values(static_cast<std::size_t>(product(count)) * size);
  std::byte* to = values.data();
  for_each_element(start, count, [&](const Index& index) {
    put_value(to, size, number, variable, step, index);
    to += size;
  });
  return values;
}

std::vector<std::byte> expected_values(const PlannedFile& file, std::size_t variable,
                                       std::int64_t step) {
  const auto& part = file.steps[static_cast<std::size_t>(step)].variables[variable];
  const std::size_t size = iocomp::array::size_bytes(file.variables[variable].type);
  std::vector<std::byte> all(static_cast<std::size_t>(product(part.shape)) * size,
                             static_cast<std::byte>(file.variables[variable].fill));
  const std::size_t number = number_of(file);
  for (const auto& put : part.puts) {
    for_each_element(put.start, put.count, [&](const Index& index) {
      put_value(all.data() + static_cast<std::size_t>(linear(index, part.shape)) * size, size,
                number, variable, step, index);
    });
  }
  return all;
}

}  // namespace simulation
