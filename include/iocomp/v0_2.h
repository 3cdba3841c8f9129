/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file v0_2.h
 * The names of 0.2 over the calls of 0.3, for programs that are compiled with -DIOCOMP_API_0_2.
 * iocomp.h includes it then. It goes with 0.4; CHANGELOG.md has the new lines for each old one.
 */
#ifndef IOCOMP_V0_2_H
#define IOCOMP_V0_2_H

#include <iocomp/iocomp.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#define IOCOMP_0_2_ZERO \
  {                     \
  } /* C++11 has no {0} for members with initialisers */
#else
#define IOCOMP_0_2_ZERO {0}
#endif

#define IOCOMP_HANDED_OVER IOCOMP_REUSABLE
#define IOCOMP_LAST_STEP INT64_MAX

static inline iocomp_open_options iocomp_0_2_options(const MPI_Comm *comm, const int64_t *after,
                                                     const char *settings) {
  iocomp_open_options options = IOCOMP_0_2_ZERO;
  options.size = sizeof options;
  options.settings = settings;
  options.comm = comm;
  options.after = after == NULL || *after == IOCOMP_LAST_STEP ? NULL : after;
  return options;
}

static inline int iocomp_open_after(iocomp_session *session, const char *name, iocomp_kind kind,
                                    int64_t after, iocomp_file **file) {
  const iocomp_open_options options = iocomp_0_2_options(NULL, &after, NULL);
  return iocomp_open(session, name, kind, &options, file);
}

static inline int iocomp_open_on(iocomp_session *session, MPI_Comm comm, const char *name,
                                 iocomp_kind kind, iocomp_file **file) {
  const iocomp_open_options options = iocomp_0_2_options(&comm, NULL, NULL);
  return iocomp_open(session, name, kind, &options, file);
}

static inline int iocomp_open_with(iocomp_session *session, MPI_Comm comm, const char *name,
                                   iocomp_kind kind, int64_t after, const char *settings,
                                   iocomp_file **file) {
  const iocomp_open_options options = iocomp_0_2_options(&comm, &after, settings);
  return iocomp_open(session, name, kind, &options, file);
}

static inline int iocomp_0_2_open(iocomp_session *session, const char *name, iocomp_kind kind,
                                  iocomp_file **file) {
  return iocomp_open(session, name, kind, NULL, file);
}
#define iocomp_open iocomp_0_2_open

static inline int iocomp_read_into(iocomp_input *input, const char *variable, int64_t step,
                                   const int64_t *start, const int64_t *count, void *values,
                                   const int64_t *memory_shape, const int64_t *memory_start) {
  iocomp_destination destination = IOCOMP_0_2_ZERO;
  destination.size = sizeof destination;
  destination.start = start;
  destination.count = count;
  destination.values = values;
  destination.memory_shape = memory_shape;
  destination.memory_start = memory_start;
  return iocomp_read_block(input, variable, step, &destination);
}

static inline int iocomp_0_2_open_input(iocomp_session *session, const char *name,
                                        iocomp_input **input) {
  return iocomp_open_input(session, name, NULL, input);
}

static inline int iocomp_open_input_with(iocomp_session *session, MPI_Comm comm, const char *name,
                                         const char *settings, iocomp_input **input) {
  const iocomp_open_options options = iocomp_0_2_options(&comm, NULL, settings);
  return iocomp_open_input(session, name, &options, input);
}

static inline int iocomp_open_input_on(iocomp_session *session, MPI_Comm comm, const char *name,
                                       iocomp_input **input) {
  return iocomp_open_input_with(session, comm, name, NULL, input);
}
#define iocomp_open_input iocomp_0_2_open_input

static inline int iocomp_0_2_latest(iocomp_session *session, const char *name, int64_t *step,
                                    double *time, iocomp_input **input) {
  return iocomp_latest(session, name, NULL, step, time, input);
}

static inline int iocomp_latest_with(iocomp_session *session, MPI_Comm comm, const char *name,
                                     const char *settings, int64_t *step, double *time,
                                     iocomp_input **input) {
  const iocomp_open_options options = iocomp_0_2_options(&comm, NULL, settings);
  return iocomp_latest(session, name, &options, step, time, input);
}
#define iocomp_latest iocomp_0_2_latest

static inline int iocomp_set_var_attribute(iocomp_var *var, const char *name, iocomp_type type,
                                           int64_t count, const void *values) {
  return var == NULL ? IOCOMP_INVALID_ARGUMENT
                     : iocomp_set_attribute(NULL, var, name, type, count, values);
}

static inline int iocomp_set_var_attribute_text(iocomp_var *var, const char *name,
                                                const char *text) {
  return iocomp_set_var_attribute(var, name, IOCOMP_CHAR, -1, text);
}

