// SPDX-License-Identifier: BSD-3-Clause
#include "commit/xdmf/xdmf.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "array/region.h"
#include "base/error.h"
#include "base/small_files.h"
#include "base/utf8.h"
#include "commit/xdmf/xdmf_words.h"

namespace iocomp::commit {

std::optional<double> number(const contents::Attribute& attribute) {
  const auto values = xdmf::numbers(attribute);
  return values && values->size() == 1 && std::isfinite(values->front())
             ? std::optional{values->front()}
             : std::nullopt;
}

std::optional<double> time_said(const XdmfStep& step) {
  const auto found = step.attributes.find(time_attribute);
  return found == step.attributes.end() ? std::nullopt : number(found->second);
}

std::optional<contents::Placed> time_put(const XdmfStep& step) {
  const auto found = std::ranges::find_if(step.contents, [](const contents::Placed& placed) {
    return placed.variable.name == time_attribute && array::elements(placed.variable.shape) == 1 &&
           placed.offset >= 0;
  });
  return found == step.contents.end() ? std::nullopt : std::optional{*found};
}

std::string xdmf_beginning(const std::string& name) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"2.0\">\n <Domain>\n"
         "  <Grid Name=\"" +
         (is_utf8(name) ? xdmf::escaped(name) : "steps") +
         "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
}

void check_xdmf(const std::string& name, const std::string& path, const formats::Format& format) {
  const std::string setting = "files." + name + ".describe = \"xdmf\": ";
  if (!format.traits().xdmf_can_describe) {
    throw Error{ErrorCode::invalid_setting,
                setting + "XDMF cannot describe files of the back-end " +
                    std::string{format.name()} +
                    "; it can those of hdf5, mpiio, netcdf and posix (ParaView reads pnetcdf's "
                    "without a description)"};
  }
  const std::string file = name_in_folder(path);
  if (file.find(':') != std::string::npos || !is_utf8(file)) {
    throw Error{
        ErrorCode::invalid_setting,
        setting + "the file name " + file + " cannot stand in XDMF: allowed is UTF-8 without ':'"};
  }
}

}  // namespace iocomp::commit
