/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that the interfaces of iocomp.f90 are bound to. Each calls the function of iocomp.h
 * of the same name. An absent argument is NULL. */
#include <ISO_Fortran_binding.h>
#include <iocomp/iocomp.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "descriptor.h"
#include "story.h"

/* The derived types of iocomp.f90. */
typedef struct f_session {
  iocomp_session *handle;
} f_session;
typedef struct f_file {
  iocomp_file *handle;
} f_file;
typedef struct f_input {
  iocomp_input *handle;
} f_input;
typedef struct f_var {
  iocomp_var *handle;
  int type;
  int ndims;
  int element; /* CFI_type_... of the arrays that are put, mostly */
  char name[60];
} f_var;
typedef struct f_decomp {
  iocomp_decomp *handle;
  int64_t elements;
} f_decomp;

typedef const CFI_cdesc_t descriptor;

/* Session */

void iocomp_f_init(const MPI_Fint *comm, f_session *session, descriptor *settings, int *ierr) {
  char *text = text_of(settings);
  const int code = iocomp_init(MPI_Comm_f2c(*comm), text, &session->handle);
  free(text);
  finish(code, ierr);
}

void iocomp_f_comm(const f_session *session, MPI_Fint *comm) {
  *comm = MPI_Comm_c2f(iocomp_comm(session->handle));
}

int iocomp_f_role(const f_session *session) { return (int)iocomp_role(session->handle); }

void iocomp_f_should_stop(const f_session *session, int *stop, int *ierr) {
  *stop = 0;
  finish(iocomp_should_stop(session->handle, stop), ierr);
}

void iocomp_f_finalize(f_session *session, int *ierr) {
  iocomp_session *ending = session->handle;
  session->handle = NULL;
  finish(iocomp_finalize(ending), ierr);
}

void iocomp_f_progress(const f_session *session, int *ierr) {
  finish(iocomp_progress(session->handle), ierr);
}

