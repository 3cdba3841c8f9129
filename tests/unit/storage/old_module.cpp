// A back-end of another release.
#include "storage/format.h"

extern "C" __attribute__((visibility("default")))
const iocomp_format_entry iocomp_format{0, nullptr};
