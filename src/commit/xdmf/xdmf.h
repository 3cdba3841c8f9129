// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "contents/description.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/source.h"

namespace iocomp::commit {

/// Attributes that an XDMF file is made of. `origin` and `spacing` of a variable, else of the file:
/// a number for each dimension, in the order of its dimensions. `time` of the file: one number,
/// that of the step in which it is set and of those after it.
inline constexpr const char* origin_attribute = "origin";
inline constexpr const char* spacing_attribute = "spacing";
inline constexpr const char* time_attribute = "time";

/// A step that an XDMF file describes.
struct XdmfStep {
  std::int64_t step = 0;  ///< its number
  double time = contents::unknown_time;
  std::vector<contents::Placed> contents;  ///< of this step
  /// Variables of one dimension by name, in the same file, of this step or the last that has them.
  std::map<std::string, contents::Placed> lines;
  contents::Attributes attributes;  ///< of the file, as they are in the step
  std::map<std::string, contents::Attributes> of_variable;  ///< by name; likewise
};

/// What the attributes say of its time.
[[nodiscard]] std::optional<double> time_said(const XdmfStep& step);
/// The scalar of the name `time` in the step, where its elements have an offset.
[[nodiscard]] std::optional<contents::Placed> time_put(const XdmfStep& step);
/// One real number or integer as a double; nothing for what is none.
[[nodiscard]] std::optional<double> number(const contents::Attribute& attribute);

/// The grids of a step, one for all variables that have the same points. A variable of up to three
/// dimensions is on a rectilinear grid if its attribute `dimensions` names a variable of one
/// dimension for each of its own; else on a uniform one. Left out are variables of other
/// dimensions, without elements, and of types that XDMF has no word for (float16, complex), and
/// those that are coordinates of others.
/// @param file  its name, as seen from the XDMF file.
/// @return empty where nothing is left.
[[nodiscard]] std::string xdmf_grids(const XdmfStep& step, double time, const std::string& file,
                                     const formats::Format& format,
                                     const formats::FormatOptions& options);

/// What stands before that of all steps, and behind.
[[nodiscard]] std::string xdmf_beginning(const std::string& name);
inline constexpr const char* xdmf_ending = "  </Grid>\n </Domain>\n</Xdmf>\n";

/// Refuse what XDMF cannot describe, before anything is written.
/// @throws Error{invalid_setting} naming the setting and what is allowed.
void check_xdmf(const std::string& name, const std::string& path, const formats::Format& format);

}  // namespace iocomp::commit
