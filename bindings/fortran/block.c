/* SPDX-License-Identifier: BSD-3-Clause */
#include "block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"
#include "story.h"

int64_t elements_of(const section *values) {
  int64_t elements = 1;
  for (int d = 0; d < values->rank; ++d) {
    elements *= values->extent[d];
  }
  return elements;
}

/* Bytes of an element in a copy. */
static size_t packed_bytes(const section *values) {
  return values->is_logical ? 1 : values->element_bytes;
}

static int is_dense(const section *values) {
  int64_t stride = (int64_t)values->element_bytes;
  for (int d = 0; d < values->rank; ++d) {
    if (values->extent[d] != 1 && values->stride[d] != stride) {
      return 0;
    }
    stride *= values->extent[d];
  }
  return 1;
}

/* The dense section of another shape, row-major, in the same memory. */
static void reshape(section *values, int ndims, const int64_t *count) {
  int64_t stride = (int64_t)values->element_bytes;
  values->rank = ndims;
  for (int d = 0; d < ndims; ++d) {
    values->extent[d] = count[ndims - 1 - d];
    values->stride[d] = stride;
    stride *= values->extent[d];
  }
}

/* The bytes of texts are a dimension in front of the others; where each text is one byte, that
 * may be missing. */
static section section_of(const CFI_cdesc_t *values, int ndims) {
  section made = {.first = values->base_addr,
                  .element_bytes = values->elem_len,
                  .is_logical = is_logical(values)};
  if (type_of(values) == IOCOMP_CHAR && !(values->elem_len == 1 && values->rank == ndims)) {
    made.element_bytes = 1;
    made.extent[0] = (int64_t)values->elem_len;
    made.stride[0] = 1;
    made.rank = 1;
  }
  for (int d = 0; d < values->rank; ++d) {
    made.extent[made.rank] = values->dim[d].extent;
    made.stride[made.rank] = stride_of(values, d);
    ++made.rank;
  }
  return made;
}

static int check_type(const char *call, const char *name, iocomp_type type,
                      const CFI_cdesc_t *values) {
  if (type == 0 ? type_of(values) != 0 : converts(type, values)) {
    return IOCOMP_OK;
  }
  return type == 0 ? refuse("%s \"%s\": the array is %s", call, name, fortran_name(values))
                   : refuse("%s \"%s\": the array is %s, the variable has the type %s", call, name,
                            fortran_name(values), type_name(type));
}

static int is_assumed_size(const section *values) {
  return values->rank > 0 && values->extent[values->rank - 1] < 0;
}

/* As get_dims, with the call in front of the argument's name. */
static int get_argument(const block_arguments *arguments, const CFI_cdesc_t *from,
                        const char *argument, int64_t base, int64_t *dims) {
  char what[128];
  snprintf(what, sizeof what, "%s \"%s\": %s", arguments->call, arguments->name, argument);
  return get_dims(from, what, arguments->ndims, base, dims);
}

/* The block that begins at memory_start in a local array. */
static int move_inside(const block_arguments *arguments, block *made) {
  const int ndims = arguments->ndims;
  section *values = &made->values;
  int64_t begin[IOCOMP_MAX_DIMS];
  const int code = get_argument(arguments, arguments->memory_start, "memory_start", 1, begin);
  if (code != IOCOMP_OK) {
    return code;
  }
  for (int d = 0; d < ndims; ++d) {
    const int64_t at = begin[ndims - 1 - d];
    const int64_t count = made->count[ndims - 1 - d];
    if (at < 0 || count < 0 || count > values->extent[d] || at > values->extent[d] - count) {
      return refuse(
          "%s \"%s\": the block leaves the local array: in dimension %d it starts at %lld and "
          "has %lld elements, the array has %lld",
          arguments->call, arguments->name, d + 1, (long long)at + 1, (long long)count,
          (long long)values->extent[d]);
    }
    values->first += at * values->stride[d];
    values->extent[d] = count;
  }
  return IOCOMP_OK;
}

/* An array with as many elements as the block, in another shape. */
static int take_shape(const block_arguments *arguments, block *made) {
  int64_t needed = 1;
  for (int d = 0; d < arguments->ndims; ++d) {
    needed *= made->count[d];
  }
  if (!is_assumed_size(&made->values) && elements_of(&made->values) != needed) {
    return refuse("%s \"%s\": the array has %lld elements, count says %lld", arguments->call,
                  arguments->name, (long long)elements_of(&made->values), (long long)needed);
  }
  if (!is_assumed_size(&made->values) && !is_dense(&made->values)) {
    return IOCOMP_OK; /* the copy will have the shape */
  }
  reshape(&made->values, arguments->ndims, made->count);
  return IOCOMP_OK;
}

