// SPDX-License-Identifier: BSD-3-Clause
// The names of 0.2 in C++11, where structs whose members have initialisers are no aggregates.
#define IOCOMP_API_0_2
#include <iocomp/iocomp.h>
