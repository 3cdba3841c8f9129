// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf/grids.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/real_number.h"
#include "array/region.h"
#include "base/error.h"
#include "contents/dimensions.h"
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"

namespace iocomp::vtkhdf {
namespace {

using array::ElementType;
using contents::Attribute;
using formats::Dataset;
using formats::Extent;
using formats::Link;
using reading::Committed;
using Place = Committed::Place;
using Variable = Committed::Variable;

constexpr const char* root = "VTKHDF";
constexpr std::size_t most_axes = 3;
constexpr std::int64_t most_components = 9;  // of a tensor
// Coordinates of which each is nearer than that to its place on an even axis, in steps of the axis.
constexpr double even_within = 1e-4;

// ---- what HDF5 is told ----

template <typename Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {bytes.begin(), bytes.end()};
}

Attribute text(std::string_view words) {
  const auto bytes = std::as_bytes(std::span{words});
  return {ElementType::uint8, true, {bytes.begin(), bytes.end()}};
}

Attribute integers(const std::vector<std::int64_t>& values) {
  return {ElementType::int64, false, bytes_of(values)};
}

Attribute reals(const std::vector<double>& values) {
  return {ElementType::float64, false, bytes_of(values)};
}

Dataset values_of(const std::string& path, const std::vector<std::int64_t>& values) {
  return {path, ElementType::int64, {std::ssize(values)}, bytes_of(values)};
}

Dataset values_of(const std::string& path, const std::vector<double>& values) {
  return {path, ElementType::float64, {std::ssize(values)}, bytes_of(values)};
}

// A group in VTK's groups would hide it.
std::string array_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

Extent extent_of(const array::Shape& shape) {
  return {shape.extent.begin(), shape.extent.begin() + shape.dimensions};
}

std::string shape_text(const Extent& extent) {
  std::string all;
  for (const auto length : extent) {
    all += (all.empty() ? "" : "x") + std::to_string(length);
  }
  return all;
}

// ---- what a file says ----

std::optional<std::vector<double>> numbers(const Attribute& attribute) {
  std::vector<double> all;
  const auto size = array::size_bytes(attribute.type);
  for (std::size_t at = 0; !attribute.is_text && at < attribute.values.size(); at += size) {
    const auto number = array::real_number(attribute.type, attribute.values.data() + at);
    if (!number) {
      return std::nullopt;
    }
    all.push_back(*number);
  }
  return all;
}

const Attribute* find(const contents::Attributes& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

const Variable* find(const Committed& committed, const std::string& name) {
  const auto found = std::ranges::find(committed.variables, name, &Variable::name);
  return found == committed.variables.end() ? nullptr : &*found;
}

// The last values up to a step; nothing before the first.
const Place* shown(const std::vector<Place>& places, std::int64_t step) {
  const auto next = std::ranges::upper_bound(places, step, {}, &Place::step);
  return next == places.begin() ? nullptr : &*std::prev(next);
}

bool has_vtk_type(ElementType type) {
  return array::is_integer(type) || type == ElementType::float32 || type == ElementType::float64;
}

/// A variable on a grid, with its places there.
struct Array {
  std::string name;
  ElementType type;
  std::vector<Place> places;  ///< by step, ascending
};

struct Axis {
  double origin = 0;
  double spacing = 1;
  std::vector<double> coordinates;  ///< where they are not even; else empty
  friend auto operator<=>(const Axis&, const Axis&) = default;
};

/// Points in rows and columns.
struct Lattice {
  Extent shape;            ///< slowest first
  std::vector<Axis> axes;  ///< likewise
  friend auto operator<=>(const Lattice&, const Lattice&) = default;

  [[nodiscard]] bool is_even() const {
    return std::ranges::all_of(axes, [](const Axis& axis) { return axis.coordinates.empty(); });
  }
};

Axis axis_through(std::vector<double> coordinates) {
  Axis axis;
  axis.origin = coordinates.front();
  const auto last = static_cast<double>(coordinates.size() - 1);
  if (coordinates.size() > 1) {
    axis.spacing = (coordinates.back() - coordinates.front()) / last;
  }
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const double there = axis.origin + static_cast<double>(i) * axis.spacing;
    if (axis.spacing <= 0 || !(std::abs(coordinates[i] - there) <= even_within * axis.spacing)) {
      axis.coordinates = std::move(coordinates);
      break;
    }
  }
  return axis;
}

std::vector<double> coordinates_on(const Axis& axis, std::int64_t length) {
  std::vector<double> all = axis.coordinates;
  for (std::int64_t i = std::ssize(all); i < length; ++i) {
    all.push_back(axis.origin + static_cast<double>(i) * axis.spacing);
  }
  return all;
}

// ---- grids ----

class Describer {
 public:
  Describer(reading::Input& input, bool is_beside)
      : input_{input}, committed_{input.committed()}, is_beside_{is_beside} {}

