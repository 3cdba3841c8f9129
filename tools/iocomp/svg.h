// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace iocomp::command {

/// A rectangle in pixels, from its upper left corner.
struct Rectangle {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Writes an SVG document of boxes and text. Colours are those of SVG: "#e0e0e0", "white".
class Svg {
 public:
  void box(const Rectangle& where, std::string_view fill, std::string_view border);
  /// @param anchor  "start", "middle" or "end": where x lies in the text; y is its base line.
  void text(double x, double y, double size, std::string_view anchor, std::string_view colour,
            std::string_view words);
  [[nodiscard]] std::string document(double width, double height) const;

 private:
  std::string body_;
};

}  // namespace iocomp::command
