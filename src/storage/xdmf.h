#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/format.h"
#include "storage/source.h"
#include "storage/variable.h"

namespace iocomp::storage {

/// Attributes that an XDMF file is made of. `origin` and `spacing` of a variable, else of the file:
/// a number for each dimension, in the order of its dimensions. `time` of the file: one number,
/// that of the step in which it is set and of those after it.
inline constexpr const char* origin_attribute = "origin";
inline constexpr const char* spacing_attribute = "spacing";
inline constexpr const char* time_attribute = "time";

/// A step that an XDMF file describes.
struct XdmfStep {
  std::int64_t step = 0;
  std::vector<Placed> contents;  ///< of this step
  /// Variables of one dimension by name, in the same file, of this step or the last that has them.
  std::map<std::string, Placed> lines;
  Attributes attributes;                          ///< of the file, as they are in the step
  std::map<std::string, Attributes> of_variable;  ///< by name; likewise
};

/// What the attributes say of its time.
[[nodiscard]] std::optional<double> time_said(const XdmfStep& step);
/// The scalar of the name `time` in the step, where its elements have an offset.
[[nodiscard]] std::optional<Placed> time_put(const XdmfStep& step);
/// One real number or integer as a double; nothing for what is none.
[[nodiscard]] std::optional<double> number(const Attribute& attribute);

/// The grids of a step, one for all variables that have the same points. A variable of up to three
/// dimensions is on a rectilinear grid if its attribute `dimensions` names a variable of one
/// dimension for each of its own; else on a uniform one. Left out are variables of other
/// dimensions, without elements, and of types that XDMF has no word for (float16, complex), and
/// those that are coordinates of others.
/// @param file  its name, as seen from the XDMF file.
/// @return empty where nothing is left.
[[nodiscard]] std::string xdmf_grids(const XdmfStep& step, double time, const std::string& file,
                                     const Format& format, const FormatOptions& options);

/// What stands before that of all steps, and behind.
[[nodiscard]] std::string xdmf_beginning(const std::string& name);
inline constexpr const char* xdmf_ending = "  </Grid>\n </Domain>\n</Xdmf>\n";

/// Refuse what XDMF cannot describe, before anything is written.
/// @throws Error{invalid_setting} naming the setting and what is allowed.
void check_xdmf(const std::string& name, const std::string& path, const Format& format);

}  // namespace iocomp::storage
