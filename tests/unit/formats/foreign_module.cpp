// SPDX-License-Identifier: BSD-3-Clause
// A library that only looks like a back-end.
extern "C" __attribute__((visibility("default"))) int iocomp_something_else() { return 0; }
