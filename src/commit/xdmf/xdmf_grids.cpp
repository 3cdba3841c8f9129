// SPDX-License-Identifier: BSD-3-Clause
// The grids of a step: which variables share their points, and where the elements of all are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "array/box.h"
#include "base/utf8.h"
#include "commit/xdmf/xdmf.h"
#include "commit/xdmf/xdmf_words.h"
#include "contents/variable.h"
#include "formats/format.h"

namespace iocomp::commit {
namespace {

constexpr int most_dimensions = 3;  // of a grid

std::vector<std::string> words_of(const std::string& words) {
  std::istringstream stream{words};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) {
    found.push_back(word);
  }
  return found;
}

// The names of a variable's own dimensions; as many as it has, or none.
std::vector<std::string> dimension_names(const contents::Variable& variable) {
  auto names = words_of(variable.dimensions.value_or(""));
  const auto own = static_cast<std::size_t>(variable.shape.dimensions);
  if (names.size() == own + 1 && names.front() == "time") {
    names.erase(names.begin());
  }
  return names.size() == own ? names : std::vector<std::string>{};
}

// "1 3 4": grids have three dimensions, those that a variable lacks are in front.
std::string extents(const contents::Variable& variable) {
  std::string all;
  for (int d = variable.shape.dimensions; d < most_dimensions; ++d) {
    all += "1 ";
  }
  for (int d = 0; d < variable.shape.dimensions; ++d) {
    all += std::to_string(variable.shape.extent.at(static_cast<std::size_t>(d))) + ' ';
  }
  all.pop_back();
  return all;
}

bool can_be_described(const contents::Variable& variable) {
  return variable.shape.dimensions >= 1 && variable.shape.dimensions <= most_dimensions &&
         array::elements(variable.shape) > 0 && !xdmf::number_type(variable.type).empty() &&
         is_utf8(variable.name);
}

std::string listed(const std::vector<double>& values) {
  std::string all;
  for (const double value : values) {
    all += xdmf::text(value) + ' ';
  }
  all.pop_back();
  return "<DataItem Dimensions=\"" + std::to_string(values.size()) +
         R"(" NumberType="Float" Precision="8" Format="XML">)" + all + "</DataItem>";
}

/// Writes the grids of one step.
class Grids {
 public:
  Grids(const XdmfStep& step, const std::string& file, const formats::Format& format,
        const formats::FormatOptions& options)
      : step_{step}, file_{file}, format_{format}, options_{options} {}

  std::string text() {
    std::set<std::string> coordinates;
    for (const auto& placed : step_.contents) {
      const auto names = dimension_names(placed.variable);
      if (coordinates_of(placed.variable)) {
        coordinates.insert(names.begin(), names.end());
      }
    }
    for (const auto& placed : step_.contents) {
      const contents::Variable& variable = placed.variable;
      if (can_be_described(variable) &&
          !(variable.shape.dimensions == 1 && coordinates.contains(variable.name))) {
        add(placed);
      }
    }
    std::string all;
    for (const auto& grid : grids_) {
      all += "    <Grid Name=\"" + grid.name + "\" GridType=\"Uniform\">\n" + grid.points +
             grid.values + "    </Grid>\n";
    }
    return all;
  }

 private:
  struct Grid {
    std::string name;
    std::string points;
    std::string values;
  };

