/* SPDX-License-Identifier: BSD-3-Clause */
#include "descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "story.h"

typedef struct element_kind {
  CFI_type_t type;
  const char *name;
  iocomp_type held_by[3];
} element_kind;

/* Some compilers have the same number for int and int32_t, some have not. */
static const element_kind kinds[] = {
    {CFI_type_int8_t, "integer(int8)", {IOCOMP_INT8, IOCOMP_UINT8}},
    {CFI_type_int16_t, "integer(int16)", {IOCOMP_INT16, IOCOMP_UINT16, IOCOMP_FLOAT16}},
    {CFI_type_int32_t, "integer(int32)", {IOCOMP_INT32, IOCOMP_UINT32}},
    {CFI_type_int64_t, "integer(int64)", {IOCOMP_INT64, IOCOMP_UINT64}},
    {CFI_type_signed_char, "integer(int8)", {IOCOMP_INT8, IOCOMP_UINT8}},
    {CFI_type_short, "integer(int16)", {IOCOMP_INT16, IOCOMP_UINT16, IOCOMP_FLOAT16}},
    {CFI_type_int, "integer(int32)", {IOCOMP_INT32, IOCOMP_UINT32}},
    {CFI_type_long, "integer(int64)", {IOCOMP_INT64, IOCOMP_UINT64}},
    {CFI_type_float, "real(real32)", {IOCOMP_FLOAT32}},
    {CFI_type_double, "real(real64)", {IOCOMP_FLOAT64}},
    {CFI_type_float_Complex, "complex(real32)", {IOCOMP_COMPLEX64}},
    {CFI_type_double_Complex, "complex(real64)", {IOCOMP_COMPLEX128}},
    {CFI_type_char, "character", {IOCOMP_CHAR}},
};

/* Elements of any kind of logical are copied, as bytes. */
static const element_kind logical = {CFI_type_Bool, "logical", {IOCOMP_BOOL, IOCOMP_INT8}};

int is_logical(const CFI_cdesc_t *values) {
#ifdef CFI_type_Logical /* gfortran: the low byte is the type, what is above it the kind */
  return (values->type & CFI_type_mask) == CFI_type_Logical;
#else
  return values->type == CFI_type_Bool;
#endif
}

static const element_kind *kind_of(const CFI_cdesc_t *values) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (kinds[i].type == values->type) {
      return &kinds[i];
    }
  }
  return is_logical(values) ? &logical : NULL;
}

int holds(iocomp_type type, const CFI_cdesc_t *values) {
  const element_kind *kind = kind_of(values);
  for (int i = 0; kind != NULL && i < 3; ++i) {
    if (type != 0 && kind->held_by[i] == type) {
      return 1;
    }
  }
  return 0;
}

static int is_number(iocomp_type type) { return type >= IOCOMP_INT8 && type <= IOCOMP_FLOAT64; }

static int is_complex(iocomp_type type) {
  return type == IOCOMP_COMPLEX64 || type == IOCOMP_COMPLEX128;
}

int converts(iocomp_type type, const CFI_cdesc_t *values) {
  const iocomp_type given = type_of(values);
  return holds(type, values) || (is_number(given) && is_number(type)) ||
         (is_complex(given) && is_complex(type));
}

iocomp_type other_type(iocomp_type type, const CFI_cdesc_t *values) {
  return holds(type, values) ? (iocomp_type)0 : type_of(values);
}

iocomp_type type_of(const CFI_cdesc_t *values) {
  const element_kind *kind = kind_of(values);
  return kind == NULL ? (iocomp_type)0 : kind->held_by[0];
}

CFI_type_t element_of(iocomp_type type) {
  for (size_t i = 0; type != IOCOMP_CHAR && i < sizeof kinds / sizeof kinds[0]; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (kinds[i].held_by[j] == type) {
        return kinds[i].type;
      }
    }
  }
  return 0;
}

const char *fortran_name(const CFI_cdesc_t *values) {
  const element_kind *kind = kind_of(values);
  if (kind != NULL) {
    return kind->name;
  }
  return "of no type that a variable can have (but derived or of another kind)";
}