  [[nodiscard]] Grids grids() {
    find_mesh();
    for (const auto& variable : committed_.variables) {
      sort(variable);
    }
    if (!mesh_.empty()) {
      add_mesh();
    }
    std::map<std::string, int> of_shape;
    for (const auto& [lattice, arrays] : lattices_) {
      ++of_shape[shape_text(lattice.shape)];
    }
    std::map<std::string, int> named;
    for (const auto& [lattice, arrays] : lattices_) {
      const auto shape = shape_text(lattice.shape);
      add_lattice(of_shape[shape] > 1 ? shape + '-' + std::to_string(++named[shape]) : shape,
                  lattice, arrays);
    }
    return std::move(grids_);
  }

 private:
  static constexpr std::array<const char*, 4> roles{"points", "connectivity", "offsets", "types"};

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error{ErrorCode::invalid_argument, "the mesh of " + input_.name() + ": " + why};
  }

  void find_mesh() {
    for (const char* const role : roles) {
      const std::string key = "mesh_" + std::string{role};
      const auto* said = find(committed_.attributes, key.c_str());
      if (said == nullptr) {
        continue;
      }
      const std::string name{said->is_text ? contents::text_of(*said) : ""};
      const auto* variable = find(committed_, name);
      if (variable == nullptr) {
        refuse("its attribute " + key + " names \"" + name + "\", which is no variable of it");
      }
      mesh_.push_back(variable);
      is_used_.insert(name);
    }
    if (!mesh_.empty() && mesh_.size() < roles.size()) {
      refuse(
          "the file has some of the attributes mesh_points, mesh_connectivity, mesh_offsets and "
          "mesh_types; a mesh has all four");
    }
  }

  // The four parts of the mesh that a step shows; none before all are there.
  [[nodiscard]] std::vector<const Place*> mesh_at(std::int64_t step) const {
    std::vector<const Place*> parts;
    for (const auto* variable : mesh_) {
      const auto* place = shown(variable->places, step);
      if (place == nullptr) {
        return {};
      }
      parts.push_back(place);
    }
    const auto rows = [&](std::size_t part) { return parts[part]->shape.extent[0]; };
    const auto columns = parts[0]->shape.extent[1];
    if (parts[0]->shape.dimensions != 2 || columns < 2 || columns > 3) {
      refuse("its points " + mesh_[0]->name + " must have the shape n x 3 or n x 2, not " +
             array::text(parts[0]->shape));
    }
    if (rows(2) != rows(3) + 1) {
      refuse(mesh_[2]->name + " must have one element more than " + mesh_[3]->name + ", not " +
             std::to_string(rows(2)) + " and " + std::to_string(rows(3)));
    }
    return parts;
  }