  void add(const contents::Placed& placed) {
    const std::string points = points_of(placed.variable);
    auto grid = std::ranges::find(grids_, points, &Grid::points);
    if (grid == grids_.end()) {
      grid = grids_.insert(grids_.end(), {array::text(placed.variable.shape), points, {}});
    }
    grid->values += "     <Attribute Name=\"" + xdmf::escaped(placed.variable.name) +
                    R"(" AttributeType="Scalar" Center="Node">)" +
                    item(placed, extents(placed.variable)) + "</Attribute>\n";
  }

  // Where the elements are.
  std::string item(const contents::Placed& placed, const std::string& dimensions) const {
    const auto where = format_.whereabouts(placed, options_);
    const std::string type = xdmf::number_type(placed.variable.type);
    if (where.dataset.empty()) {
      return "<DataItem Dimensions=\"" + dimensions + "\" " + type + " Format=\"Binary\" Seek=\"" +
             std::to_string(placed.offset) + "\">" + xdmf::escaped(file_) + "</DataItem>";
    }
    const auto dataset = [&](const std::string& shape) {
      return "<DataItem Dimensions=\"" + shape + "\" " + type + " Format=\"HDF\">" +
             xdmf::escaped(file_ + ':' + where.dataset) + "</DataItem>";
    };
    if (where.record < 0) {
      return dataset(dimensions);
    }
    std::string own;
    std::string zeros;
    std::string ones;
    for (int d = 0; d < placed.variable.shape.dimensions; ++d) {
      own += ' ' + std::to_string(placed.variable.shape.extent.at(static_cast<std::size_t>(d)));
      zeros += " 0";
      ones += " 1";
    }
    return R"(<DataItem ItemType="HyperSlab" Dimensions=")" + dimensions + "\">" +
           "<DataItem Dimensions=\"3 " + std::to_string(placed.variable.shape.dimensions + 1) +
           R"(" NumberType="Int" Format="XML">)" + std::to_string(where.record) + zeros + " 1" +
           ones + " 1" + own + "</DataItem>" + dataset(std::to_string(where.record + 1) + own) +
           "</DataItem>";
  }

  // One for each dimension, or nothing.
  std::optional<std::vector<contents::Placed>> coordinates_of(
      const contents::Variable& variable) const {
    const auto names = dimension_names(variable);
    std::vector<contents::Placed> found;
    for (std::size_t d = 0; d < names.size(); ++d) {
      const auto line = step_.lines.find(names[d]);
      if (line == step_.lines.end() || !can_be_described(line->second.variable) ||
          line->second.variable.shape.extent[0] != variable.shape.extent.at(d)) {
        return {};
      }
      found.push_back(line->second);
    }
    return found.empty() ? std::nullopt : std::optional{found};
  }

  std::string points_of(const contents::Variable& variable) const {
    const auto coordinates = coordinates_of(variable);
    const std::string topology = std::string{"     <Topology TopologyType=\"3D"} +
                                 (coordinates ? "Rect" : "CoRect") + "Mesh\" Dimensions=\"" +
                                 extents(variable) + "\"/>\n";
    const auto missing = static_cast<std::size_t>(most_dimensions - variable.shape.dimensions);
    if (!coordinates) {
      return topology + "     <Geometry GeometryType=\"ORIGIN_DXDYDZ\">" +
             listed(numbers_for(variable, origin_attribute, 0)) +
             listed(numbers_for(variable, spacing_attribute, 1)) + "</Geometry>\n";
    }
    std::string axes;
    for (auto axis = coordinates->rbegin(); axis != coordinates->rend(); ++axis) {
      axes += item(*axis, std::to_string(axis->variable.shape.extent[0]));
    }
    for (std::size_t d = 0; d < missing; ++d) {
      axes += listed({0});
    }
    return topology + "     <Geometry GeometryType=\"VXVYVZ\">" + axes + "</Geometry>\n";
  }

  // Three, those of the dimensions that the variable lacks in front.
  std::vector<double> numbers_for(const contents::Variable& variable, const std::string& name,
                                  double otherwise) const {
    const auto own = static_cast<std::size_t>(variable.shape.dimensions);
    const auto said =
        [&](const contents::Attributes& attributes) -> std::optional<std::vector<double>> {
      const auto found = attributes.find(name);
      auto values = found == attributes.end() ? std::nullopt : xdmf::numbers(found->second);
      return values && values->size() == own ? values : std::nullopt;
    };
    const auto of_variable = step_.of_variable.find(variable.name);
    auto values = of_variable == step_.of_variable.end() ? std::nullopt : said(of_variable->second);
    if (!values) {
      values = said(step_.attributes);
    }
    auto all = values.value_or(std::vector<double>(own, otherwise));
    all.insert(all.begin(), most_dimensions - own, otherwise);
    return all;
  }

  const XdmfStep& step_;
  const std::string& file_;
  const formats::Format& format_;
  const formats::FormatOptions& options_;
  std::vector<Grid> grids_;
};

}  // namespace

std::string xdmf_grids(const XdmfStep& step, double time, const std::string& file,
                       const formats::Format& format, const formats::FormatOptions& options) {
  const std::string grids = Grids{step, file, format, options}.text();
  if (grids.empty()) {
    return {};
  }
  // A collection even of one: what the reader makes of a step must not change from step to step.
  return "   <Grid Name=\"step " + std::to_string(step.step) +
         "\" GridType=\"Collection\" CollectionType=\"Spatial\">\n    <Time Value=\"" +
         xdmf::text(time) + "\"/>\n" + grids + "   </Grid>\n";
}

}  // namespace iocomp::commit