const char *type_name(iocomp_type type) {
  static const char *const names[] = {
      "no type",        "IOCOMP_INT8",    "IOCOMP_INT16",     "IOCOMP_INT32",      "IOCOMP_INT64",
      "IOCOMP_UINT8",   "IOCOMP_UINT16",  "IOCOMP_UINT32",    "IOCOMP_UINT64",     "IOCOMP_FLOAT16",
      "IOCOMP_FLOAT32", "IOCOMP_FLOAT64", "IOCOMP_COMPLEX64", "IOCOMP_COMPLEX128", "IOCOMP_CHAR",
      "IOCOMP_BOOL",    "IOCOMP_STRING"};
  return type >= 0 && type <= IOCOMP_STRING ? names[type] : "an unknown type";
}

static int check_integers(const CFI_cdesc_t *values, const char *what, int rank) {
  const iocomp_type type = type_of(values);
  if (type < IOCOMP_INT8 || type > IOCOMP_INT64) {
    return refuse("%s is %s; it must be integer", what, fortran_name(values));
  }
  if (values->rank != rank) {
    return refuse("%s has the rank %d; it must have the rank %d", what, values->rank, rank);
  }
  return IOCOMP_OK;
}

int64_t stride_of(const CFI_cdesc_t *values, int d) {
  if (values->dim[d].sm != 0 || values->dim[d].extent < 2) {
    return values->dim[d].sm;
  }
  int64_t bytes = (int64_t)values->elem_len;
  for (int before = 0; before < d; ++before) {
    bytes *= values->dim[before].extent;
  }
  return bytes;
}

static char *place_of(const CFI_cdesc_t *values, int64_t index) {
  return (char *)values->base_addr + (values->rank == 0 ? 0 : index * stride_of(values, 0));
}

static int64_t load(const CFI_cdesc_t *values, int64_t index) {
  const char *place = place_of(values, index);
  int8_t one = 0;
  int16_t two = 0;
  int32_t four = 0;
  int64_t eight = 0;
  switch (values->elem_len) {
    case 1:
      return memcpy(&one, place, 1), one;
    case 2:
      return memcpy(&two, place, 2), two;
    case 4:
      return memcpy(&four, place, 4), four;
    default:
      return memcpy(&eight, place, 8), eight;
  }
}

static int store(const CFI_cdesc_t *values, int64_t index, const char *what, int64_t value) {
  const int bits = 8 * (int)values->elem_len;
  if (bits < 64 && (value >= (INT64_C(1) << (bits - 1)) || value < -(INT64_C(1) << (bits - 1)))) {
    return refuse("%s is %lld, which is too large for %s", what, (long long)value,
                  fortran_name(values));
  }
  const int8_t one = (int8_t)value;
  const int16_t two = (int16_t)value;
  const int32_t four = (int32_t)value;
  const void *from = bits == 8    ? (const void *)&one
                     : bits == 16 ? (const void *)&two
                     : bits == 32 ? (const void *)&four
                                  : (const void *)&value;
  memcpy(place_of(values, index), from, values->elem_len);
  return IOCOMP_OK;
}

int get_integer(const CFI_cdesc_t *from, const char *what, int64_t *value) {
  const int code = check_integers(from, what, 0);
  if (code == IOCOMP_OK) {
    *value = load(from, 0);
  }
  return code;
}

int set_integer(const CFI_cdesc_t *to, const char *what, int64_t value) {
  if (to == NULL) {
    return IOCOMP_OK;
  }
  const int code = check_integers(to, what, 0);
  return code == IOCOMP_OK ? store(to, 0, what, value) : code;
}

static int check_dims(const CFI_cdesc_t *dims, const char *what, int ndims) {
  if (dims->rank == 1 && dims->dim[0].extent == 0 && ndims == 0) {
    return IOCOMP_OK; /* of any type */
  }
  const int code = check_integers(dims, what, 1);
  if (code == IOCOMP_OK && dims->dim[0].extent != ndims) {
    return refuse("%s has %lld entries, the variable has %d dimensions", what,
                  (long long)dims->dim[0].extent, ndims);
  }
  return code;
}

int get_dims(const CFI_cdesc_t *from, const char *what, int ndims, int64_t base, int64_t *dims) {
  const int code = check_dims(from, what, ndims);
  for (int d = 0; code == IOCOMP_OK && d < ndims; ++d) {
    dims[ndims - 1 - d] = load(from, d) - base;
  }
  return code;
}