  // 0: on points, 1: on cells.
  [[nodiscard]] std::optional<std::size_t> location(const Variable& variable) const {
    const auto parts =
        mesh_.empty() ? std::vector<const Place*>{} : mesh_at(variable.places.back().step);
    const auto& shape = variable.places.back().shape;
    if (parts.empty() || shape.dimensions < 1 || shape.dimensions > 2) {
      return std::nullopt;
    }
    const bool fits_points = shape.extent[0] == parts[0]->shape.extent[0];
    const bool fits_cells = shape.extent[0] == parts[3]->shape.extent[0];
    const auto* said = find(variable.attributes, "location");
    const std::string_view where = said != nullptr && said->is_text ? contents::text_of(*said) : "";
    const bool says_cells = where == "cell" || where == "face" || where == "volume";
    if (fits_cells && (says_cells || !fits_points)) {
      return 1;
    }
    return fits_points && !says_cells ? std::optional<std::size_t>{0} : std::nullopt;
  }

  // Find the grid of a variable.
  void sort(const Variable& variable) {
    const auto& newest = variable.places.back();
    if (is_used_.contains(variable.name) || is_coordinate(variable) ||
        newest.shape.dimensions == 0) {
      return;
    }
    if (!has_vtk_type(newest.type)) {
      leave_out(variable, "VTK has no type " + std::string{array::name(newest.type)});
      return;
    }
    if (const auto where = location(variable)) {
      on_mesh_.at(*where).push_back({variable.name, newest.type, variable.places});
      return;
    }
    if (array::elements(newest.shape) == 0) {
      leave_out(variable, "it has no elements");
      return;
    }
    if (!has_axes(newest.shape)) {
      leave_out(variable,
                "VTK has no grids of " + std::to_string(newest.shape.dimensions) + " dimensions");
      return;
    }
    Array array{variable.name, newest.type, {}};
    std::ranges::copy_if(variable.places, std::back_inserter(array.places),
                         [&](const Place& place) { return place.shape == newest.shape; });
    if (array.places.size() < variable.places.size()) {
      leave_out(variable, "in steps in which its shape is not " + array::text(newest.shape));
    }
    lattices_[lattice_of(variable)].push_back(std::move(array));
  }

  void leave_out(const Variable& variable, const std::string& reason) {
    grids_.left_out.push_back({variable.name, reason});
  }

  static bool has_components(const array::Shape& shape) {
    return shape.dimensions == most_axes + 1 && shape.extent[most_axes] > 1 &&
           shape.extent[most_axes] <= most_components;
  }
  static bool has_axes(const array::Shape& shape) {
    return static_cast<std::size_t>(shape.dimensions) <= most_axes || has_components(shape);
  }

  [[nodiscard]] std::vector<std::string> dimensions(const Variable& variable) const {
    const auto* said = find(variable.attributes, contents::dimensions_attribute);
    if (said == nullptr || !said->is_text) {
      return {};
    }
    contents::Variable described{0, variable.name, variable.places.back().type,
                                 variable.places.back().shape};
    described.dimensions = std::string{contents::text_of(*said)};
    contents::Dimensions found;
    (void)outcome_of([&] { found = contents::dimensions_of(described, false); });
    return found.names;
  }

  // A variable of one dimension that is called as this.
  [[nodiscard]] bool is_coordinate(const Variable& variable) const {
    return variable.places.back().shape.dimensions == 1 &&
           dimensions(variable) == std::vector{variable.name};
  }

  [[nodiscard]] Lattice lattice_of(const Variable& variable) {
    Lattice lattice{extent_of(variable.places.back().shape), {}};
    if (lattice.shape.size() > most_axes) {
      lattice.shape.pop_back();
    }
    lattice.axes.resize(lattice.shape.size());
    const auto say = [&](const char* name, double Axis::* member) {
      const auto* said = find(variable.attributes, name);
      said = said == nullptr ? find(committed_.attributes, name) : said;
      const auto values = said == nullptr ? std::nullopt : numbers(*said);
      for (std::size_t d = 0; values && values->size() == lattice.axes.size() && d < values->size();
           ++d) {
        lattice.axes[d].*member = (*values)[d];
      }
    };
    say("origin", &Axis::origin);
    say("spacing", &Axis::spacing);
    const auto names = dimensions(variable);
    for (std::size_t d = 0; d < lattice.axes.size() && d < names.size(); ++d) {
      if (const auto* coordinate = find(committed_, names[d]);
          coordinate != nullptr && is_coordinate(*coordinate) &&
          coordinate->places.back().shape.extent[0] == lattice.shape[d]) {
        lattice.axes[d] = axis_through(read(*coordinate));
      }
    }
    return lattice;
  }

