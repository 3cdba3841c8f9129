// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/link_file.h"
#include "reading/committed.h"
#include "vtkhdf/links.h"

namespace iocomp::vtkhdf {

/// The unstructured mesh of a file. Its parts are variables, which may change between steps. They
/// are named in one of two ways:
///
/// - As VTKHDF has them, by the attributes mesh_points, mesh_connectivity, mesh_offsets and
///   mesh_types of the file: points (n x 3, or n x 2 in a plane), the points of all cells one after
///   the other, where each cell begins and the last one ends (cells + 1), and VTK's numbers of
///   their types.
/// - As UGRID 1.0 has them: a variable with cf_role = "mesh_topology", whose attributes name the
///   coordinates of the nodes and, by its topology_dimension, the nodes of the edges, faces or
///   volumes (cells x corners; missing corners are the _FillValue or negative; `start_index`).
class Mesh {
 public:
  /// @return nothing where no attribute tells of one.
  /// @throws Error{invalid_argument} where something of it is missing.
  [[nodiscard]] static std::optional<Mesh> find_in(const Links& links);

  /// True if a variable is a part of the mesh.
  [[nodiscard]] bool has(const std::string& variable) const;

  struct Size {
    std::int64_t points = 0;
    std::int64_t cells = 0;
  };
  /// The size in a step; nothing before all parts are there.
  /// @throws Error{invalid_argument} where they do not fit together.
  [[nodiscard]] std::optional<Size> size_at(std::int64_t step) const;
  /// The steps in which parts of it were put.
  [[nodiscard]] std::set<std::int64_t> steps() const;

  enum class Location { points, cells };
  /// The location that the values of a variable belong to: points or cells, whichever are as many
  /// as its rows, and have a dimension of the same name where both have names. If there are as many
  /// of both, its attribute `location` decides ("point" or "node"; "cell", "edge", "face" or
  /// "volume").
  [[nodiscard]] std::optional<Location> location(
      const reading::Committed::Variable& variable) const;

  /// Put what these steps show of it into a file. Each mesh that differs from the one before is a
  /// part of its own in all datasets.
  void add_to(formats::LinkFile& file, const std::vector<std::int64_t>& steps) const;

 private:
  using Places = std::vector<const reading::Committed::Place*>;
  struct Parts;

  explicit Mesh(const Links& links) : links_{links} {}
  [[nodiscard]] bool is_by_vtk() const;
  [[nodiscard]] bool is_by_ugrid();
  void name(const std::string& attribute, std::string_view variable);
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] Places places_at(std::int64_t step) const;
  void check(const Places& places) const;
  void append(const Places& places, Parts& parts) const;
  void append_ugrid(const Places& places, Parts& parts) const;

  Links links_;
  std::vector<const reading::Committed::Variable*> variables_;  // the connectivity of UGRID: last
  int ugrid_dimensions_ = 0;  // of its cells; 0: the parts are those of VTK
};

}  // namespace iocomp::vtkhdf
