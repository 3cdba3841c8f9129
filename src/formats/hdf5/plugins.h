// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::formats::h5 {

/// The end of a message about a filter that HDF5 does not find.
inline constexpr const char* where_plugins_are =
    "the environment variable HDF5_PLUGIN_PATH names the folders of its plug-ins";

/// Register a filter whose plug-in asks to be told which HDF5 it is for, as those of the Python
/// package hdf5plugin do; others find the HDF5 that they were linked with, and HDF5 finds them.
/// Each HDF5 of a process needs a copy of its own, so the plug-in is loaded from a copy.
/// @param filter  its number. Nothing happens if no folder of plug-ins has such a one.
void register_plugin_that_asks(int filter);

}  // namespace iocomp::formats::h5
