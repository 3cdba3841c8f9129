// SPDX-License-Identifier: BSD-3-Clause
// HDF5 ends the connector when the process exits, after static objects of the plugin would have
// been destroyed: the plugin was loaded later than HDF5. So the plugin destroys none. It is never
// unloaded, and whatever owns a thread or a file belongs to the Connector.

// Compilers call this function to have a static object destroyed; the C++ ABI gives the name.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(  // NOLINT(bugprone-reserved-identifier)
    void (*)(void*), void*, void*) noexcept {
  return 0;
}
