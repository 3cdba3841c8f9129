// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf/mesh.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"
#include "vtkhdf/links.h"

namespace iocomp::vtkhdf {
namespace {

using array::ElementType;
using reading::Committed;

enum Role : std::size_t { points, connectivity, offsets, types };
constexpr std::array<const char*, 4> role_names{"points", "connectivity", "offsets", "types"};
constexpr std::array<const char*, 4> dataset_names{"Points", "Connectivity", "Offsets", "Types"};
// UGRID's attribute that names the nodes of the cells, by the dimensions of these.
constexpr std::array<const char*, 4> ugrid_cells{
    "", "edge_node_connectivity", "face_node_connectivity", "volume_node_connectivity"};

// VTK's number of the type of a cell.
std::uint8_t vtk_type(int dimensions, std::size_t corners) {
  constexpr std::uint8_t line = 3;
  constexpr std::uint8_t polygon = 7;
  constexpr std::uint8_t convex_points = 41;
  static const std::map<std::size_t, std::uint8_t> faces{{3, 5}, {4, 9}};
  static const std::map<std::size_t, std::uint8_t> volumes{{4, 10}, {5, 14}, {6, 13}, {8, 12}};
  const auto& known = dimensions == 2 ? faces : volumes;
  const auto found = known.find(corners);
  return dimensions == 1        ? line
         : found != known.end() ? found->second
         : dimensions == 2      ? polygon
                                : convex_points;
}

std::optional<std::int64_t> integer_in(const contents::Attributes& attributes, const char* name) {
  const auto* found = find(attributes, name);
  const auto number = found == nullptr ? std::nullopt : contents::number_of(*found);
  return number ? std::optional{static_cast<std::int64_t>(*number)} : std::nullopt;
}

std::int64_t rows(const Committed::Place* place) { return place->shape.extent[0]; }

// The type of all; where they have several, one that holds the values of each.
ElementType type_of(std::span<const Committed::Variable* const> coordinates) {
  const auto type = coordinates.front()->places.front().type;
  const bool is_one = std::ranges::all_of(coordinates, [type](const auto* coordinate) {
    return std::ranges::all_of(coordinate->places,
                               [type](const auto& place) { return place.type == type; });
  });
  return is_one ? type : ElementType::float64;
}

}  // namespace

/// The four datasets of the mesh that a file gets, each made of all parts.
struct Mesh::Parts {
  std::array<formats::Dataset, 4> datasets;
  std::array<std::int64_t, 4> ends{};
  // Cells of UGRID, which are no dataset that could be linked to.
  std::vector<std::int64_t> corners{};
  std::vector<std::int64_t> begins{};
  std::vector<std::byte> kinds{};
};

void Mesh::refuse(const std::string& why) const {
  throw Error{ErrorCode::invalid_argument, "the mesh of " + links_.input().name() + ": " + why};
}

void Mesh::name(const std::string& attribute, std::string_view variable) {
  const auto* found = find(links_.input().committed(), variable);
  if (found == nullptr) {
    refuse("its attribute " + attribute + " names \"" + std::string{variable} +
           "\", which is no variable of it");
  }
  variables_.push_back(found);
}

bool Mesh::is_by_vtk() const {
  return std::ranges::any_of(role_names, [this](const std::string& role) {
    return find(links_.input().committed().attributes, ("mesh_" + role).c_str()) != nullptr;
  });
}

bool Mesh::is_by_ugrid() {
  const auto& variables = links_.input().committed().variables;
  const auto topology = std::ranges::find_if(variables, [](const Committed::Variable& variable) {
    return text_in(variable.attributes, "cf_role") == "mesh_topology";
  });
  if (topology == variables.end()) {
    return false;
  }
  const auto dimensions = integer_in(topology->attributes, "topology_dimension").value_or(0);
  if (dimensions < 1 || dimensions > std::ssize(ugrid_cells) - 1) {
    refuse("topology_dimension of " + topology->name + " must be 1, 2 or 3");
  }
  ugrid_dimensions_ = static_cast<int>(dimensions);
  std::istringstream coordinates{std::string{text_in(topology->attributes, "node_coordinates")}};
  for (std::string one; coordinates >> one;) {
    name("node_coordinates", one);
  }
  if (variables_.empty() || variables_.size() > most_axes) {
    refuse("node_coordinates of " + topology->name + " must name one to three variables");
  }
  const char* const cells = ugrid_cells.at(static_cast<std::size_t>(dimensions));
  name(cells, text_in(topology->attributes, cells));
  return true;
}

std::optional<Mesh> Mesh::find_in(const Links& links) {
  Mesh mesh{links};
  if (!mesh.is_by_vtk()) {
    return mesh.is_by_ugrid() ? std::optional{std::move(mesh)} : std::nullopt;
  }
  for (const std::string role : role_names) {
    const std::string attribute = "mesh_" + role;
    const auto& attributes = links.input().committed().attributes;
    if (find(attributes, attribute.c_str()) == nullptr) {
      mesh.refuse(
          "the file has some of the attributes mesh_points, mesh_connectivity, "
          "mesh_offsets and mesh_types; a mesh has all four");
    }
    mesh.name(attribute, text_in(attributes, attribute.c_str()));
  }
  return mesh;
}

bool Mesh::has(const std::string& variable) const {
  return std::ranges::find(variables_, variable, &Committed::Variable::name) != variables_.end();
}

Mesh::Places Mesh::places_at(std::int64_t step) const {
  Places places;
  for (const auto* variable : variables_) {
    places.push_back(shown(variable->places, step));
  }
  const bool is_there = std::ranges::find(places, nullptr) == places.end();
  if (is_there) {
    check(places);
  }
  return is_there ? places : Places{};
}

void Mesh::check(const Places& places) const {
  const auto shape_of = [&](std::size_t part) {
    return variables_[part]->name + " has the shape " + array::text(places[part]->shape);
  };
  const auto& first = places.front()->shape;
  if (ugrid_dimensions_ > 0) {
    for (std::size_t part = 0; part + 1 < places.size(); ++part) {
      if (places[part]->shape.dimensions != 1 || rows(places[part]) != first.extent[0]) {
        refuse(shape_of(part) + "; coordinates have one value for each node");
      }
    }
    if (places.back()->shape.dimensions != 2) {
      refuse(shape_of(places.size() - 1) + "; it must be cells x corners");
    }
    return;
  }
  if (first.dimensions != 2 || first.extent[1] < 2 ||
      first.extent[1] > static_cast<std::int64_t>(most_axes)) {
    refuse(shape_of(points) + "; it must be n x 3 or n x 2");
  }
  for (const auto part : {connectivity, offsets, types}) {
    if (places[part]->shape.dimensions != 1) {
      refuse(shape_of(part) + "; it must have one dimension");
    }
  }
  if (rows(places[offsets]) != rows(places[types]) + 1) {
    refuse(shape_of(offsets) + ", and " + shape_of(types) + "; the first must have one more");
  }
}

std::optional<Mesh::Size> Mesh::size_at(std::int64_t step) const {
  const auto places = places_at(step);
  return places.empty() ? std::nullopt
                        : std::optional{Size{rows(places.front()), rows(places.back())}};
}

std::set<std::int64_t> Mesh::steps() const {
  std::set<std::int64_t> steps;
  for (const auto* variable : variables_) {
    std::ranges::transform(variable->places, std::inserter(steps, steps.end()),
                           &Committed::Place::step);
  }
  return steps;
}

std::optional<Mesh::Location> Mesh::location(const Committed::Variable& variable) const {
  const auto& newest = variable.places.back();
  const auto size = size_at(newest.step);
  if (!size || newest.shape.dimensions < 1 || newest.shape.dimensions > 2) {
    return std::nullopt;
  }
  const auto said = text_in(variable.attributes, "location");
  const bool says_cells = said == "cell" || said == "edge" || said == "face" || said == "volume";
  const auto own = dimensions_of(variable);
  const auto fits = [&](const Committed::Variable& part, std::int64_t count) {
    const auto its = dimensions_of(part);
    return rows(&newest) == count && (own.empty() || its.empty() || own.front() == its.front());
  };
  const bool fits_points = fits(*variables_.front(), size->points);
  if (fits(*variables_.back(), size->cells) && (says_cells || !fits_points)) {
    return Location::cells;
  }
  return fits_points && !says_cells ? std::optional{Location::points} : std::nullopt;
}

void Mesh::append(const Places& places, Parts& parts) const {
  for (const auto part : {points, connectivity, offsets, types}) {
    formats::Extent start{parts.ends.at(part)};
    formats::Extent count{rows(places[part])};
    if (part == points) {
      start.push_back(0);
      count.push_back(places[part]->shape.extent[1]);
    }
    parts.ends.at(part) += count.front();
    parts.datasets.at(part).links.push_back(
        links_.to(variables_[part]->name, *places[part], std::move(start), std::move(count)));
  }
}

// Coordinates are the columns of the points.
void Mesh::append_ugrid(const Places& places, Parts& parts) const {
  for (std::size_t axis = 0; axis + 1 < places.size(); ++axis) {
    parts.datasets[points].links.push_back(
        links_.to(variables_[axis]->name, *places[axis],
                  {parts.ends[points], static_cast<std::int64_t>(axis)}, {rows(places[axis]), 1}));
  }
  parts.ends[points] += rows(places.front());

  const auto& cells = *variables_.back();
  const auto& place = *places.back();
  const auto nodes = links_.integers(cells.name, place);
  const auto first = integer_in(cells.attributes, "start_index").value_or(0);
  const auto missing = integer_in(cells.attributes, contents::fill_attribute);
  const auto begin = std::ssize(parts.corners);
  parts.begins.push_back(0);
  const auto columns = place.shape.extent[1];
  for (std::int64_t cell = 0; cell < rows(&place); ++cell) {
    const auto before = parts.corners.size();
    for (std::int64_t i = cell * columns; i < (cell + 1) * columns; ++i) {
      const auto node = nodes[static_cast<std::size_t>(i)];
      if (node >= first && node != missing) {
        parts.corners.push_back(node - first);
      }
    }
    parts.begins.push_back(std::ssize(parts.corners) - begin);
    parts.kinds.push_back(std::byte{vtk_type(ugrid_dimensions_, parts.corners.size() - before)});
  }
  parts.ends[connectivity] = std::ssize(parts.corners);
  parts.ends[offsets] = std::ssize(parts.begins);
  parts.ends[types] = std::ssize(parts.kinds);
}

void Mesh::add_to(formats::LinkFile& file, const std::vector<std::int64_t>& steps) const {
  Parts parts;
  const auto coordinates =
      std::span{variables_}.first(ugrid_dimensions_ > 0 ? variables_.size() - 1 : 1);
  for (const auto part : {points, connectivity, offsets, types}) {
    auto& made = parts.datasets.at(part) =
        dataset(dataset_names.at(part), std::vector<std::int64_t>{});
    made.type = part == points  ? type_of(coordinates)
                : part == types ? ElementType::uint8
                                : ElementType::int64;
  }
  std::vector<std::int64_t> part_of_step;
  std::array<std::vector<std::int64_t>, 4> begin_of_step;
  std::array<std::vector<std::int64_t>, 4> rows_of_part;
  Places before;
  std::array<std::int64_t, 4> at{};
  for (const auto step : steps) {
    const auto places = places_at(step);
    if (places != before) {
      before = places;
      at = parts.ends;
      ugrid_dimensions_ > 0 ? append_ugrid(places, parts) : append(places, parts);
      for (std::size_t part = 0; part < at.size(); ++part) {
        rows_of_part.at(part).push_back(parts.ends.at(part) - at.at(part));
      }
    }
    part_of_step.push_back(std::ssize(rows_of_part[points]) - 1);
    for (std::size_t part = 0; part < at.size(); ++part) {
      begin_of_step.at(part).push_back(at.at(part));
    }
  }
  if (ugrid_dimensions_ > 0) {
    parts.datasets[connectivity] = dataset(dataset_names[connectivity], parts.corners);
    parts.datasets[offsets] = dataset(dataset_names[offsets], parts.begins);
    parts.datasets[types].values = std::move(parts.kinds);
  }
  for (const auto part : {points, connectivity, offsets, types}) {
    auto& made = parts.datasets.at(part);
    made.extent = {parts.ends.at(part)};
    if (part == points) {
      made.extent.push_back(most_axes);
    }
    file.datasets.push_back(std::move(made));
  }
  const auto say = [&](const char* path, const std::vector<std::int64_t>& values) {
    file.datasets.push_back(dataset(path, values));
  };
  say("NumberOfPoints", rows_of_part[points]);
  say("NumberOfConnectivityIds", rows_of_part[connectivity]);
  say("NumberOfCells", rows_of_part[types]);
  if (steps.size() > 1) {
    say("Steps/PartOffsets", part_of_step);
    say("Steps/NumberOfParts", std::vector<std::int64_t>(steps.size(), 1));
    say("Steps/PointOffsets", begin_of_step[points]);
    for (const auto& [path, part] :
         {std::pair{"Steps/ConnectivityIdOffsets", connectivity}, {"Steps/CellOffsets", types}}) {
      say(path, begin_of_step.at(part));
      file.datasets.back().extent.push_back(1);  // a column for each topology
    }
  }
}

}  // namespace iocomp::vtkhdf
