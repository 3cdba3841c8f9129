// SPDX-License-Identifier: BSD-3-Clause
#include "vtkhdf/grids.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/real_number.h"
#include "base/error.h"
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"
#include "vtkhdf/links.h"
#include "vtkhdf/mesh.h"

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

constexpr std::int64_t most_components = 9;  // of a tensor
// Coordinates of which each is nearer than that to its place on an even axis, in steps of the axis.
constexpr double even_within = 1e-4;

// The names of arrays, by variable. A group in VTK's groups would hide "a/b". It is called "a.b",
// or otherwise if there is a variable of that name.
std::map<std::string, std::string> names_of_arrays(const std::vector<Variable>& variables) {
  std::map<std::string, std::string> names;
  std::set<std::string> taken;
  for (const bool is_in_group : {false, true}) {
    for (const auto& variable : variables) {
      std::string name = variable.name;
      if ((name.find('/') != std::string::npos) == is_in_group) {
        std::ranges::replace(name, '/', '.');
        while (!taken.insert(name).second) {
          name += '_';
        }
        names[variable.name] = name;
      }
    }
  }
  return names;
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
      : input_{input},
        committed_{input.committed()},
        links_{input, is_beside},
        names_{names_of_arrays(committed_.variables)},
        mesh_{Mesh::find_in(links_)} {}

  [[nodiscard]] Grids grids() {
    for (const auto& variable : committed_.variables) {
      sort(variable);
    }
    if (mesh_) {
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
  // Find the grid of a variable.
  void sort(const Variable& variable) {
    const auto& newest = variable.places.back();
    if ((mesh_ && mesh_->has(variable.name)) || is_coordinate(variable) ||
        newest.shape.dimensions == 0) {
      return;
    }
    if (!has_vtk_type(newest.type)) {
      leave_out(variable, "VTK has no type " + std::string{array::name(newest.type)});
      return;
    }
    if (is_packed(variable)) {
      leave_out(variable, "VTK does not unpack values by scale_factor and add_offset");
      return;
    }
    if (const auto why = array::elements(newest.shape) > 0 ? why_not_linked(variable) : "";
        !why.empty()) {
      leave_out(variable, why);
      return;
    }
    if (const auto where = mesh_ ? mesh_->location(variable) : std::nullopt) {
      auto& arrays = *where == Mesh::Location::points ? on_points_ : on_cells_;
      arrays.push_back(array_of(variable, true));
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
    auto array = array_of(variable, false);
    lattices_[lattice_of(variable)].push_back(std::move(array));
  }

  // The places that have the type and the shape of the newest; a mesh may have other rows.
  Array array_of(const Variable& variable, bool is_on_mesh) {
    const auto& newest = variable.places.back();
    Array array{variable.name, type_said(variable), {}};
    std::ranges::copy_if(variable.places, std::back_inserter(array.places),
                         [&](const Place& place) {
                           auto shape = place.shape;
                           shape.extent[0] = is_on_mesh ? newest.shape.extent[0] : shape.extent[0];
                           return shape == newest.shape && place.type == newest.type;
                         });
    if (array.places.size() < variable.places.size()) {
      leave_out(variable, "in steps in which its type and shape are not " +
                              std::string{array::name(newest.type)} + ' ' +
                              array::text(newest.shape));
    }
    return array;
  }

  void leave_out(const Variable& variable, const std::string& reason) {
    grids_.left_out.push_back({variable.name, reason});
  }

  static auto found_in(const contents::Attributes& attributes) {
    return [&attributes](const char* name) { return find(attributes, name); };
  }

  // In any step.
  static bool is_packed(const Variable& variable) {
    return std::ranges::any_of(variable.meaning, [&](const auto& meaning) {
      bool is_one = true;  // also where the attributes make no sense
      (void)outcome_of([&] {
        is_one =
            contents::packing(variable.places.back().type, found_in(meaning.second)).has_value();
      });
      return is_one;
    });
  }

  static ElementType type_said(const Variable& variable) {
    return contents::type_said(variable.places.back().type, found_in(variable.attributes));
  }

  // Empty if a link can lead to the values. HDF5 converts those of its own datasets.
  [[nodiscard]] std::string why_not_linked(const Variable& variable) {
    const auto& newest = variable.places.back();
    std::string dataset;
    const Outcome found =
        outcome_of([&] { dataset = input_.whereabouts(variable.name, newest).dataset; });
    if (found.code != ErrorCode::unsupported) {
      found.throw_unless_ok();
    }
    return !dataset.empty() && type_said(variable) != newest.type
               ? "VTK does not read signed values as unsigned, as _Unsigned says"
               : found.story;
  }

  static bool has_components(const array::Shape& shape) {
    return shape.dimensions == most_axes + 1 && shape.extent[most_axes] > 1 &&
           shape.extent[most_axes] <= most_components;
  }
  static bool has_axes(const array::Shape& shape) {
    return static_cast<std::size_t>(shape.dimensions) <= most_axes || has_components(shape);
  }

  // A variable of one dimension that is called as this.
  static bool is_coordinate(const Variable& variable) {
    return variable.places.back().shape.dimensions == 1 &&
           dimensions_of(variable) == std::vector{variable.name};
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
    const auto names = dimensions_of(variable);
    for (std::size_t d = 0; d < lattice.axes.size() && d < names.size(); ++d) {
      if (const auto* coordinate = find(committed_, names[d]);
          coordinate != nullptr && is_coordinate(*coordinate) &&
          coordinate->places.back().shape.extent[0] == lattice.shape[d]) {
        const auto values = links_.reals(coordinate->name, coordinate->places.back());
        if (std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
          lattice.axes[d] = axis_through(values);
        }
      }
    }
    return lattice;
  }

  // ---- datasets ----

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
    group["Version"] = attribute(version);
    group["Type"] = contents::text_attribute(grid.kind);
    if (grid.steps.size() > 1) {
      const auto path = std::string{root} + "/Steps";
      grid.file.groups[path]["NSteps"] =
          attribute(std::vector<std::int64_t>{std::ssize(grid.steps)});
      grid.file.datasets.push_back(dataset("Steps/Values", times_of(grid.steps)));
    }
  }

  // Put the places of an array one behind the other, `rows` of the dataset each. Steps that show
  // none of them show rows that are not linked.
  // @param rows  of a place. @param extent  of a row.
  void add(Grid& grid, const char* where, const Array& array, const Extent& extent,
           const std::function<std::int64_t(const Place&)>& rows,
           const std::function<std::int64_t(std::int64_t step)>& rows_of_step) {
    const auto& name = names_.at(array.name);
    Dataset made{std::string{root} + '/' + where + "Data/" + name, array.type, {}};
    made.missing = std::numeric_limits<double>::quiet_NaN();
    std::map<std::int64_t, std::int64_t> begins;  // by step of the place
    std::int64_t end = 0;
    for (const auto& place : array.places) {
      Extent start(extent.size() + 1, 0);
      Extent count = extent;
      start.front() = begins[place.step] = end;
      count.insert(count.begin(), rows(place));
      end += rows(place);
      made.links.push_back(links_.to(array.name, place, std::move(start), std::move(count)));
      made.links.back().type = array.type;
    }
    std::int64_t missing = 0;
    std::vector<std::int64_t> offsets;
    for (const auto step : grid.steps) {
      const auto* place = shown(array.places, step);
      const bool fits = place != nullptr && rows(*place) == rows_of_step(step);
      missing = fits ? missing : std::max(missing, rows_of_step(step));
      offsets.push_back(fits ? begins[place->step] : end);
    }
    made.extent = extent;
    made.extent.insert(made.extent.begin(), end + missing);
    if (grid.steps.size() > 1) {
      grid.file.datasets.push_back(
          dataset("Steps/" + std::string{where} + "DataOffsets/" + name, offsets));
    } else if (std::string_view{where} == "Point" && grid.kind != "UnstructuredGrid") {
      drop_time(made);
    }
    grid.file.datasets.push_back(std::move(made));
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
        grid.file.datasets.push_back(
            dataset(std::string{"XYZ"[i]} + "Coordinates", coordinates_on(axis, length)));
      }
    }
    auto& group = grid.file.groups[root];
    group["WholeExtent"] = attribute(whole);
    if (is_even) {
      group["Origin"] = attribute(origin);
      group["Spacing"] = attribute(spacing);
      group["Direction"] = attribute(direction);
    } else {
      group["Dimensions"] = attribute(lengths);
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

  void add_mesh() {
    Grid grid{"mesh", "UnstructuredGrid", {}, {}, {}};
    auto steps = mesh_->steps();
    for (const auto* arrays : {&on_points_, &on_cells_}) {
      std::ranges::copy(steps_of(*arrays), std::inserter(steps, steps.end()));
    }
    std::ranges::copy_if(steps, std::back_inserter(grid.steps),
                         [&](std::int64_t step) { return mesh_->size_at(step).has_value(); });
    begin(grid, {2, 0});
    mesh_->add_to(grid.file, grid.steps);
    add_on_mesh(grid, "Point", on_points_, &Mesh::Size::points);
    add_on_mesh(grid, "Cell", on_cells_, &Mesh::Size::cells);
    grids_.grids.push_back(std::move(grid));
  }

  void add_on_mesh(Grid& grid, const char* where, const std::vector<Array>& arrays,
                   std::int64_t Mesh::Size::* rows) {
    for (const auto& array : arrays) {
      Extent extent = extent_of(array.places.back().shape);
      extent.erase(extent.begin());
      add(
          grid, where, array, extent, [](const Place& place) { return place.shape.extent[0]; },
          [&](std::int64_t step) { return (*mesh_->size_at(step)).*rows; });
    }
  }

  reading::Input& input_;
  const Committed& committed_;
  Links links_;
  std::map<std::string, std::string> names_;
  std::optional<Mesh> mesh_;
  std::vector<Array> on_points_;
  std::vector<Array> on_cells_;
  std::map<Lattice, std::vector<Array>> lattices_;
  Grids grids_;
};

}  // namespace

Grids grids_of(reading::Input& input, bool is_beside) {
  return Describer{input, is_beside}.grids();
}

}  // namespace iocomp::vtkhdf