  [[nodiscard]] std::vector<double> read(const Variable& variable) {
    const auto& place = variable.places.back();
    const auto all = array::whole(place.shape);
    std::vector<double> values(static_cast<std::size_t>(array::elements(place.shape)));
    input_.read(variable.name, place.step,
                {.start = all.start.data(),
                 .count = all.count.data(),
                 .values = values.data(),
                 .type = ElementType::float64});
    return values;
  }

  // ---- datasets ----

  [[nodiscard]] Link link_to(const std::string& variable, const Place& place, Extent start,
                             Extent count) {
    auto where = input_.whereabouts(variable, place);
    const auto& step = input_.step_of(place.step);
    const auto& name = committed_.files[static_cast<std::size_t>(step.file)].name;
    const bool is_named = is_beside_ && !where.dataset.empty();
    return {is_named ? name : committed_.folder.path + '/' + name, std::move(where),
            extent_of(place.shape), std::move(start), std::move(count)};
  }

  [[nodiscard]] std::vector<double> times_of(const std::vector<std::int64_t>& steps) {
    std::vector<double> times;
    std::ranges::transform(steps, std::back_inserter(times),
                           [&](std::int64_t step) { return input_.time(step); });
    const bool are_told =
        std::ranges::none_of(times, [](double time) { return std::isnan(time); }) &&
        std::ranges::is_sorted(times, std::less_equal<>{});
    if (!are_told) {
      std::ranges::transform(steps, times.begin(),
                             [](std::int64_t step) { return static_cast<double>(step); });
    }
    return times;
  }

  // A file of one step has no axis of time: VTK wants none.
  void begin(Grid& grid, std::vector<std::int64_t> version) {
    auto& group = grid.file.groups[root];
    group["Version"] = integers(version);
    group["Type"] = text(grid.kind);
    if (grid.steps.size() > 1) {
      const auto path = std::string{root} + "/Steps";
      grid.file.groups[path]["NSteps"] = integers({std::ssize(grid.steps)});
      grid.file.datasets.push_back(values_of(path + "/Values", times_of(grid.steps)));
    }
  }

  // Put the places of an array one behind the other, `rows` of the dataset each. Steps that show
  // none of them show rows that are not linked.
  // @param rows  of a place. @param extent  of a row.
  void add(Grid& grid, const char* where, const Array& array, const Extent& extent,
           const std::function<std::int64_t(const Place&)>& rows,
           const std::function<std::int64_t(std::int64_t step)>& rows_of_step) {
    const auto name = array_name(array.name);
    Dataset dataset{std::string{root} + '/' + where + "Data/" + name, array.type, {}};
    std::map<std::int64_t, std::int64_t> begins;  // by step of the place
    std::int64_t end = 0;
    for (const auto& place : array.places) {
      Extent start(extent.size() + 1, 0);
      Extent count = extent;
      start.front() = begins[place.step] = end;
      count.insert(count.begin(), rows(place));
      end += rows(place);
      dataset.links.push_back(link_to(array.name, place, std::move(start), std::move(count)));
    }
    std::int64_t missing = 0;
    std::vector<std::int64_t> offsets;
    for (const auto step : grid.steps) {
      const auto* place = shown(array.places, step);
      const bool fits = place != nullptr && rows(*place) == rows_of_step(step);
      missing = fits ? missing : std::max(missing, rows_of_step(step));
      offsets.push_back(fits ? begins[place->step] : end);
    }
    dataset.extent = extent;
    dataset.extent.insert(dataset.extent.begin(), end + missing);
    if (grid.steps.size() > 1) {
      grid.file.datasets.push_back(
          values_of(std::string{root} + "/Steps/" + where + "DataOffsets/" + name, offsets));
    } else if (std::string_view{where} == "Point" && grid.kind != "UnstructuredGrid") {
      drop_time(dataset);
    }
    grid.file.datasets.push_back(std::move(dataset));
    grid.variables.push_back(array.name);
  }