static inline int iocomp_0_2_set_attribute(iocomp_file *file, const char *name, iocomp_type type,
                                           int64_t count, const void *values) {
  return iocomp_set_attribute(file, NULL, name, type, count, values);
}
#define iocomp_set_attribute iocomp_0_2_set_attribute

static inline int iocomp_set_attribute_text(iocomp_file *file, const char *name, const char *text) {
  return iocomp_set_attribute(file, name, IOCOMP_CHAR, -1, text);
}

static inline int iocomp_0_2_input_steps(const iocomp_input *input, int64_t *steps) {
  return iocomp_input_steps(input, steps, NULL);
}

static inline int iocomp_input_step(const iocomp_input *input, int64_t index, int64_t *step) {
  int64_t count = 0;
  const int64_t *steps = NULL;
  const int code = iocomp_input_steps(input, &count, &steps);
  if (code == IOCOMP_OK && (step == NULL || index < 0 || index >= count)) {
    return IOCOMP_INVALID_ARGUMENT;
  }
  if (code == IOCOMP_OK) {
    *step = steps[index];
  }
  return code;
}
#define iocomp_input_steps iocomp_0_2_input_steps

static inline int iocomp_0_2_input_left_out(const iocomp_input *input, int64_t *steps) {
  return iocomp_input_left_out(input, steps, NULL, NULL);
}

static inline int iocomp_input_left_out_step(const iocomp_input *input, int64_t index,
                                             int64_t *step, const char **cause) {
  int64_t count = 0;
  const int64_t *steps = NULL;
  const char *const *causes = NULL;
  const int code = iocomp_input_left_out(input, &count, &steps, &causes);
  if (code == IOCOMP_OK && (index < 0 || index >= count)) {
    return IOCOMP_INVALID_ARGUMENT;
  }
  if (code == IOCOMP_OK && step != NULL) {
    *step = steps[index];
  }
  if (code == IOCOMP_OK && cause != NULL) {
    *cause = causes[index];
  }
  return code;
}
#define iocomp_input_left_out iocomp_0_2_input_left_out

static inline int iocomp_0_2_named(int code, const char *const *names, int64_t count, int64_t index,
                                   const char **name) {
  if (code == IOCOMP_OK && (index < 0 || index >= count)) {
    return IOCOMP_INVALID_ARGUMENT;
  }
  if (code == IOCOMP_OK) {
    *name = names[index];
  }
  return code;
}

static inline int iocomp_input_find(const iocomp_input *input, const char *variable, int *index) {
  int64_t count = 0;
  const char *const *names = NULL;
  int code = iocomp_input_variable(input, variable, -1, NULL, NULL, NULL);
  if (code == IOCOMP_OK) {
    code = iocomp_input_variables(input, &count, &names);
  }
  for (int64_t i = 0; code == IOCOMP_OK && i < count; ++i) {
    if (strcmp(names[i], variable) == 0) {
      *index = (int)i;
    }
  }
  return code;
}

static inline int iocomp_input_shape(const iocomp_input *input, const char *variable, int64_t step,
                                     int64_t *shape) {
  int ndims = 0;
  const int64_t *extents = NULL;
  const int code = iocomp_input_variable(input, variable, step, NULL, &ndims, &extents);
  if (code == IOCOMP_OK && ndims > 0) {
    memcpy(shape, extents, (size_t)ndims * sizeof *shape);
  }
  return code;
}

static inline int iocomp_0_2_input_variable(const iocomp_input *input, int index, const char **name,
                                            iocomp_type *type, int *ndims) {
  int64_t count = 0;
  const char *const *names = NULL;
  const char *found = NULL;
  const int all = iocomp_input_variables(input, &count, &names);
  const int code = iocomp_0_2_named(all, names, count, index, &found);
  if (code == IOCOMP_OK && name != NULL) {
    *name = found;
  }
  return code != IOCOMP_OK ? code : iocomp_input_variable(input, found, -1, type, ndims, NULL);
}
#define iocomp_input_variable iocomp_0_2_input_variable

static inline int iocomp_0_2_input_variables(const iocomp_input *input, int *count) {
  int64_t all = 0;
  const int code = iocomp_input_variables(input, &all, NULL);
  *count = (int)all;
  return code;
}
#define iocomp_input_variables iocomp_0_2_input_variables

static inline int iocomp_input_attribute_values(const iocomp_input *input, const char *variable,
                                                const char *name, iocomp_type type, int64_t count,
                                                void *values) {
  iocomp_type its_type = type;
  int64_t its_count = 0;
  const void *found = NULL;
  const int code = iocomp_input_attribute(input, variable, name, &its_type, &its_count, &found);
  if (code == IOCOMP_OK && (its_type != type || its_count != count || type == IOCOMP_CHAR)) {
    return IOCOMP_INVALID_ARGUMENT;
  }
  if (code == IOCOMP_OK && count > 0) {
    memcpy(values, found, (size_t)count * iocomp_type_size(type));
  }
  return code;
}

