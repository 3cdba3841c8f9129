// SPDX-License-Identifier: BSD-3-Clause
// Ranks exchange blocks of short runs, and the aggregators write long ones.
#include "client/exchange/exchange.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "client/carrier.h"
#include "contents/variable.h"
#include "unit/seed.h"

namespace iocomp::client {
namespace {

struct Job {
  Job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  int rank = 0;
  int ranks = 1;
};

contents::Variable variable(int id, std::vector<std::int64_t> extent) {
  contents::Variable made;
  made.id = id;
  made.type = array::ElementType::int64;
  made.shape = array::make_shape(static_cast<int>(extent.size()), extent.data());
  return made;
}

/// A block with its values (global index + 1 + 10^9 * variable), in a local array with a halo.
struct Local {
  Local(const contents::Variable& of, const array::Box& box, std::int64_t halo) {
    block.variable = of;
    block.region = box;
    array::Extents shape{};
    array::Extents start{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
      shape[d] = box.count[d] + 2 * halo;
      start[d] = halo;
    }
    block.memory = array::make_memory_box(box, shape.data(), start.data());
    memory.assign(static_cast<std::size_t>(array::elements(block.memory.shape)), -1);
    array::RunCursor in_memory{block.memory.shape, block.memory.box, 0, array::elements(box)};
    array::RunCursor in_array{of.shape, box, 0, array::elements(box)};
    std::vector<std::int64_t> packed;
    for (array::Run run; in_array.next(run);) {
      for (std::int64_t i = 0; i < run.elements; ++i) {
        packed.push_back(run.index + i + 1 + of.id * std::int64_t{1000000000});
      }
    }
    std::size_t next = 0;
    for (array::Run run; in_memory.next(run);) {
      for (std::int64_t i = 0; i < run.elements; ++i) {
        memory[static_cast<std::size_t>(run.index + i)] = packed[next++];
      }
    }
    block.values = reinterpret_cast<const std::byte*>(memory.data());
  }
  Block block;
  std::vector<std::int64_t> memory;
};

array::Box column_block(const contents::Variable& of, int rank, int ranks) {
  array::Box box{of.shape.dimensions, {}, of.shape.extent};
  const auto last = static_cast<std::size_t>(of.shape.dimensions) - 1;
  const std::int64_t extent = of.shape.extent[last];
  box.start[last] = extent * rank / ranks;
  box.count[last] = extent * (rank + 1) / ranks - box.start[last];
  return box;
}

/// The values of the variables that the ranks have written, summed: each element at most once.
struct Files {
  explicit Files(std::vector<contents::Variable> of) : variables{std::move(of)} {
    for (const auto& one : variables) {
      values.emplace_back(static_cast<std::size_t>(array::elements(one.shape)));
    }
  }
  Exchange::Target target() {
    return {.offset = [](const contents::Variable& of) { return std::int64_t{40} * of.id; },
            .write =
                [this](const contents::Variable& of, std::int64_t index,
                       std::span<const std::byte> bytes) {
                  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
                  EXPECT_EQ(static_cast<std::int64_t>(address % 4096),
                            (40 * of.id + index * 8) % 4096);
                  longest = std::max(longest, std::ssize(bytes));
                  ++writes;
                  auto& value = values.at(static_cast<std::size_t>(of.id));
                  for (std::size_t i = 0; i < bytes.size() / 8; ++i) {
                    std::int64_t found = 0;
                    std::memcpy(&found, bytes.data() + 8 * i, 8);
                    value.at(static_cast<std::size_t>(index) + i) += found;
                  }
                }};
  }
  Exchange::FindVariable find() {
    return [this](int id) { return variables.at(static_cast<std::size_t>(id)); };
  }
  void sum() {
    for (auto& value : values) {
      MPI_Allreduce(MPI_IN_PLACE, value.data(), static_cast<int>(value.size()), MPI_INT64_T,
                    MPI_SUM, MPI_COMM_WORLD);
    }
  }
  std::vector<contents::Variable> variables;
  std::vector<std::vector<std::int64_t>> values;
  std::ptrdiff_t longest = 0;
  int writes = 0;
};

TEST(Exchange, MakesLongWritesOfShortRuns) {
  const Job job;
  Files files{{variable(0, {256, 64})}};  // 128 KiB
  const Local local{files.variables[0], column_block(files.variables[0], job.rank, job.ranks), 0};
  Exchange exchange{{.comm = MPI_COMM_WORLD,
                     .aggregators = {0},
                     .stripe_bytes = 32 << 10,
                     .alignment_bytes = 4096,
                     .policy = mpi::WaitPolicy{30}}};
  EXPECT_EQ(exchange.takes(local.block), job.ranks > 1);
  EXPECT_TRUE(exchange.carry_out({&local.block}, files.find(), files.target()).ok());
  EXPECT_EQ(files.writes, job.rank == 0 ? 4 : 0);
  EXPECT_EQ(files.longest, job.rank == 0 ? 32 << 10 : 0);
  files.sum();
  for (std::size_t i = 0; i < files.values[0].size(); ++i) {
    ASSERT_EQ(files.values[0][i], static_cast<std::int64_t>(i) + 1);
  }
}

TEST(Exchange, GoesOnWhereAWriteFails) {
  const Job job;
  Files files{{variable(0, {64, 64}), variable(1, {64, 64})}};
  std::vector<Local> locals;
  for (const auto& of : files.variables) {
    locals.emplace_back(of, column_block(of, job.rank, job.ranks), 1);
  }
  const int last = job.ranks - 1;
  Exchange exchange{{.comm = MPI_COMM_WORLD,
                     .aggregators = {last},
                     .stripe_bytes = 4096,
                     .alignment_bytes = 1,
                     .policy = mpi::WaitPolicy{30}}};
  auto target = files.target();
  target.write = [](const contents::Variable&, std::int64_t, std::span<const std::byte>) {
    throw Error{ErrorCode::storage_failure, "the disk is full"};
  };
  const Outcome outcome =
      exchange.carry_out({&locals[0].block, &locals[1].block}, files.find(), target);
  EXPECT_EQ(outcome.ok(), job.rank != last);
  EXPECT_EQ(outcome.story, job.rank == last ? "the disk is full" : "");
}

TEST(Exchange, WritesAllOfBlocksThatOverlap) {
  const Job job;
  const Files files{{variable(0, {256, 64})}};
  const auto& of = files.variables[0];
  const array::Box box{2, {0, 16}, {256, 48}};  // the same on all ranks
  const Local local{of, box, 0};
  Exchange exchange{{.comm = MPI_COMM_WORLD,
                     .aggregators = {0},
                     .stripe_bytes = 32 << 10,
                     .alignment_bytes = 4096,
                     .may_overlap = true,
                     .policy = mpi::WaitPolicy{30}}};
  auto found = files.values[0];
  const Exchange::Target target{
      .offset = [](const contents::Variable&) { return std::int64_t{0}; },
      .write =
          [&](const contents::Variable&, std::int64_t index, std::span<const std::byte> bytes) {
            std::memcpy(&found.at(static_cast<std::size_t>(index)), bytes.data(), bytes.size());
          }};
  const auto find = [&](int) { return of; };
  EXPECT_TRUE(exchange.carry_out({&local.block, &local.block}, find, target).ok());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_put = job.rank == 0 && i % 64 >= 16;
    ASSERT_EQ(found[i], is_put ? static_cast<std::int64_t>(i) + 1 : 0);
  }
}

// All ranks draw the same blocks; each puts those that fall to it.
TEST(Exchange, WritesEveryElementOnceWhateverTheBlocks) {
  const Job job;
  std::uint32_t seed = test_seed();
  MPI_Bcast(&seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  for (int round = 0; round < 25; ++round) {
    Files files{{}};
    std::vector<std::vector<std::int64_t>> expected;
    std::vector<Local> locals;
    const auto variables = static_cast<int>(draw(generator, 1, 3));
    for (int id = 0; id < variables; ++id) {
      const auto of =
          variable(id, {draw(generator, 1, 9), draw(generator, 1, 30), draw(generator, 1, 60)});
      files.variables.push_back(of);
      const auto elements = static_cast<std::size_t>(array::elements(of.shape));
      files.values.emplace_back(elements);
      expected.emplace_back(elements);
      const std::int64_t rows = draw(generator, 1, of.shape.extent[1]);
      const std::int64_t columns = draw(generator, 1, of.shape.extent[2]);
      for (std::int64_t y = 0; y < of.shape.extent[1]; y += rows) {
        for (std::int64_t x = 0; x < of.shape.extent[2]; x += columns) {
          if (draw(generator, 0, 5) == 0) {
            continue;  // a hole
          }
          array::Box box{3, {0, y, x}, of.shape.extent};
          box.count[1] = std::min(rows, of.shape.extent[1] - y);
          box.count[2] = std::min(columns, of.shape.extent[2] - x);
          array::RunCursor cursor{of.shape, box, 0, array::elements(box)};
          for (array::Run run; cursor.next(run);) {
            for (std::int64_t i = run.index; i < run.index + run.elements; ++i) {
              expected.back()[static_cast<std::size_t>(i)] = i + 1 + id * 1000000000LL;
            }
          }
          const std::int64_t halo = draw(generator, 0, 1);
          if (draw(generator, 0, job.ranks - 1) == job.rank) {
            locals.emplace_back(of, box, halo);
          }
        }
      }
    }
    Exchange::Setup setup{.comm = MPI_COMM_WORLD,
                          .aggregators = {},
                          .stripe_bytes = draw(generator, 1, 8) * 4096,
                          .alignment_bytes = draw(generator, 0, 1) == 0 ? 4096 : 8,
                          .policy = mpi::WaitPolicy{30}};
    if (draw(generator, 0, 1) == 0) {
      setup.aggregators = {static_cast<int>(draw(generator, 0, job.ranks - 1))};
    }
    std::vector<const Block*> blocks;
    for (const auto& local : locals) {
      blocks.push_back(&local.block);
    }
    Exchange exchange{setup};
    ASSERT_TRUE(exchange.carry_out(blocks, files.find(), files.target()).ok());
    files.sum();
    for (std::size_t id = 0; id < expected.size(); ++id) {
      ASSERT_EQ(files.values[id], expected[id]) << "round " << round << ", variable " << id;
    }
  }
}

/// A rank's part of an array that is dealt out in short runs, and its values.
struct Irregular {
  Irregular(const contents::Variable& of, std::uint32_t seed, const Job& job) {
    std::mt19937 generator{seed};
    array::RunList runs;
    for (std::int64_t index = 0; index < array::elements(of.shape);) {
      const std::int64_t length =
          std::min(draw(generator, 1, 9), array::elements(of.shape) - index);
      if (draw(generator, 0, job.ranks - 1) == job.rank) {
        runs.append({.index = index, .elements = length});
        for (std::int64_t i = 0; i < length; ++i) {
          values.push_back(index + i + 1);
        }
      }
      index += length;
    }
    block.variable = of;
    block.region = std::make_shared<const array::RunList>(std::move(runs));
    block.memory = array::dense_memory(std::ssize(values));
    block.values = reinterpret_cast<const std::byte*>(values.data());
  }
  Block block;
  std::vector<std::int64_t> values;
};

TEST(Exchange, MakesLongWritesOfIrregularRunsStepAfterStep) {
  const Job job;
  std::uint32_t seed = test_seed();
  MPI_Bcast(&seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
  SCOPED_TRACE(seed_text(seed));
  const auto of = variable(0, {100, 300});  // 240,000 bytes
  Exchange exchange{{.comm = MPI_COMM_WORLD,
                     .aggregators = {},
                     .stripe_bytes = 16 << 10,
                     .alignment_bytes = 4096,
                     .policy = mpi::WaitPolicy{30}}};
  for (std::uint32_t decomposition = 0; decomposition < 2; ++decomposition) {
    const Irregular local{of, seed + decomposition, job};
    EXPECT_EQ(exchange.takes(local.block), job.ranks > 1);
    for (int step = 0; step < 3; ++step) {  // the runs are told in the first of them
      Files files{{of}};
      ASSERT_TRUE(exchange.carry_out({&local.block}, files.find(), files.target()).ok());
      const std::int64_t mine =
          (array::elements(of.shape) * 8 + job.ranks - 1) / job.ranks + 4096;  // of the domain
      EXPECT_LE(files.writes, mine / (16 << 10) + 1);
      files.sum();
      for (std::size_t i = 0; i < files.values[0].size(); ++i) {
        ASSERT_EQ(files.values[0][i], static_cast<std::int64_t>(i) + 1);
      }
    }
  }
}

}  // namespace
}  // namespace iocomp::client