  static void drop_time(Dataset& dataset) {
    dataset.extent.erase(dataset.extent.begin());
    for (auto& link : dataset.links) {
      link.start.erase(link.start.begin());
      link.count.erase(link.count.begin());
    }
  }

  static std::vector<std::int64_t> steps_of(const std::vector<Array>& arrays) {
    std::set<std::int64_t> steps;
    for (const auto& array : arrays) {
      for (const auto& place : array.places) {
        steps.insert(place.step);
      }
    }
    return {steps.begin(), steps.end()};
  }

  // VTK wants as many axes in a dataset as have several points, and takes the first of its own for
  // them. `Direction` turns these to where they belong.
  void add_lattice(const std::string& name, const Lattice& lattice,
                   const std::vector<Array>& arrays) {
    const bool is_even = lattice.is_even();
    Grid grid{name, is_even ? "ImageData" : "RectilinearGrid", steps_of(arrays), {}, {}};
    begin(grid, is_even ? std::vector<std::int64_t>{2, 0} : std::vector<std::int64_t>{2, 6});
    std::vector<std::size_t> kept;  // fastest first
    for (std::size_t d = lattice.shape.size(); d-- > 0;) {
      if (lattice.shape[d] > 1) {
        kept.push_back(d);
      }
    }
    if (kept.empty()) {
      kept.push_back(lattice.shape.size() - 1);
    }
    std::vector<std::size_t> order = kept;
    for (std::size_t d = lattice.shape.size(); d-- > 0;) {
      if (std::ranges::find(kept, d) == kept.end()) {
        order.push_back(d);
      }
    }
    std::vector<std::int64_t> whole;
    std::vector<std::int64_t> lengths;
    std::vector<double> origin(most_axes, 0);
    std::vector<double> spacing;
    std::vector<double> direction(most_axes * most_axes, 0);
    for (std::size_t i = 0; i < most_axes; ++i) {
      const bool is_there = i < order.size();
      const auto length = is_there ? lattice.shape[order[i]] : 1;
      const Axis axis = is_there ? lattice.axes[order[i]] : Axis{};
      const std::size_t to = is_there ? lattice.shape.size() - 1 - order[i] : i;  // x, y or z
      whole.insert(whole.end(), {0, length - 1});
      lengths.push_back(length);
      spacing.push_back(axis.spacing);
      origin[to] = axis.origin;
      direction[to * most_axes + i] = 1;
      if (!is_even) {
        grid.file.datasets.push_back(values_of(std::string{root} + '/' + "XYZ"[i] + "Coordinates",
                                               coordinates_on(axis, length)));
      }
    }
    auto& group = grid.file.groups[root];
    group["WholeExtent"] = integers(whole);
    if (is_even) {
      group["Origin"] = reals(origin);
      group["Spacing"] = reals(spacing);
      group["Direction"] = reals(direction);
    } else {
      group["Dimensions"] = integers(lengths);
    }
    for (const auto& array : arrays) {
      Extent extent;
      for (auto d = kept.rbegin(); d != kept.rend(); ++d) {
        extent.push_back(lattice.shape[*d]);
      }
      const auto& shape = array.places.back().shape;
      if (has_components(shape)) {
        extent.push_back(shape.extent[most_axes]);
      }
      const auto one = [](auto) { return std::int64_t{1}; };
      add(grid, "Point", array, extent, one, one);
    }
    grids_.grids.push_back(std::move(grid));
  }