static inline int iocomp_input_attribute_text(const iocomp_input *input, const char *variable,
                                              const char *name, const char **text) {
  iocomp_type type = IOCOMP_CHAR;
  const void *found = NULL;
  const int code = iocomp_input_attribute(input, variable, name, &type, NULL, &found);
  if (code == IOCOMP_OK && type != IOCOMP_CHAR) {
    return IOCOMP_INVALID_ARGUMENT;
  }
  if (code == IOCOMP_OK) {
    *text = (const char *)found;
  }
  return code;
}

static inline int iocomp_0_2_input_attribute(const iocomp_input *input, const char *variable,
                                             int index, const char **name, iocomp_type *type,
                                             int64_t *count, int *is_text) {
  int64_t attributes = 0;
  const char *const *names = NULL;
  const char *found = NULL;
  iocomp_type its_type = IOCOMP_UINT8;
  const int all = iocomp_input_attributes(input, variable, &attributes, &names);
  int code = iocomp_0_2_named(all, names, attributes, index, &found);
  if (code == IOCOMP_OK) {
    code = iocomp_input_attribute(input, variable, found, &its_type, count, NULL);
  }
  if (name != NULL) {
    *name = found;
  }
  if (type != NULL) {
    *type = its_type == IOCOMP_CHAR ? IOCOMP_UINT8 : its_type;
  }
  if (is_text != NULL) {
    *is_text = its_type == IOCOMP_CHAR;
  }
  return code;
}
#define iocomp_input_attribute iocomp_0_2_input_attribute

static inline int iocomp_0_2_input_attributes(const iocomp_input *input, const char *variable,
                                              int *count) {
  int64_t all = 0;
  const int code = iocomp_input_attributes(input, variable, &all, NULL);
  *count = (int)all;
  return code;
}
#define iocomp_input_attributes iocomp_0_2_input_attributes

static inline int iocomp_decomp_runs(iocomp_session *session, int ndims, const int64_t *shape,
                                     int64_t nruns, const int64_t *first, const int64_t *count,
                                     iocomp_decomp **decomp) {
  return count == NULL && nruns > 0 /* which would be a map */
             ? IOCOMP_INVALID_ARGUMENT
             : iocomp_decompose(session, ndims, shape, nruns, first, count, decomp);
}

static inline int iocomp_decomp_map(iocomp_session *session, int ndims, const int64_t *shape,
                                    int64_t nelements, const int64_t *map, iocomp_decomp **decomp) {
  return iocomp_decompose(session, ndims, shape, nelements, map, NULL, decomp);
}

static inline int iocomp_0_2_put(iocomp_var *var, iocomp_block block, int buffered,
                                 iocomp_ticket *ticket) {
  block.size = sizeof block;
  block.flags = buffered ? IOCOMP_BUFFERED : 0;
  return iocomp_put_block(var, &block, ticket);
}

static inline int iocomp_put_from(iocomp_var *var, const int64_t *start, const int64_t *count,
                                  const void *values, const int64_t *memory_shape,
                                  const int64_t *memory_start, int buffered,
                                  iocomp_ticket *ticket) {
  iocomp_block block = IOCOMP_0_2_ZERO;
  block.start = start;
  block.count = count;
  block.values = values;
  block.memory_shape = memory_shape;
  block.memory_start = memory_start;
  return iocomp_0_2_put(var, block, buffered, ticket);
}

static inline int iocomp_put_buffered(iocomp_var *var, const int64_t *start, const int64_t *count,
                                      const void *values, iocomp_ticket *ticket) {
  return iocomp_put_from(var, start, count, values, NULL, NULL, 1, ticket);
}

static inline int iocomp_put_decomp(iocomp_var *var, const iocomp_decomp *decomp,
                                    const void *values, int buffered, iocomp_ticket *ticket) {
  iocomp_block block = IOCOMP_0_2_ZERO;
  block.decomp = decomp;
  block.values = values;
  return iocomp_0_2_put(var, block, buffered, ticket);
}

static inline int iocomp_put_rows(iocomp_var *var, const int64_t *count, const void *values,
                                  int buffered, int64_t *first, int64_t *total,
                                  iocomp_ticket *ticket) {
  int64_t start[IOCOMP_MAX_DIMS] = {0};
  const int placed = iocomp_set_rows(1, &var, count, start, total);
  if (placed != IOCOMP_OK) {
    return placed;
  }
  if (first != NULL) {
    *first = start[0];
  }
  return iocomp_put_from(var, start, count, values, NULL, NULL, buffered, ticket);
}

static inline int iocomp_0_2_version(void) { return iocomp_version(NULL); }

static inline const char *iocomp_version_text(void) {
  const char *text = NULL;
  (void)iocomp_version(&text);
  return text;
}
#define iocomp_version iocomp_0_2_version

#ifdef __cplusplus
}
#endif

#endif
