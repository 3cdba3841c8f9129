/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file reader.h
 * The calls of libiocomp_reader.so for the Python package: reading, without MPI and a session.
 *
 * No public interface: library and package come from one release. Every function that returns int
 * returns 0 or a code of `iocomp_code`; iocomp_reader_error() then has the story. Any number of
 * threads may call, for one reader too, but nobody may use a reader that is being closed. Pointers
 * that are given out are valid until the reader is closed.
 */
#ifndef IOCOMP_READER_H
#define IOCOMP_READER_H

#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** The steps that were committed under a path when it was opened. */
typedef struct iocomp_reader iocomp_reader;

/** The release of the library: "0.3.0". */
const char *iocomp_reader_version(void);

/** The story of the last failure of this thread. */
const char *iocomp_reader_error(void);

/** Is there a module that reads files of a format? 1 or 0. */
int iocomp_reader_reads(const char *format);

/**
 * Open what iocomp wrote, or another program.
 * @param path           of a file, with or without its extension; of checkpoints without the
 * number.
 * @param use_manifest   0: believe the file alone.
 */
int iocomp_reader_open(const char *path, int use_manifest, iocomp_reader **reader);

/** NULL is allowed. */
void iocomp_reader_close(iocomp_reader *reader);

/**
 * The contents, as JSON: {"path", "files": [{"path", "format"}], "attributes": {}, "variables":
 * [{"name", "attributes": {}}], "left_out": {step: story}}. Attributes are as in a manifest.
 */
int iocomp_reader_description(iocomp_reader *reader, const char **json);

/**
 * The committed steps, ascending.
 * @param times    as the program told them; NaN where it did not.
 * @param files    the file of each, counted as in the description.
 * @param in_file  what the file calls it.
 */
int iocomp_reader_steps(iocomp_reader *reader, int64_t *count, const int64_t **numbers,
                        const double **times, const int32_t **files, const int64_t **in_file);

/**
 * The steps in which a variable has values.
 * @param variable    counted as in the description.
 * @param steps       `count` numbers, ascending.
 * @param types       of iocomp_type, in each step.
 * @param dimensions  in each step.
 * @param shapes      8 extents for each step; those behind `dimensions` are 0.
 */
int iocomp_reader_places(iocomp_reader *reader, int variable, int64_t *count, const int64_t **steps,
                         const int32_t **types, const int32_t **dimensions, const int64_t **shapes);

/**
 * Read a box of a variable.
 * @param start, count   of the box, an entry for each dimension.
 * @param values         place for the elements, row-major, in the byte order of the machine.
 * @param memory         extents of the local array whose first corner is the box; NULL: those of
 * the box.
 * @param type           of iocomp_type, to which values are converted; 0: that of the variable.
 */
int iocomp_reader_read(iocomp_reader *reader, int variable, int64_t step, const int64_t *start,
                       const int64_t *count, void *values, const int64_t *memory, int type);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