  // Each mesh that differs from the one before is a part of its own in all four datasets.
  void add_mesh() {
    Grid grid{"mesh", "UnstructuredGrid", {}, {}, {}};
    std::set<std::int64_t> steps;
    for (const auto* variable : mesh_) {
      std::ranges::transform(variable->places, std::inserter(steps, steps.end()), &Place::step);
    }
    for (const auto& arrays : on_mesh_) {
      std::ranges::copy(steps_of(arrays), std::inserter(steps, steps.end()));
    }
    std::ranges::copy_if(steps, std::back_inserter(grid.steps),
                         [&](std::int64_t step) { return !mesh_at(step).empty(); });
    begin(grid, {2, 0});
    std::array<Dataset, 4> parts{{{std::string{root} + "/Points", mesh_[0]->places.back().type, {}},
                                  {std::string{root} + "/Connectivity", ElementType::int64, {}},
                                  {std::string{root} + "/Offsets", ElementType::int64, {}},
                                  {std::string{root} + "/Types", ElementType::uint8, {}}}};
    std::vector<std::vector<const Place*>> meshes;
    std::array<std::vector<std::int64_t>, 4> rows;
    std::array<std::vector<std::int64_t>, 5> begins;  // of each step: in the four, and its part
    std::array<std::int64_t, 4> ends{};
    std::array<std::int64_t, 4> at{};
    for (const auto step : grid.steps) {
      const auto mesh = mesh_at(step);
      if (meshes.empty() || meshes.back() != mesh) {
        meshes.push_back(mesh);
        at = ends;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const auto length = mesh[i]->shape.extent[0];
          Extent start{ends.at(i)};
          Extent count{length};
          if (i == 0) {
            start.push_back(0);
            count.push_back(mesh[0]->shape.extent[1]);
          }
          parts.at(i).links.push_back(link_to(mesh_[i]->name, *mesh[i], start, count));
          rows.at(i).push_back(length);
          ends.at(i) += length;
        }
      }
      for (std::size_t i = 0; i < at.size(); ++i) {
        begins.at(i).push_back(at.at(i));
      }
      begins.back().push_back(std::ssize(meshes) - 1);
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts.at(i).extent = {ends.at(i)};
      if (i == 0) {
        parts.at(i).extent.push_back(most_axes);
      }
      grid.file.datasets.push_back(std::move(parts.at(i)));
    }
    const auto say = [&](const std::string& name, const std::vector<std::int64_t>& values,
                         bool has_columns = false) {
      auto dataset = values_of(std::string{root} + '/' + name, values);
      if (has_columns) {
        dataset.extent.push_back(1);
      }
      grid.file.datasets.push_back(std::move(dataset));
    };
    say("NumberOfPoints", rows[0]);
    say("NumberOfConnectivityIds", rows[1]);
    say("NumberOfCells", rows[3]);
    if (grid.steps.size() > 1) {
      say("Steps/PartOffsets", begins[4]);
      say("Steps/NumberOfParts", std::vector<std::int64_t>(grid.steps.size(), 1));
      say("Steps/PointOffsets", begins[0]);
      say("Steps/ConnectivityIdOffsets", begins[1], true);
      say("Steps/CellOffsets", begins[3], true);
    }
    add_on_mesh(grid);
    grids_.grids.push_back(std::move(grid));
  }

  void add_on_mesh(Grid& grid) {
    for (std::size_t where = 0; where < on_mesh_.size(); ++where) {
      for (const auto& array : on_mesh_.at(where)) {
        Extent extent = extent_of(array.places.back().shape);
        extent.erase(extent.begin());
        add(
            grid, where == 0 ? "Point" : "Cell", array, extent,
            [](const Place& place) { return place.shape.extent[0]; },
            [&](std::int64_t step) { return mesh_at(step)[where == 0 ? 0 : 3]->shape.extent[0]; });
      }
    }
  }

  reading::Input& input_;
  const Committed& committed_;
  bool is_beside_;
  Grids grids_;
  std::vector<const Variable*> mesh_;  // by role; empty: there is none
  std::set<std::string> is_used_;      // names of variables that make a mesh
  std::map<Lattice, std::vector<Array>> lattices_;
  std::array<std::vector<Array>, 2> on_mesh_;  // on points, on cells
};

}  // namespace

Grids grids_of(reading::Input& input, bool is_beside) {
  return Describer{input, is_beside}.grids();
}

}  // namespace iocomp::vtkhdf