static int allocate(const f_session *session, CFI_cdesc_t *array, descriptor *shape) {
  int64_t extents[CFI_MAX_RANK];
  const CFI_index_t from_one[CFI_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CFI_index_t upper[CFI_MAX_RANK];
  void *memory = NULL;
  CFI_CDESC_T(CFI_MAX_RANK) target;
  array->base_addr = NULL;
  if (shape->dim[0].extent != array->rank) {
    return refuse("alloc: shape has %lld entries, the pointer has the rank %d",
                  (long long)shape->dim[0].extent, array->rank);
  }
  int code = get_dims(shape, "shape", array->rank, 0, extents);
  size_t bytes = array->elem_len;
  for (int d = 0; code == IOCOMP_OK && d < array->rank; ++d) {
    const int64_t extent = extents[array->rank - 1 - d];
    upper[d] = (CFI_index_t)extent;
    if (extent < 0 || (extent > 0 && bytes > SIZE_MAX / (size_t)extent)) {
      return refuse("alloc: %lld is no extent of an array in memory", (long long)extent);
    }
    bytes *= (size_t)extent;
  }
  if (code == IOCOMP_OK) {
    code = iocomp_alloc(session->handle, bytes, &memory);
  }
  if (code != IOCOMP_OK) {
    return code;
  }
  CFI_cdesc_t *made = (CFI_cdesc_t *)&target;
  if (CFI_establish(made, memory, CFI_attribute_other, array->type, array->elem_len, array->rank,
                    upper) != CFI_SUCCESS ||
      CFI_setpointer(array, made, from_one) != CFI_SUCCESS) {
    return refuse("alloc: no pointer of the rank %d can be made", array->rank);
  }
  return IOCOMP_OK;
}

void iocomp_f_alloc(const f_session *session, CFI_cdesc_t *array, descriptor *shape, int *ierr) {
  finish(allocate(session, array, shape), ierr);
}

void iocomp_f_free(const f_session *session, descriptor *array, int *ierr) {
  finish(iocomp_free(session->handle, array->base_addr), ierr);
}

/* Files */

/* The options of an open, in memory of its own; to be freed. */
typedef struct open_told {
  char *name;
  char *settings;
  MPI_Comm comm;
  int64_t after;
  iocomp_open_options options;
} open_told;

static int tell_open(descriptor *name, descriptor *settings, descriptor *after, descriptor *comm,
                     open_told *told) {
  memset(told, 0, sizeof *told);
  told->name = text_of(name);
  told->settings = text_of(settings);
  told->options.size = sizeof told->options;
  told->options.settings = told->settings;
  if (comm != NULL) { /* an integer, or type(MPI_Comm), which is one */
    if (comm->rank != 0 || comm->elem_len != sizeof(MPI_Fint)) {
      return refuse("open: comm is no communicator: type(MPI_Comm) or an integer is");
    }
    told->comm = MPI_Comm_f2c(*(const MPI_Fint *)comm->base_addr);
    told->options.comm = &told->comm;
  }
  if (after != NULL) {
    told->options.after = &told->after;
    return get_integer(after, "open: after", &told->after);
  }
  return IOCOMP_OK;
}

static void free_told(open_told *told) {
  free(told->settings);
  free(told->name);
}

void iocomp_f_open(const f_session *session, descriptor *name, const int *kind, f_file *file,
                   descriptor *settings, descriptor *after, descriptor *comm, int *ierr) {
  open_told told;
  int code = tell_open(name, settings, after, comm, &told);
  if (code == IOCOMP_OK) {
    code =
        iocomp_open(session->handle, told.name, (iocomp_kind)*kind, &told.options, &file->handle);
  }
  free_told(&told);
  finish(code, ierr);
}

/* The entries of a shape, at most as many as a variable has dimensions. */
static int shape_of(descriptor *shape, int *ndims, int64_t *extents) {
  *ndims = (int)shape->dim[0].extent;
  return shape->dim[0].extent <= IOCOMP_MAX_DIMS
             ? get_dims(shape, "shape", *ndims, 0, extents)
             : refuse("shape has %lld entries; at most %d are allowed",
                      (long long)shape->dim[0].extent, IOCOMP_MAX_DIMS);
}

/* One of a list of texts; to be freed. */
static char *text_in(descriptor *list, long long number, int *has_zero) {
  CFI_CDESC_T(1) scalar;
  CFI_cdesc_t *one = (CFI_cdesc_t *)&scalar;
  char *at = (char *)list->base_addr + number * stride_of(list, 0);
  if (CFI_establish(one, at, CFI_attribute_other, list->type, list->elem_len, 0, NULL) !=
      CFI_SUCCESS) {
    return NULL;
  }
  *has_zero = *has_zero || has_zero_inside(one);
  return text_of(one);
}

/* Names of dimensions in C's order, "time" first; to be freed, each of them too. */
static int names_of(descriptor *dims, int ndims, char **names, int *has_time) {
  const long long given = (long long)dims->dim[0].extent;
  if (given != ndims && given != ndims + 1) {
    return refuse("define: dims has %lld names for %d dimensions", given, ndims);
  }
  for (int d = 0; d < given; ++d) {
    int has_zero = 0; /* no name may have it */
    names[given - 1 - d] = text_in(dims, d, &has_zero);
    if (names[given - 1 - d] == NULL) {
      return refuse("define: dims are no texts");
    }
  }
  *has_time = given == ndims + 1;
  return *has_time && strcmp(names[0], "time") != 0
             ? refuse("define: dims has %lld names for %d dimensions, and the last is not time",
                      given, ndims)
             : IOCOMP_OK;
}

void iocomp_f_define(const f_file *file, descriptor *name, const int *type, descriptor *shape,
                     f_var *var, descriptor *dims, const int *file_type, int *ierr) {
  char *text = text_of(name);
  char *names[IOCOMP_MAX_DIMS + 1] = {NULL};
  int has_time = 0;
  int64_t extents[IOCOMP_MAX_DIMS];
  memset(var, 0, sizeof *var);
  int code = shape_of(shape, &var->ndims, extents);
  if (code == IOCOMP_OK && dims != NULL) {
    code = names_of(dims, var->ndims, names, &has_time);
  }
  if (code == IOCOMP_OK) {
    const iocomp_definition definition = {
        .size = sizeof definition,
        .name = text,
        .type = (iocomp_type)*type,
        .ndims = var->ndims,
        .shape = extents,
        .dims = dims == NULL ? NULL : (const char *const *)names + has_time,
        .has_time = has_time,
        .file_type = file_type == NULL ? (iocomp_type)0 : (iocomp_type)*file_type,
    };
    code = iocomp_define_with(file->handle, &definition, &var->handle);
  }
  var->type = *type;
  var->element = element_of((iocomp_type)*type);
  snprintf(var->name, sizeof var->name, "%s", text == NULL ? "" : text);
  for (int d = 0; d <= IOCOMP_MAX_DIMS; ++d) {
    free(names[d]);
  }
  free(text);
  finish(code, ierr);
}

void iocomp_f_set_shape(const f_var *var, descriptor *shape, int *ierr) {
  int64_t extents[IOCOMP_MAX_DIMS];
  const int code = get_dims(shape, "set_shape: shape", var->ndims, 0, extents);
  finish(code == IOCOMP_OK ? iocomp_set_shape(var->handle, extents) : code, ierr);
}

static int set_texts(iocomp_file *file, iocomp_var *var, const char *name, descriptor *values) {
  const long long count = values->rank == 1 ? (long long)values->dim[0].extent : 0;
  char **texts = calloc(count > 0 ? (size_t)count : 1, sizeof *texts);
  int has_zero = 0;
  int code = values->rank == 1 && texts != NULL
                 ? IOCOMP_OK
                 : refuse("attribute \"%s\": texts of %d dimensions; allowed are 0 and 1", name,
                          (int)values->rank);
  for (long long i = 0; code == IOCOMP_OK && i < count; ++i) {
    texts[i] = text_in(values, i, &has_zero);
    if (has_zero) {
      code = refuse("attribute \"%s\": text %lld has a zero inside", name, i + 1);
    }
  }
  if (code == IOCOMP_OK) {
    code = iocomp_set_attribute(file, var, name, IOCOMP_STRING, count, (const void *)texts);
  }
  for (long long i = 0; texts != NULL && i < count; ++i) {
    free(texts[i]);
  }
  free((void *)texts);
  return code;
}

/* One of both is not NULL. */
static int set_attribute(iocomp_file *file, iocomp_var *var, descriptor *name, descriptor *values) {
  char *text = text_of(name);
  char *value = type_of(values) == IOCOMP_CHAR && values->rank == 0 ? text_of(values) : NULL;
  block list = {.copy = NULL};
  const iocomp_type type = type_of(values);
  int code = IOCOMP_OK;
  if (value != NULL && has_zero_inside(values)) { /* it is refused */
    code =
        iocomp_set_attribute(file, var, text, type, (int64_t)values->elem_len, values->base_addr);
  } else if (value != NULL) {
    code = iocomp_set_attribute(file, var, text, type, -1, value);
  } else if (type == IOCOMP_CHAR) {
    code = set_texts(file, var, text, values);
  } else {
    code = make_list("attribute", text, (iocomp_type)0, values, -1, &list);
    if (code == IOCOMP_OK) {
      code = iocomp_set_attribute(file, var, text, type, elements_of(&list.values), list.base);
    }
  }
  free_block(&list);
  free(value);
  free(text);
  return code;
}

void iocomp_f_set_file_attribute(const f_file *file, descriptor *name, descriptor *values,
                                 int *ierr) {
  finish(set_attribute(file->handle, NULL, name, values), ierr);
}

void iocomp_f_set_var_attribute(const f_var *var, descriptor *name, descriptor *values, int *ierr) {
  finish(set_attribute(NULL, var->handle, name, values), ierr);
}

void iocomp_f_set_fill(const f_var *var, descriptor *value, int *ierr) {
  block list = {.copy = NULL};
  int code = holds((iocomp_type)var->type, value)
                 ? make_list("set_fill of", var->name, (iocomp_type)var->type, value, 1, &list)
                 : refuse("set_fill of \"%s\": the value is %s, the variable has the type %s",
                          var->name, fortran_name(value), type_name((iocomp_type)var->type));
  if (code == IOCOMP_OK) {
    code = iocomp_set_fill(var->handle, list.base);
  }
  free_block(&list);
  finish(code, ierr);
}

void iocomp_f_begin_step(const f_file *file, descriptor *number, const double *time, int *ierr) {
  int64_t step = 0;
  int code = get_integer(number, "begin_step: number", &step);
  if (code == IOCOMP_OK) {
    code = iocomp_begin_step(file->handle, step, time == NULL ? (double)NAN : *time);
  }
  finish(code, ierr);
}

/* Puts */

/* The usual put, of a whole array that is dense, must cost no more than in C: what make_block would
 * find, at once.
 * @return 0 for all others */
static int is_plain(const f_var *var, descriptor *values, descriptor *start, int64_t *first,
                    int64_t *count) {
  const int ndims = var->ndims;
  if (values->type != var->element || values->rank != ndims || ndims == 0 || start == NULL ||
      start->dim[0].extent != ndims || start->dim[0].sm != (CFI_index_t)start->elem_len ||
      (start->type != CFI_type_int32_t && start->type != CFI_type_int64_t)) {
    return 0;
  }
  CFI_index_t stride = (CFI_index_t)values->elem_len;
  for (int d = 0; d < ndims; ++d) {
    if (values->dim[d].sm != stride || values->dim[d].extent < 0) {
      return 0;
    }
    stride *= values->dim[d].extent;
    count[ndims - 1 - d] = values->dim[d].extent;
    first[ndims - 1 - d] =
        (start->type == CFI_type_int32_t ? ((const int32_t *)start->base_addr)[d]
                                         : ((const int64_t *)start->base_addr)[d]) -
        1;
  }
  return 1;
}

static int put_block(const f_var *var, descriptor *values, descriptor *start, descriptor *count,
                     descriptor *memory_start, int buffered, iocomp_ticket *ticket) {
  if (var->handle == NULL) {
    return iocomp_put(NULL, NULL, NULL, NULL, ticket);
  }
  const block_arguments arguments = {
      .call = "put of",
      .name = var->name,
      .type = (iocomp_type)var->type,
      .ndims = var->ndims,
      .values = values,
      .start = start,
      .count = count,
      .memory_start = memory_start,
  };
  block made = {.copy = NULL};
  int code = make_block(&arguments, &made);
  if (code == IOCOMP_OK) {
    gather(&made);
    /* A scalar may be an expression; a copy made here does not live on. */
    const int copied = buffered || made.copy != NULL || values->rank == 0;
    const iocomp_block told = {
        .size = sizeof told,
        .start = made.start,
        .count = made.count,
        .values = made.base,
        .memory_shape = made.is_box ? made.memory_shape : NULL,
        .type = other_type((iocomp_type)var->type, values),
        .flags = copied ? IOCOMP_BUFFERED : 0,
    };
    code = iocomp_put_block(var->handle, &told, ticket);
  }
  free_block(&made);
  return code;
}

static int put_decomp(const f_var *var, const f_decomp *decomp, descriptor *values, int buffered,
                      iocomp_ticket *ticket) {
  block list = {.copy = NULL};
  int code = IOCOMP_OK;
  if (decomp->handle == NULL) {
    return refuse("put of \"%s\": the decomposition is null", var->name);
  }
  if (var->handle != NULL) { /* else the library has the story */
    code = make_list("put of", var->name, (iocomp_type)var->type, values, decomp->elements, &list);
  }
  if (code == IOCOMP_OK) {
    const iocomp_block told = {
        .size = sizeof told,
        .values = list.base,
        .decomp = decomp->handle,
        .type = other_type((iocomp_type)var->type, values),
        .flags = buffered || list.copy != NULL ? IOCOMP_BUFFERED : 0,
    };
    code = iocomp_put_block(var->handle, &told, ticket);
  }
  free_block(&list);
  return code;
}

static int put(const f_var *var, descriptor *values, descriptor *start, descriptor *count,
               descriptor *memory_start, const f_decomp *decomp, int buffered,
               iocomp_ticket *ticket) {
  if (decomp == NULL) {
    return put_block(var, values, start, count, memory_start, buffered, ticket);
  }
  if (start != NULL || count != NULL || memory_start != NULL) {
    return refuse("put of \"%s\": a decomposition has no start, count or memory_start", var->name);
  }
  return put_decomp(var, decomp, values, buffered, ticket);
}

void iocomp_f_set_rows(descriptor *vars, descriptor *rows, descriptor *first, descriptor *total,
                       int *ierr) {
  const int64_t count = vars->dim[0].extent;
  const size_t room = (size_t)(count > 0 ? count : 1);
  iocomp_var **handles = calloc(room, sizeof *handles);
  int64_t *places = calloc(2 * room, sizeof *places);
  int64_t *counts = NULL;
  int code = handles == NULL || places == NULL
                 ? refuse("set_rows: no memory for %lld variables", (long long)count)
                 : get_list(rows, "set_rows: rows", 0, &counts);
  if (code == IOCOMP_OK && rows->dim[0].extent != count) {
    code = refuse("set_rows: rows has %lld entries, vars has %lld", (long long)rows->dim[0].extent,
                  (long long)count);
  }
  for (int64_t i = 0; code == IOCOMP_OK && i < count; ++i) {
    const char *one = (const char *)vars->base_addr + i * stride_of(vars, 0);
    handles[i] = ((const f_var *)(const void *)one)->handle;
  }
  if (code == IOCOMP_OK) {
    code = iocomp_set_rows((int)count, handles, counts, places, places + room);
  }
  code = code != IOCOMP_OK ? code : set_list(first, "set_rows: first", 1, count, places);
  code = code != IOCOMP_OK ? code : set_list(total, "set_rows: total", 0, count, places + room);
  free(counts);
  free(places);
  free(handles);
  finish(code, ierr);
}

void iocomp_f_put(const f_var *var, descriptor *values, descriptor *start, descriptor *count,
                  descriptor *memory_start, const f_decomp *decomp, iocomp_ticket *ticket,
                  int *ierr) {
  int64_t first[IOCOMP_MAX_DIMS];
  int64_t extents[IOCOMP_MAX_DIMS];
  if (count == NULL && memory_start == NULL && decomp == NULL &&
      is_plain(var, values, start, first, extents)) {
    finish(iocomp_put(var->handle, first, extents, values->base_addr, ticket), ierr);
    return;
  }
  finish(put(var, values, start, count, memory_start, decomp, 0, ticket), ierr);
}

void iocomp_f_put_buffered(const f_var *var, descriptor *values, descriptor *start,
                           descriptor *count, descriptor *memory_start, const f_decomp *decomp,
                           iocomp_ticket *ticket, int *ierr) {
  finish(put(var, values, start, count, memory_start, decomp, 1, ticket), ierr);
}

void iocomp_f_decompose(const f_session *session, descriptor *shape, descriptor *first,
                        f_decomp *decomp, descriptor *count, int *ierr) {
  int64_t extents[IOCOMP_MAX_DIMS];
  int ndims = 0;
  int64_t *firsts = NULL;
  int64_t *counts = NULL;
  memset(decomp, 0, sizeof *decomp);
  int code = shape_of(shape, &ndims, extents);
  code = code != IOCOMP_OK ? code : get_list(first, "decompose: first", 1, &firsts);
  if (code == IOCOMP_OK && count != NULL) {
    code = get_list(count, "decompose: count", 0, &counts);
  }
  const int64_t runs = first->rank == 1 ? first->dim[0].extent : 0;
  if (code == IOCOMP_OK && count != NULL && count->dim[0].extent != runs) {
    code = refuse("decompose: first has %lld entries, count has %lld", (long long)runs,
                  (long long)count->dim[0].extent);
  }
  if (code == IOCOMP_OK) {
    code = iocomp_decompose(session->handle, ndims, extents, runs, firsts, counts, &decomp->handle);
  }
  for (int64_t run = 0; code == IOCOMP_OK && run < runs; ++run) {
    decomp->elements += counts == NULL ? 1 : counts[run];
  }
  free(firsts);
  free(counts);
  finish(code, ierr);
}

void iocomp_f_decomp_free(f_decomp *decomp, int *ierr) {
  iocomp_decomp *gone = decomp->handle;
  decomp->handle = NULL;
  finish(iocomp_decomp_free(gone), ierr);
}

/* Steps and tickets */

void iocomp_f_after(const f_file *file, descriptor *name, int *ierr) {
  char *text = text_of(name);
  const int code = iocomp_after(file->handle, text);
  free(text);
  finish(code, ierr);
}

void iocomp_f_end_step(const f_file *file, int *ierr) {
  finish(iocomp_end_step(file->handle), ierr);
}

int64_t iocomp_f_current_step(const f_file *file) { return iocomp_current_step(file->handle); }

static iocomp_state state_of(const int *state) {
  return state == NULL ? IOCOMP_REUSABLE : (iocomp_state)*state;
}

void iocomp_f_test(const iocomp_ticket *ticket, int *reached, const int *state, int *ierr) {
  *reached = 0;
  finish(iocomp_test(ticket, state_of(state), reached), ierr);
}

void iocomp_f_wait(const iocomp_ticket *ticket, const int *state, int *ierr) {
  finish(iocomp_wait(ticket, state_of(state)), ierr);
}

void iocomp_f_wait_puts(const f_file *file, const int *state, int *ierr) {
  finish(iocomp_wait_puts(file->handle, state_of(state)), ierr);
}

void iocomp_f_wait_step(const f_file *file, descriptor *step, int *ierr) {
  int64_t number = 0;
  const int code = get_integer(step, "wait_step: step", &number);
  finish(code == IOCOMP_OK ? iocomp_wait_step(file->handle, number) : code, ierr);
}

void iocomp_f_close(f_file *file, int *ierr) {
  iocomp_file *closing = file->handle;
  file->handle = NULL;
  finish(iocomp_close(closing), ierr);
}

void iocomp_f_close_later(f_file *file, iocomp_ticket *ticket, int *ierr) {
  iocomp_file *closing = file->handle;
  file->handle = NULL;
  finish(iocomp_close_later(closing, ticket), ierr);
}

/* Inputs */

void iocomp_f_open_input(const f_session *session, descriptor *name, f_input *input,
                         descriptor *settings, descriptor *comm, int *ierr) {
  open_told told;
  int code = tell_open(name, settings, NULL, comm, &told);
  if (code == IOCOMP_OK) {
    code = iocomp_open_input(session->handle, told.name, &told.options, &input->handle);
  }
  free_told(&told);
  finish(code, ierr);
}

void iocomp_f_latest(const f_session *session, descriptor *name, descriptor *step, double *time,
                     f_input *input, descriptor *settings, descriptor *comm, int *ierr) {
  open_told told;
  int64_t number = -1;
  *time = (double)NAN; /* stays where nothing is committed */
  input->handle = NULL;
  int code = set_integer(step, "latest: step", number);
  const int is_told = tell_open(name, settings, NULL, comm, &told);
  code = code != IOCOMP_OK ? code : is_told;
  if (code == IOCOMP_OK) {
    code = iocomp_latest(session->handle, told.name, &told.options, &number, time, &input->handle);
  }
  if (code == IOCOMP_OK) {
    code = set_integer(step, "latest: step", number);
  }
  free_told(&told);
  finish(code, ierr);
}

void iocomp_f_input_steps(const f_input *input, CFI_cdesc_t *steps, int *ierr) {
  int64_t count = 0;
  const int64_t *numbers = NULL;
  const int code = iocomp_input_steps(input->handle, &count, &numbers);
  finish(code == IOCOMP_OK ? make_integers(steps, count, numbers) : code, ierr);
}

void iocomp_f_input_time(const f_input *input, descriptor *step, double *time, int *ierr) {
  int64_t number = 0;
  const int code = get_integer(step, "input_time: step", &number);
  finish(code == IOCOMP_OK ? iocomp_input_time(input->handle, number, time) : code, ierr);
}

void iocomp_f_input_left_out(const f_input *input, CFI_cdesc_t *steps, CFI_cdesc_t *causes,
                             int *ierr) {
  int64_t count = 0;
  const int64_t *numbers = NULL;
  const char *const *stories = NULL;
  int code = iocomp_input_left_out(input->handle, &count, &numbers, &stories);
  code = code != IOCOMP_OK ? code : make_integers(steps, count, numbers);
  code = code != IOCOMP_OK ? code : make_texts(causes, count, stories);
  finish(code, ierr);
}

void iocomp_f_input_variables(const f_input *input, CFI_cdesc_t *names, int *ierr) {
  int64_t count = 0;
  const char *const *texts = NULL;
  const int code = iocomp_input_variables(input->handle, &count, &texts);
  finish(code == IOCOMP_OK ? make_texts(names, count, texts) : code, ierr);
}

void iocomp_f_input_variable(const f_input *input, descriptor *variable, descriptor *step,
                             int *type, int *ndims, descriptor *shape, int *ierr) {
  char *name = text_of(variable);
  int64_t number = -1;
  iocomp_type found = (iocomp_type)0;
  int dims = 0;
  const int64_t *extents = NULL;
  int code = step == NULL ? IOCOMP_OK : get_integer(step, "input_variable: step", &number);
  if (code == IOCOMP_OK) {
    code = iocomp_input_variable(input->handle, name, number, &found, &dims, &extents);
  }
  if (type != NULL) {
    *type = (int)found;
  }
  if (ndims != NULL) {
    *ndims = dims;
  }
  if (code == IOCOMP_OK && shape != NULL) {
    code = set_dims(shape, "input_variable: shape", dims, extents);
  }
  free(name);
  finish(code, ierr);
}

void iocomp_f_input_attributes(const f_input *input, CFI_cdesc_t *names, descriptor *variable,
                               int *ierr) {
  char *of = text_of(variable);
  int64_t count = 0;
  const char *const *texts = NULL;
  const int code = iocomp_input_attributes(input->handle, of, &count, &texts);
  free(of);
  finish(code == IOCOMP_OK ? make_texts(names, count, texts) : code, ierr);
}

/* Values of an attribute into an array that holds such elements. */
static int take_values(const char *name, iocomp_type type, int64_t count, const void *found,
                       descriptor *values) {
  block list = {.copy = NULL};
  if (!holds(type, values)) {
    return refuse("attribute \"%s\": values is %s, the attribute has the type %s", name,
                  fortran_name(values), type_name(type));
  }
  const int code = make_list("attribute", name, type, values, count, &list);
  if (code == IOCOMP_OK && count > 0) {
    memcpy(list.base, found, (size_t)count * iocomp_type_size(type));
    scatter(&list);
  }
  free_block(&list);
  return code;
}

void iocomp_f_input_attribute(const f_input *input, descriptor *name, descriptor *variable,
                              int *type, int64_t *count, descriptor *values, CFI_cdesc_t *text,
                              CFI_cdesc_t *texts, int *ierr) {
  char *wanted = text_of(name);
  char *of = text_of(variable);
  iocomp_type found = (iocomp_type)0;
  int64_t elements = 0;
  const void *content = NULL;
  int code = iocomp_input_attribute(input->handle, of, wanted, &found, &elements, &content);
  if (type != NULL) {
    *type = (int)found;
  }
  if (count != NULL) {
    *count = elements;
  }
  if (code == IOCOMP_OK && values != NULL) {
    code = take_values(wanted, found, elements, content, values);
  }
  if (code == IOCOMP_OK && text != NULL) {
    code = found == IOCOMP_CHAR ? set_text(text, content)
                                : refuse("attribute \"%s\" is no text, but has the type %s", wanted,
                                         type_name(found));
  }
  if (code == IOCOMP_OK && texts != NULL) {
    code = found == IOCOMP_STRING
               ? make_texts(texts, elements, content)
               : refuse("attribute \"%s\" is no list of texts, but has the type %s", wanted,
                        type_name(found));
  }
  free(wanted);
  free(of);
  finish(code, ierr);
}

static int read_block(const f_input *input, const char *variable, descriptor *step,
                      block_arguments *arguments) {
  int64_t number = 0;
  block made = {.copy = NULL};
  if (input->handle == NULL) {
    return iocomp_read(NULL, variable, number, NULL, NULL, NULL);
  }
  arguments->call = "read of";
  arguments->name = variable;
  int code = get_integer(step, "read: step", &number);
  const int64_t *whole = NULL;
  if (code == IOCOMP_OK) {
    code = iocomp_input_variable(input->handle, variable, number, &arguments->type,
                                 &arguments->ndims, &whole);
  }
  if (arguments->start == NULL && arguments->count == NULL) {
    arguments->whole = whole;
  }
  code = code != IOCOMP_OK ? code : make_block(arguments, &made);
  if (code == IOCOMP_OK) {
    const iocomp_type type = other_type(arguments->type, arguments->values);
    const iocomp_destination to = {
        .size = sizeof to,
        .start = made.start,
        .count = made.count,
        .values = made.base,
        .memory_shape = made.is_box ? made.memory_shape : NULL,
        .type = type != 0 ? type : arguments->type, /* the newest step may have another one */
    };
    code = iocomp_read_block(input->handle, variable, number, &to);
  }
  if (code == IOCOMP_OK) {
    scatter(&made);
  }
  free_block(&made);
  return code;
}

void iocomp_f_read(const f_input *input, descriptor *variable, descriptor *step, descriptor *values,
                   descriptor *start, descriptor *count, descriptor *memory_start, int *ierr) {
  char *text = text_of(variable);
  block_arguments arguments = {
      .values = values, .start = start, .count = count, .memory_start = memory_start};
  const int code = read_block(input, text == NULL ? "" : text, step, &arguments);
  free(text);
  finish(code, ierr);
}

void iocomp_f_close_input(f_input *input, int *ierr) {
  iocomp_input *closing = input->handle;
  input->handle = NULL;
  finish(iocomp_close_input(closing), ierr);
}

/* Texts. Without memory for one it stays as it was allocated: empty. */

void iocomp_f_error(CFI_cdesc_t *text) { (void)set_text(text, story()); }

void iocomp_f_code_name(const int *code, CFI_cdesc_t *text) {
  (void)set_text(text, iocomp_code_name(*code));
}

void iocomp_f_settings(const f_session *session, CFI_cdesc_t *text) {
  (void)set_text(text, iocomp_settings(session->handle));
}

int iocomp_f_version(CFI_cdesc_t *text) {
  const char *found = NULL;
  const int number = iocomp_version(&found);
  (void)set_text(text, found);
  return number;
}

size_t iocomp_f_type_size(const int *type) { return iocomp_type_size((iocomp_type)*type); }