static int has_shape(const block_arguments *arguments, const block *made) {
  int same = made->values.rank == arguments->ndims;
  for (int d = 0; same && d < arguments->ndims; ++d) {
    same = made->values.extent[d] == made->count[arguments->ndims - 1 - d];
  }
  return same;
}

static void write_shape(char *to, size_t room, int ndims, const int64_t *shape) {
  size_t used = 0;
  to[0] = '\0';
  for (int d = ndims - 1; d >= 0 && used < room; --d) {
    used +=
        (size_t)snprintf(to + used, room - used, "%lld%s", (long long)shape[d], d == 0 ? "" : ", ");
  }
}

static int check_is_whole(const block_arguments *arguments, const block *made) {
  char here[256];
  char there[256];
  if (memcmp(made->count, arguments->whole, (size_t)arguments->ndims * sizeof made->count[0]) ==
      0) {
    return IOCOMP_OK;
  }
  write_shape(here, sizeof here, arguments->ndims, made->count);
  write_shape(there, sizeof there, arguments->ndims, arguments->whole);
  return refuse(
      "%s \"%s\": the array has the shape [%s], the variable [%s]; say start or count of "
      "a part",
      arguments->call, arguments->name, here, there);
}

/* From the extents that the caller gives, or those of the array. */
static int take_extents(const block_arguments *arguments, block *made) {
  const int ndims = arguments->ndims;
  const section *values = &made->values;
  if (arguments->memory_start != NULL && arguments->count == NULL) {
    return refuse("%s \"%s\": memory_start says where the block begins in the array; say count",
                  arguments->call, arguments->name);
  }
  if (arguments->count != NULL) {
    const int code = get_argument(arguments, arguments->count, "count", 0, made->count);
    if (code != IOCOMP_OK || (arguments->memory_start == NULL && has_shape(arguments, made))) {
      return code;
    }
    if (arguments->memory_start == NULL) {
      return take_shape(arguments, made);
    }
  }
  if (values->rank != ndims || is_assumed_size(values)) {
    return refuse("%s \"%s\": the array has %s%d dimensions, the variable has %d%s",
                  arguments->call, arguments->name,
                  is_assumed_size(values) ? "an unknown size and " : "", values->rank, ndims,
                  arguments->memory_start == NULL ? "; say count" : "");
  }
  if (arguments->memory_start != NULL) {
    return move_inside(arguments, made);
  }
  for (int d = 0; d < ndims; ++d) {
    made->count[ndims - 1 - d] = values->extent[d];
  }
  return arguments->whole == NULL ? IOCOMP_OK : check_is_whole(arguments, made);
}

/* True if the section is a box of a larger array without gaps: then its shape is known. */
static int find_memory_shape(const section *values, int64_t *memory_shape) {
  const int last = values->rank - 1;
  int64_t bytes = (int64_t)values->element_bytes; /* from an element to the next in dimension d */
  if (values->extent[0] != 1 && values->stride[0] != bytes) {
    return 0;
  }
  for (int d = 0; d <= last; ++d) {
    int64_t extent = values->extent[d];
    if (d < last) {
      const int64_t next = values->stride[d + 1];
      if (next % bytes == 0 && next / bytes >= extent) {
        extent = next / bytes;
      } else if (values->extent[d + 1] != 1) {
        return 0;
      }
    }
    memory_shape[last - d] = extent;
    bytes *= extent;
  }
  return 1;
}

static int make_room(const char *call, const char *name, block *made) {
  const size_t bytes = (size_t)elements_of(&made->values) * packed_bytes(&made->values);
  made->copy = malloc(bytes > 0 ? bytes : 1);
  made->base = made->copy;
  return made->copy != NULL
             ? IOCOMP_OK
             : refuse("%s \"%s\": there is no memory for a copy of %zu bytes", call, name, bytes);
}

