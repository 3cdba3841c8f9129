// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/svg.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace iocomp::command {
namespace {

std::string escaped(std::string_view words) {
  std::string out;
  for (const char letter : words) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

}  // namespace

void Svg::box(const Rectangle& where, std::string_view fill, std::string_view border) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\" "
      "stroke=\"{}\"/>\n",
      where.x, where.y, where.width, where.height, fill, border);
}

void Svg::text(double x, double y, double size, std::string_view anchor, std::string_view colour,
               std::string_view words) {
  body_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" text-anchor=\"{}\" "
      "fill=\"{}\">{}</text>\n",
      x, y, size, anchor, colour, escaped(words));
}

std::string Svg::document(double width, double height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "style=\"max-width:100%;height:auto\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, body_);
}

}  // namespace iocomp::command
