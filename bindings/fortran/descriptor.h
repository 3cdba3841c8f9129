/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the descriptors of Fortran's arguments. Functions that return int return a code of
 * iocomp_code, and keep the story of a failure. An absent argument is NULL. */
#ifndef IOCOMP_FORTRAN_DESCRIPTOR_H
#define IOCOMP_FORTRAN_DESCRIPTOR_H

#include <ISO_Fortran_binding.h>
#include <iocomp/iocomp.h>
#include <stdint.h>

/** True if the elements are logical, of any kind. */
int is_logical(const CFI_cdesc_t *values);
/** True if a variable of `type` holds such elements. Fortran has no unsigned integers and no half:
 * integers of as many bytes stand for them. */
int holds(iocomp_type type, const CFI_cdesc_t *values);
/** True if it does, or the library converts them. */
int converts(iocomp_type type, const CFI_cdesc_t *values);
/** The type of the elements where the library converts them; 0: a variable of `type` holds them. */
iocomp_type other_type(iocomp_type type, const CFI_cdesc_t *values);
/** The type of a variable that such elements are put into first of all; 0: none. */
iocomp_type type_of(const CFI_cdesc_t *values);
/** The type of most arrays that such a variable holds; 0, which no array is, where that is not
 * enough to know. */
CFI_type_t element_of(iocomp_type type);
/** "real(real64)", as a program would write it. */
const char *fortran_name(const CFI_cdesc_t *values);
/** "IOCOMP_FLOAT64". */
const char *type_name(iocomp_type type);

/** Bytes from one element to the next in dimension `d`. Of an array that was allocated by an
 * assignment from spread or reshape, gfortran 12 passes strides of 0: it is contiguous. */
int64_t stride_of(const CFI_cdesc_t *values, int d);
/** Integers of any kind, scalar or not.
 * @param what  names the argument. */
int get_integer(const CFI_cdesc_t *from, const char *what, int64_t *value);
int set_integer(const CFI_cdesc_t *to, const char *what, int64_t value);
/** One per dimension, turned round: Fortran's first is C's last.
 * @param base  1 for indices, 0 for extents: what is taken away. */
int get_dims(const CFI_cdesc_t *from, const char *what, int ndims, int64_t base, int64_t *dims);
int set_dims(const CFI_cdesc_t *to, const char *what, int ndims, const int64_t *dims);
/** A list in its own order, to be freed. Entries below `base` become -1. */
int get_list(const CFI_cdesc_t *from, const char *what, int64_t base, int64_t **list);
/** The other way, `base` added; nothing where the argument is absent. */
int set_list(const CFI_cdesc_t *to, const char *what, int64_t base, int64_t size,
             const int64_t *list);
/** True if a text has a zero before its end. */
int has_zero_inside(const CFI_cdesc_t *text);

/** A copy that ends with a zero, without blanks and zeros at the end; to be freed. A zero inside
 * becomes a character that no name may have. NULL for an absent one. */
char *text_of(const CFI_cdesc_t *text);
/** Into an allocatable text, where it is present. */
int set_text(CFI_cdesc_t *to, const char *text);
/** Into an allocatable list of texts, where it is present: as long as the longest, with blanks at
 * their ends. */
int make_texts(CFI_cdesc_t *to, int64_t size, const char *const *texts);
/** Into an allocatable list of integer(int64). */
int make_integers(CFI_cdesc_t *to, int64_t size, const int64_t *values);

#endif