int set_dims(const CFI_cdesc_t *to, const char *what, int ndims, const int64_t *dims) {
  int code = check_dims(to, what, ndims);
  for (int d = 0; code == IOCOMP_OK && d < ndims; ++d) {
    code = store(to, d, what, dims[ndims - 1 - d]);
  }
  return code;
}

int get_list(const CFI_cdesc_t *from, const char *what, int64_t base, int64_t **list) {
  *list = NULL;
  const int code = check_integers(from, what, 1);
  if (code != IOCOMP_OK) {
    return code;
  }
  const int64_t size = from->dim[0].extent;
  *list = malloc(size > 0 ? (size_t)size * sizeof **list : 1);
  if (*list == NULL) {
    return refuse("there is no memory for %s with %lld entries", what, (long long)size);
  }
  for (int64_t i = 0; i < size; ++i) {
    const int64_t value = load(from, i);
    (*list)[i] = value < base ? -1 : value - base;
  }
  return IOCOMP_OK;
}

int set_list(const CFI_cdesc_t *to, const char *what, int64_t base, int64_t size,
             const int64_t *list) {
  if (to == NULL) {
    return IOCOMP_OK;
  }
  int code = check_integers(to, what, 1);
  if (code == IOCOMP_OK && to->dim[0].extent != size) {
    code = refuse("%s has %lld entries, wanted are %lld", what, (long long)to->dim[0].extent,
                  (long long)size);
  }
  for (int64_t i = 0; code == IOCOMP_OK && i < size; ++i) {
    code = store(to, i, what, list[i] + base);
  }
  return code;
}

static size_t trimmed(const CFI_cdesc_t *text) {
  const char *from = text->base_addr;
  size_t length = text->elem_len;
  while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\0')) {
    --length;
  }
  return length;
}

int has_zero_inside(const CFI_cdesc_t *text) {
  return memchr(text->base_addr, '\0', trimmed(text)) != NULL;
}

char *text_of(const CFI_cdesc_t *text) {
  if (text == NULL) {
    return NULL;
  }
  const size_t length = trimmed(text);
  char *copy = malloc(length + 1);
  if (copy != NULL) {
    for (size_t i = 0; i < length; ++i) { /* C would take what stands before a zero */
      const char one = ((const char *)text->base_addr)[i];
      copy[i] = one == '\0' ? '\1' : one; /* which no name and no setting may have */
    }
    copy[length] = '\0';
  }
  return copy;
}

/* Make it anew, from 1 in its dimension where it has one. */
static int renew(CFI_cdesc_t *to, int64_t size, size_t bytes) {
  const CFI_index_t lower = 1;
  const CFI_index_t upper = (CFI_index_t)size;
  if (to->base_addr != NULL) {
    CFI_deallocate(to);
  }
  return CFI_allocate(to, &lower, &upper, bytes) == CFI_SUCCESS
             ? IOCOMP_OK
             : refuse("there is no memory for %lld entries of %zu bytes", (long long)size, bytes);
}

int set_text(CFI_cdesc_t *to, const char *text) {
  return to == NULL ? IOCOMP_OK : make_texts(to, 1, &text);
}

int make_texts(CFI_cdesc_t *to, int64_t size, const char *const *texts) {
  size_t longest = to != NULL && to->rank > 0 ? 1 : 0; /* gfortran divides by it in arrays */
  for (int64_t i = 0; i < size; ++i) {
    const size_t length = strlen(texts[i]);
    longest = length > longest ? length : longest;
  }
  const int code = to == NULL ? IOCOMP_OK : renew(to, size, longest);
  for (int64_t i = 0; to != NULL && code == IOCOMP_OK && i < size; ++i) {
    char *at = (char *)to->base_addr + (size_t)i * longest;
    const size_t length = strlen(texts[i]);
    memcpy(at, texts[i], length);
    memset(at + length, ' ', longest - length);
  }
  return code;
}

int make_integers(CFI_cdesc_t *to, int64_t size, const int64_t *values) {
  const int code = renew(to, size, sizeof *values);
  if (code == IOCOMP_OK && size > 0) {
    memcpy(to->base_addr, values, (size_t)size * sizeof *values);
  }
  return code;
}