int make_block(const block_arguments *arguments, block *made) {
  memset(made, 0, sizeof *made);
  int code = check_type(arguments->call, arguments->name, arguments->type, arguments->values);
  if (code != IOCOMP_OK) {
    return code;
  }
  made->values = section_of(arguments->values, arguments->ndims);
  code = take_extents(arguments, made);
  if (code == IOCOMP_OK && arguments->start != NULL) {
    code = get_argument(arguments, arguments->start, "start", 1, made->start);
  }
  if (code != IOCOMP_OK) {
    return code;
  }
  made->base = made->values.first;
  if (made->values.is_logical) {
    return make_room(arguments->call, arguments->name, made);
  }
  if (is_dense(&made->values) || elements_of(&made->values) == 0) {
    return IOCOMP_OK;
  }
  made->is_box = has_shape(arguments, made) && find_memory_shape(&made->values, made->memory_shape);
  return made->is_box ? IOCOMP_OK : make_room(arguments->call, arguments->name, made);
}

void free_block(block *used) { free(used->copy); }

static void copy_elements(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                          int64_t elements, size_t bytes) {
  if (to_stride == (int64_t)bytes && from_stride == to_stride) {
    memcpy(to, from, (size_t)elements * bytes);
    return;
  }
  for (int64_t i = 0; i < elements; ++i, to += to_stride, from += from_stride) {
    if (bytes == 8) { /* most are: a move, not a call */
      memcpy(to, from, 8);
    } else {
      memcpy(to, from, bytes);
    }
  }
}

/* A logical of any kind is true where one of its bytes is not 0. */
static void pack_logicals(char *to, const char *from, int64_t stride, int64_t elements,
                          size_t bytes) {
  static const char zeros[16] = {0};
  for (int64_t i = 0; i < elements; ++i, from += stride) {
    to[i] = memcmp(from, zeros, bytes) != 0;
  }
}

static void unpack_logicals(char *to, int64_t stride, const char *from, int64_t elements,
                            size_t bytes) {
  static const int64_t truth[2][2] = {{0}, {1}}; /* of up to 16 bytes; the 1 is in the low ones */
  for (int64_t i = 0; i < elements; ++i, to += stride) {
    memcpy(to, truth[from[i] != 0], bytes);
  }
}

static void copy_section(const section *values, char *dense, int into_section) {
  const int64_t row = values->rank == 0 ? 1 : values->extent[0];
  const int64_t stride = values->rank == 0 ? 0 : values->stride[0];
  const int64_t bytes = (int64_t)packed_bytes(values);
  int64_t at[CFI_MAX_RANK + 1] = {0};
  char *first = values->first;
  for (int64_t left = elements_of(values); left > 0; left -= row, dense += row * bytes) {
    if (values->is_logical && into_section) {
      unpack_logicals(first, stride, dense, row, values->element_bytes);
    } else if (values->is_logical) {
      pack_logicals(dense, first, stride, row, values->element_bytes);
    } else if (into_section) {
      copy_elements(first, stride, dense, bytes, row, values->element_bytes);
    } else {
      copy_elements(dense, bytes, first, stride, row, values->element_bytes);
    }
    for (int d = 1; d < values->rank; ++d) {
      first += values->stride[d];
      if (++at[d] < values->extent[d]) {
        break;
      }
      first -= at[d] * values->stride[d];
      at[d] = 0;
    }
  }
}

void gather(const block *used) {
  if (used->copy != NULL) {
    copy_section(&used->values, used->copy, 0);
  }
}

void scatter(const block *used) {
  if (used->copy != NULL) {
    copy_section(&used->values, used->copy, 1);
  }
}

int make_list(const char *call, const char *name, iocomp_type type, const CFI_cdesc_t *values,
              int64_t elements, block *made) {
  memset(made, 0, sizeof *made);
  const int code = check_type(call, name, type, values);
  if (code != IOCOMP_OK) {
    return code;
  }
  made->values = section_of(values, values->rank);
  made->base = made->values.first;
  if (is_assumed_size(&made->values)) {
    if (elements < 0) {
      return refuse("%s \"%s\": the array has an unknown size", call, name);
    }
    reshape(&made->values, 1, &elements);
  }
  if (elements >= 0 && elements_of(&made->values) != elements) {
    return refuse("%s \"%s\": the array has %lld elements, %lld are needed", call, name,
                  (long long)elements_of(&made->values), (long long)elements);
  }
  const int needs_copy = !is_dense(&made->values) || made->values.is_logical;
  const int room = needs_copy ? make_room(call, name, made) : IOCOMP_OK;
  if (room == IOCOMP_OK) {
    gather(made);
  }
  return room;
}
