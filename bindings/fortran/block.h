/* SPDX-License-Identifier: BSD-3-Clause */
/* The block that an array of Fortran is, as the library takes it. */
#ifndef IOCOMP_FORTRAN_BLOCK_H
#define IOCOMP_FORTRAN_BLOCK_H

#include <ISO_Fortran_binding.h>
#include <iocomp/iocomp.h>
#include <stddef.h>
#include <stdint.h>

/** The place of elements: extents and strides (in bytes), first index fastest. */
typedef struct section {
  char *first;
  size_t element_bytes;
  int is_logical; /**< a copy has a byte for each element, 0 or 1 */
  int rank;
  int64_t extent[CFI_MAX_RANK + 1];
  int64_t stride[CFI_MAX_RANK + 1];
} section;

/** The arguments of a put of a block; absent ones are NULL. */
typedef struct block_arguments {
  const char *call; /**< "put of" ... */
  const char *name; /**< ... the variable; for stories */
  iocomp_type type; /**< of the variable */
  int ndims;
  const int64_t *whole; /**< extents of the variable, if the array must have them; or NULL */
  const CFI_cdesc_t *values, *start, *count, *memory_start;
} block_arguments;

/** A block, row-major as iocomp.h has it. */
typedef struct block {
  section values;
  char *base; /**< of the local array, or of `copy` */
  char *copy; /**< room for all elements, where they do not lie as a box of an array does */
  int is_box; /**< of a larger array, whose shape is memory_shape */
  int64_t start[IOCOMP_MAX_DIMS];
  int64_t count[IOCOMP_MAX_DIMS];
  int64_t memory_shape[IOCOMP_MAX_DIMS];
} block;

/** @return IOCOMP_INVALID_ARGUMENT with its story for another type or rank, and for sizes that do
 * not fit. To be freed. */
int make_block(const block_arguments *arguments, block *made);
void free_block(block *used);

/** All elements of an array as a list; the same rules.
 * @param call, name, type  as of block_arguments; the type 0: whatever a variable can hold
 * @param elements  so many there must be; -1: any number
 * @param made      `base` and `copy` alone, with the values; to be freed */
int make_list(const char *call, const char *name, iocomp_type type, const CFI_cdesc_t *values,
              int64_t elements, block *made);

int64_t elements_of(const section *values);
/** From the array to the copy, where there is one, and back. */
void gather(const block *used);
void scatter(const block *used);

#endif
