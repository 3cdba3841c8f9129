// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/checkpoints.h"

#include <array>
#include <string>

#include "common/mistake.h"
#include "common/restart.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr std::array vector_names{"x", "r", "p"};
constexpr std::int64_t place_size = 3;    // set, iteration, iterations of a set
constexpr std::int64_t scalars_size = 3;  // rho, norm, norm at the start

std::string in_words(const Indices& shape) {
  return std::to_string(shape[2]) + " x " + std::to_string(shape[1]) + " x " +
         std::to_string(shape[0]);
}

Content content_of(const Part& part, int iterations) {
  Content content{.rows = {{"place", IOCOMP_INT64, place_size},
                           {"scalars", IOCOMP_FLOAT64, scalars_size},
                           {"residuals", IOCOMP_FLOAT64, iterations}}};
  for (const char* const name : vector_names) content.arrays.push_back({name, &part});
  return content;
}

void refuse_another_problem(const Restart& restart, const Part& part) {
  const Indices found = restart.shape("x");
  if (found != part.shape()) {
    throw Mistake("the checkpoint has " + in_words(found) + " points, this run " +
                  in_words(part.shape()) +
                  ": choose --local and --grid such that they "
                  "have as many together");
  }
}

Position read_position(const Restart& restart, int iterations) {
  const auto place = restart.row<std::int64_t>("place");
  if (place[2] != iterations) {
    throw Mistake("the checkpoint has sets of " + std::to_string(place[2]) +
                  " iterations, --iterations says " + std::to_string(iterations));
  }
  const auto scalars = restart.row<double>("scalars");
  Position position{place[0],
                    {static_cast<int>(place[1]), scalars[0], scalars[1], scalars[2]},
                    restart.row<double>("residuals")};
  position.residuals.resize(static_cast<std::size_t>(place[1]));
  return position;
}

}  // namespace

BoxPart part_of(const Grid& grid) {
  const Extents global = grid.global();
  const Extents start = grid.start();
  const Extents& local = grid.local();
  return {{global[2], global[1], global[0]},
          {start[2], start[1], start[0]},
          {local[2], local[1], local[0]}};
}

BoxPart part_of(MPI_Comm comm, std::size_t values) {
  const auto own = static_cast<std::int64_t>(values);
  std::int64_t behind = 0;
  std::int64_t all = 0;
  MPI_Scan(&own, &behind, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(&own, &all, 1, MPI_INT64_T, MPI_SUM, comm);
  return {{all}, {behind - own}, {own}};
}

Checkpoints::Checkpoints(const Session& session, const Grid& grid, int iterations,
                         std::int64_t after, IoTimers& timers)
    : part_{part_of(grid)},
      iterations_{iterations},
      file_{session, checkpoint_name, IOCOMP_CHECKPOINT, after, content_of(part_, iterations),
            false,   timers} {}

void Checkpoints::write(const Position& position, std::span<const double> x,
                        std::span<const double> r, std::span<const double> p) {
  const Cg::Scalars& scalars = position.scalars;
  const std::array place{position.set, std::int64_t{scalars.iteration}, std::int64_t{iterations_}};
  const std::array numbers{scalars.rho, scalars.norm, scalars.norm_zero};
  std::vector<double> residuals = position.residuals;
  residuals.resize(static_cast<std::size_t>(iterations_));
  file_.put(position.set * iterations_ + scalars.iteration,
            std::array{x.data(), r.data(), p.data()},
            std::array<const void*, 3>{place.data(), numbers.data(), residuals.data()});
}

std::optional<Checkpoints::Found> Checkpoints::restore(const Session& session, const Grid& grid,
                                                       int iterations, std::span<double> x,
                                                       std::span<double> r, std::span<double> p) {
  const auto restart = Restart::newest(session);
  if (!restart) return std::nullopt;
  const BoxPart part = part_of(grid);
  refuse_another_problem(*restart, part);
  Position position = read_position(*restart, iterations);
  const std::array to{x, r, p};
  for (std::size_t i = 0; i < to.size(); ++i) {
    restart->read(vector_names[i], part, to[i].first(part.elements()));
  }
  return Found{restart->number(), std::move(position)};
}

}  // namespace iocomp::apps::hpcg
