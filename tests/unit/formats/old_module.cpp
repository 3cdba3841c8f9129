// SPDX-License-Identifier: BSD-3-Clause
// A back-end of another release.
#include "formats/format.h"

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{0, nullptr, nullptr};
