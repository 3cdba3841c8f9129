/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file iocomp.h
 * Parallel output that costs an MPI simulation nothing: the C interface.
 *
 * A function that can fail returns an int: IOCOMP_OK (0) or a code of `iocomp_code`. Then
 * `iocomp_error()` tells the whole story on that rank. Functions that return something else only
 * tell what is known, and cannot fail. All sizes and indices are 64 bits wide, in elements,
 * row-major.
 *
 * A struct that a call takes has its own size as its first member: `.size = sizeof(iocomp_block)`.
 * Members that a program does not need are zero. So later releases can add members, and a program
 * need not be compiled again for them.
 *
 * Call from one thread at a time, whichever it is. Work that a call has begun goes on when its
 * thread ends. MPI_THREAD_SINGLE is enough for calls from the thread that has initialised MPI;
 * calls from other threads need MPI_THREAD_SERIALIZED, as MPI itself asks for. With
 * MPI_THREAD_MULTIPLE, threads of the library write files of some formats beside the program.
 *
 * "Members" are the ranks of the communicator that a file was opened on. "Local" means that a rank
 * may call a function by itself, whatever the others do.
 */
#ifndef IOCOMP_IOCOMP_H
#define IOCOMP_IOCOMP_H

#include <iocomp/export.h>
#include <iocomp/version.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define IOCOMP_ZERO \
  {                 \
  } /* members that a program leaves out, without a warning */
#else
#define IOCOMP_ZERO
#endif

/** One iocomp_init ... iocomp_finalize. */
typedef struct iocomp_session iocomp_session;
/** A named output: a series of steps, or a checkpoint (one file per step, committed atomically). */
typedef struct iocomp_file iocomp_file;
/** A typed N-dimensional global array in a file. Lives as long as its file. */
typedef struct iocomp_var iocomp_var;
/** A named input: the committed steps of a series, or of a set of checkpoints. */
typedef struct iocomp_input iocomp_input;

/** The part that one rank has of an array that is not cut into boxes. Lives until it is freed, at
 * the latest until iocomp_finalize. */
typedef struct iocomp_decomp iocomp_decomp;

/** The result of a put, a small value: copy it as you like, and ask it until iocomp_finalize. */
typedef struct iocomp_ticket {
  iocomp_session *session;
  uint64_t number;
} iocomp_ticket;

/** The reason why a call failed. Values never change; new ones are added at the end. */
typedef enum iocomp_code {
  IOCOMP_OK = 0,
  IOCOMP_INVALID_ARGUMENT = 1, /**< a caller's mistake, found before anything was sent */
  IOCOMP_OUT_OF_STAGING = 2,   /**< staging memory is full and the file says when_full = "error" */
  IOCOMP_STORAGE_FAILURE =
      3, /**< the operating system or the format library refused: full disk, no permission, ... */
  IOCOMP_MPI_FAILURE = 4,     /**< an MPI call failed */
  IOCOMP_INVALID_SETTING = 5, /**< an unknown key, a bad value, or a placement that is impossible */
  IOCOMP_TARGET_EXISTS = 6,   /**< an earlier job has written the target, or another one writes it,
                                 and the file does not say   existing = "replace" or "continue" */
  IOCOMP_INCONSISTENT_CALLS =
      7, /**< ranks called open, define, ... in different order or with different arguments */
  IOCOMP_TIMED_OUT = 8,   /**< what this rank waits for made no progress within the deadline */
  IOCOMP_UNSUPPORTED = 9, /**< a back-end that is not installed, a type that a format cannot hold,
                             or a format that cannot be read */
  IOCOMP_NOT_FOUND = 10,  /**< reading: there is no such file, or nothing of it is committed, or it
                             has no such variable, step or attribute */
  IOCOMP_OVERLAPPING_PUTS = 11, /**< puts of one step cover the same element */
  IOCOMP_INTERNAL = 99
} iocomp_code;

/** The role of a rank. */
typedef enum iocomp_rank_role {
  IOCOMP_COMPUTE = 1,
  IOCOMP_SERVER = 2,
  IOCOMP_BOTH = 3
} iocomp_rank_role;

/** The kind of a file. */
typedef enum iocomp_kind {
  IOCOMP_SERIES = 1, /**< steps are appended to one file */
  IOCOMP_CHECKPOINT =
      2 /**< one file per step, seen under its name only when it is whole and durable */
} iocomp_kind;

/** The progress of a put. Each state includes those before it. */
typedef enum iocomp_state {
  IOCOMP_REUSABLE = 1, /**< the program may change or free the memory that was put */
  IOCOMP_WRITTEN = 2,  /**< the bytes were given to the file system */
  IOCOMP_DURABLE = 3   /**< the bytes were fsynced */
} iocomp_state;

/** Element types. */
typedef enum iocomp_type {
  IOCOMP_INT8 = 1,
  IOCOMP_INT16 = 2,
  IOCOMP_INT32 = 3,
  IOCOMP_INT64 = 4,
  IOCOMP_UINT8 = 5,
  IOCOMP_UINT16 = 6,
  IOCOMP_UINT32 = 7,
  IOCOMP_UINT64 = 8,
  IOCOMP_FLOAT16 = 9, /**< IEEE 754 binary16 */
  IOCOMP_FLOAT32 = 10,
  IOCOMP_FLOAT64 = 11,
  IOCOMP_COMPLEX64 = 12,  /**< two FLOAT32: real, imaginary */
  IOCOMP_COMPLEX128 = 13, /**< two FLOAT64: real, imaginary */
  IOCOMP_CHAR = 14, /**< one byte of text, UTF-8. A variable of shape {n, 80} holds n texts of at
                      most 80 bytes; shorter ones end with zeros. It becomes a string of fixed
                      length in HDF5, NC_CHAR in netCDF, char in ADIOS2. xarray reads text, not
                      bytes, if the variable's attribute "_Encoding" is "utf-8" */
  IOCOMP_BOOL = 15, /**< one byte, 0 or 1. The file has it as INT8 with the text attribute "dtype" =
                       "bool", by which xarray reads truth values; iocomp_read gives bytes */
  IOCOMP_STRING = 16 /**< of attributes alone: a list of texts, an array of `const char *` */
} iocomp_type;

/** The most dimensions a variable may have; a scalar has none. */
#define IOCOMP_MAX_DIMS 8

/**
 * Options for one open, of an output or an input.
 * @param size      sizeof(iocomp_open_options)
 * @param settings  of this file for this open, as TOML text: keys of `[files.<name>]`, such as
 *   path = "out/run7.h5"   and on another line   backend = "hdf5".   They override
 * `[files.default]` and the settings that the program gave to iocomp_init. The settings file and
 * the environment override them for a file of this name. The same text on all members.
 * @param comm   of the members: a sub-communicator of iocomp_comm(). The open is collective over
 * it. NULL: all compute ranks.
 * @param after  the step of its own state from which the program restarts. With the setting
 * `files.*.existing = "continue"` the file loses the steps with higher numbers, and goes on behind
 * this one. One line tells it. No rank may still read those steps. With another setting it changes
 * nothing. NULL: a file that is continued goes on behind its last committed step. Inputs have none.
 */
typedef struct iocomp_open_options {
  size_t size IOCOMP_ZERO;
  const char *settings IOCOMP_ZERO;
  const MPI_Comm *comm IOCOMP_ZERO;
  const int64_t *after IOCOMP_ZERO;
} iocomp_open_options;

/**
 * The definition of a variable, with all options.
 * @param size  sizeof(iocomp_definition)
 * @param name, type, ndims, shape  as of iocomp_define. `type` is that of the values that are put.
 * @param dims  names of the dimensions, `ndims` entries without blanks. They become the text
 * attribute "dimensions", which names the dimensions in netCDF, Zarr and for xarray. NULL: they
 * have none.
 * @param has_time  with `dims`: not 0 if the variable has values in each step of a series. Then
 * "time" stands in front of the names. With 0 it can be put in one step only, as coordinates are.
 * So can a scalar whose `dims` is not NULL and has no names.
 * @param file_type  type of the variable in the file, if it is another one. Values are converted
 * when they are put, see iocomp_put_block. 0: `type`. The setting `type` of the file or of the
 * variable overrides it.
 */
typedef struct iocomp_definition {
  size_t size IOCOMP_ZERO;
  const char *name IOCOMP_ZERO;
  iocomp_type type IOCOMP_ZERO;
  int ndims IOCOMP_ZERO;
  const int64_t *shape IOCOMP_ZERO;
  const char *const *dims IOCOMP_ZERO;
  int has_time IOCOMP_ZERO;
  iocomp_type file_type IOCOMP_ZERO;
} iocomp_definition;

/** Flags for putting a block. */
typedef enum iocomp_put_flag {
  IOCOMP_BUFFERED = 1 /**< the library copies the block, so that the memory is reusable on return.
                         May wait for buffer memory */
} iocomp_put_flag;

/**
 * A block of a variable, and its place in memory.
 * @param size          sizeof(iocomp_block)
 * @param start, count  as of iocomp_put; NULL with a decomposition.
 * @param values        the first element of the local array (not of the block).
 * @param memory_shape  extents of the local array that the block lies in, as arrays with halos have
 * it: row-major, one per dimension. NULL: the block is all of it.
 * @param memory_start  where the block begins in the local array, one per dimension. NULL: at its
 * first element.
 * @param decomp  the part that this rank has of an array that is not cut into boxes. Its shape is
 * the present one of the variable. The values lie in the order of its runs or of its map, together
 * with those that are not written. If that order is not ascending, the library packs them, so they
 * are reusable on return. NULL: a box.
 * @param type   of the values, if it is not that of the definition. 0: the type of the definition.
 * @param flags  of iocomp_put_flag.
 */
typedef struct iocomp_block {
  size_t size IOCOMP_ZERO;
  const int64_t *start IOCOMP_ZERO;
  const int64_t *count IOCOMP_ZERO;
  const void *values IOCOMP_ZERO;
  const int64_t *memory_shape IOCOMP_ZERO;
  const int64_t *memory_start IOCOMP_ZERO;
  const iocomp_decomp *decomp IOCOMP_ZERO;
  iocomp_type type IOCOMP_ZERO;
  int flags IOCOMP_ZERO;
} iocomp_block;

/**
 * A block of a variable to read, and the memory for its values.
 * @param size          sizeof(iocomp_destination)
 * @param start, count  as of iocomp_read.
 * @param values, memory_shape, memory_start  as of iocomp_block.
 * @param type  of the values in memory. 0: that of the variable in the file.
 */
typedef struct iocomp_destination {
  size_t size IOCOMP_ZERO;
  const int64_t *start IOCOMP_ZERO;
  const int64_t *count IOCOMP_ZERO;
  void *values IOCOMP_ZERO;
  const int64_t *memory_shape IOCOMP_ZERO;
  const int64_t *memory_start IOCOMP_ZERO;
  iocomp_type type IOCOMP_ZERO;
} iocomp_destination;

/**
 * Start a session: split the ranks into compute ranks and servers. Without a setting that asks for
 * servers there are none, and all ranks compute. Collective over `comm`.
 * A server stays in this call and serves until the last compute rank finalizes. Then it leaves
 * through MPI_Finalize and exit(0), for which MPI wants the thread that has initialised it. With
 * the setting `server.end = "return"` the call returns instead, and the role is IOCOMP_SERVER.
 * @param comm      call it after MPI_Init. The communicator is duplicated and never used itself.
 * @param settings  settings of the program as TOML text, or NULL. File and environment override
 * them.
 * @return IOCOMP_INVALID_SETTING, the same on all ranks, for settings or placements that are
 * impossible.
 */
IOCOMP_EXPORT int iocomp_init(MPI_Comm comm, const char *settings, iocomp_session **session);

/** The communicator of the compute ranks: use it where MPI_COMM_WORLD stood. MPI_COMM_NULL on a
 * server. Local. It belongs to the session: iocomp_finalize frees it. A library that works with it
 * until MPI_Finalize needs a duplicate (MPI_Comm_dup). */
IOCOMP_EXPORT MPI_Comm iocomp_comm(const iocomp_session *session);

/** The role of this rank; IOCOMP_BOTH if there are no servers. Local. */
IOCOMP_EXPORT iocomp_rank_role iocomp_role(const iocomp_session *session);

/**
 * Should the program stop now? `*stop` is 1 or 0, the same on all compute ranks, and stays 1. It is
 * 1 when a signal of the setting `stop.signals` has come to any of them, or when the end of the job
 * is as near as `stop.at` says. Then write a checkpoint, and finish. Collective over the
 * compute ranks: call it once in a step.
 * Cost: it waits for the slowest rank, asleep, and for a sum of 8 bytes: 0.1 to 0.3 ms on two busy
 * cores. It costs nothing after the first 1.
 */
IOCOMP_EXPORT int iocomp_should_stop(iocomp_session *session, int *stop);

/**
 * Finish: settle all files, release the servers. Collective over the session. Files that are open
 * are closed first.
 * @return the first failure that no call has told yet; it is printed to stderr too.
 */
IOCOMP_EXPORT int iocomp_finalize(iocomp_session *session);

/**
 * Open a file for writing. Path, back-end and mode come from the settings `[files.<name>]`.
 * Collective over the compute ranks, in the same order. It waits for the servers. It waits for
 * other compute ranks only if there are no servers. A name can be open several times, with other
 * paths. A path that is still open is refused with IOCOMP_TARGET_EXISTS.
 * @param name     letters, digits, '-', '_' and '.'; names the file in the settings.
 * @param options  NULL: none. With a communicator, the call is collective over that.
 * @return IOCOMP_TARGET_EXISTS, also for a file of another format that the job should go on with;
 * IOCOMP_STORAGE_FAILURE; IOCOMP_UNSUPPORTED, also if no job can go on with such a file;
 * IOCOMP_INVALID_ARGUMENT; IOCOMP_INVALID_SETTING for settings, naming key, value and what is
 * allowed; IOCOMP_INCONSISTENT_CALLS if members give different steps or settings.
 */
IOCOMP_EXPORT int iocomp_open(iocomp_session *session, const char *name, iocomp_kind kind,
                              const iocomp_open_options *options, iocomp_file **file);

/**
 * Define a variable. Called by all members in the same order; waits for nobody.
 * @param name   unique in the file; '/' groups variables if the format has groups.
 * @param ndims  0 (a scalar) to IOCOMP_MAX_DIMS.
 * @param shape  global extents, `ndims` entries, each >= 0; may be NULL when ndims is 0.
 * @return the same on all members: IOCOMP_INVALID_ARGUMENT for a name that no format can have,
 * IOCOMP_UNSUPPORTED for a name, type or shape that this format cannot hold.
 */
IOCOMP_EXPORT int iocomp_define(iocomp_file *file, const char *name, iocomp_type type, int ndims,
                                const int64_t *shape, iocomp_var **var);

/** The same with options.
 * @return also IOCOMP_INVALID_ARGUMENT for a name of a dimension that is empty or has a blank. */
IOCOMP_EXPORT int iocomp_define_with(iocomp_file *file, const iocomp_definition *definition,
                                     iocomp_var **var);

/**
 * Give a variable another shape from the current step on. Called by all members in the same order,
 * before the caller's first put of the step. Waits for nobody.
 * @return also IOCOMP_UNSUPPORTED after the first step of a format whose variables keep their
 * shapes.
 */
IOCOMP_EXPORT int iocomp_set_shape(iocomp_var *var, const int64_t *shape);

/**
 * Say how many rows this rank has of some variables from the current step on. A row is one index
 * along the first axis. The rows of all members follow one another, in the order of their ranks in
 * the file's communicator, and the variables get the shape for it. Then put them with iocomp_put,
 * from `first` on, as particles are put. Collective over the members, before their first put of the
 * step: unlike a put it waits for all of them, asleep. Cost: a sum and a check of a few bytes over
 * the members, two reductions in all, however many variables. A program that knows its offsets
 * calls iocomp_set_shape, which waits for nobody. Formats whose variables keep their shapes in all
 * steps take other totals in the first step only.
 * @param vars   `nvars` (>= 1) variables of one file, the same on all members; none is a scalar.
 * @param rows   `nvars` numbers >= 0, those of this rank.
 * @param first  where the first row of this rank is, for each; may be NULL.
 * @param total  the rows of all members, for each; may be NULL.
 * @return the same on all members: IOCOMP_INVALID_ARGUMENT if one of them asks for something
 * impossible, IOCOMP_INCONSISTENT_CALLS, IOCOMP_UNSUPPORTED.
 */
IOCOMP_EXPORT int iocomp_set_rows(int nvars, iocomp_var *const *vars, const int64_t *rows,
                                  int64_t *first, int64_t *total);

/**
 * Attach an attribute to a file, or to a variable of it: `count` values of `type`. Called by all
 * members in the same order; waits for nobody. Setting a name again replaces the value.
 * @param var    NULL: the attribute is of the file.
 * @param type   IOCOMP_CHAR makes text, in UTF-8. Zeros at its end are left out. IOCOMP_STRING
 * makes a list of texts.
 * @param count  -1 of a text: up to its zero.
 * @return the same on all members: IOCOMP_INVALID_ARGUMENT for what no format has, as text with a
 * zero inside; IOCOMP_UNSUPPORTED if this one cannot hold it, or values of earlier jobs change.
 */
IOCOMP_EXPORT int iocomp_set_attribute(iocomp_file *file, iocomp_var *var, const char *name,
                                       iocomp_type type, int64_t count, const void *values);

/**
 * Set the value of elements that nobody puts, in a step in which somebody puts other elements of
 * the variable. Without this call their value is 0. The value becomes the attribute "_FillValue" of
 * the variable and holds from the current step on. Called by all members in the same order, before
 * the first put of the step. Waits for nobody.
 * @param value  one element of the type of the definition; of packed numbers, as it is stored.
 */
IOCOMP_EXPORT int iocomp_set_fill(iocomp_var *var, const void *value);

/** A number for iocomp_begin_step: the program cannot finish the current step, because of an error,
 * say. iocomp_close and iocomp_finalize then drop what was put into it, on all members. Such a call
 * is local, and may come after puts. Nothing more can be put. */
#define IOCOMP_DROP_STEP INT64_MIN

/**
 * Give the current step a number and a physical time. Optional: without it a step has the number
 * behind that of the step before, from 0 or from the end of a file that is continued. Called by all
 * members in the same order, with the same values, before the caller's first put of the step. Waits
 * for nobody.
 * @param number  above that of the step before. Names the file of a checkpoint; other calls know
 * the step by it.
 * @param time    in the program's own unit; NaN: none. The file gets it as the scalar variable
 * "time" (FLOAT64). The program may define that variable itself, with another type of number. If
 * nobody puts it in a step, the file gets the time, if the type can hold it.
 */
IOCOMP_EXPORT int iocomp_begin_step(iocomp_file *file, int64_t number, double time);

/**
 * Put one block of a variable into the current step. Local: a rank may put any number of blocks, or
 * none, in any order. Returns before the data reach the file. In synchronous mode it may write
 * before it returns.
 *
 * Puts of one step must not overlap, whichever ranks they come from. Such a step fails with
 * IOCOMP_OVERLAPPING_PUTS. With the setting `files.*.overlap = "any"` nothing is checked, and one
 * of the values is kept.
 * @param start   first global index per dimension; NULL when the variable is a scalar.
 * @param count   extent per dimension, each >= 0; an empty block is allowed and puts nothing. A
 * variable without elements needs an empty put: after it, the step has the variable.
 * @param values  product(count) elements, row-major; keep unchanged until the ticket is
 * IOCOMP_REUSABLE. They may lie in the memory of a GPU, if iocomp was built for that; then they are
 * copied, and reusable on return.
 * @param ticket  where the ticket goes; may be NULL.
 * Cost: no copy of the block by the caller (message transport: the server pulls it where the MPI
 * can).
 */
IOCOMP_EXPORT int iocomp_put(iocomp_var *var, const int64_t *start, const int64_t *count,
                             const void *values, iocomp_ticket *ticket);

/**
 * The same with options. The block may lie inside a larger array, be no box, or have another type,
 * and the library may copy it.
 *
 * Values of another type than the file has are converted: real numbers to any real type, complex
 * ones to the other. Floating-point numbers are rounded to nearest. All else must be exact: an
 * integer must be in the range of its new type, and a number that becomes an integer must be one.
 * If the file has integers of the variable and the attribute "scale_factor" or "add_offset",
 * numbers are packed as the CF conventions (section 8.1) have it, rounded to nearest: stored =
 * (number - add_offset) / scale_factor. NaN becomes "_FillValue" then. These attributes are set in
 * the step of the definition, before its first put. Integers of a variable that was defined with
 * integers are taken as stored.
 * Cost: one look at all values before the block goes on its way, and a copy instead of none.
 * @return also IOCOMP_INVALID_ARGUMENT for types that are not converted, and for a value that the
 * type of the file cannot hold, naming the element. Then nothing was put.
 */
IOCOMP_EXPORT int iocomp_put_block(iocomp_var *var, const iocomp_block *block,
                                   iocomp_ticket *ticket);

/**
 * Describe once the part that this rank has of arrays that are not cut into boxes. Then use it for
 * any number of puts, variables, files and steps. Local: each rank describes its own part. Runs are
 * sorted and joined here, so their order does not matter to the file.
 * Memory: 16 bytes per run, or 32 if runs are not given in ascending order. Each server keeps 16
 * bytes for each run in its part of the file. They travel with the first put that needs them.
 * @param ndims, shape  as of the variables.
 * @param nruns  >= 0; may be 0 on ranks that have nothing.
 * @param first  row-major index in the global array of the first element of each run, from 0. Runs
 * with a negative one (halos, say) are not written.
 * @param count  elements of each run, >= 0. NULL: 1 of each, so that `first` is an index map, as
 * unstructured meshes have it. In memory the runs follow one another in the order that is given
 * here.
 * @return IOCOMP_INVALID_ARGUMENT for a run that leaves the array, or for an element that is there
 * twice.
 */
IOCOMP_EXPORT int iocomp_decompose(iocomp_session *session, int ndims, const int64_t *shape,
                                   int64_t nruns, const int64_t *first, const int64_t *count,
                                   iocomp_decomp **decomp);

/** Free a decomposition. Puts that are on their way go on. NULL is allowed. Local. */
IOCOMP_EXPORT int iocomp_decomp_free(iocomp_decomp *decomp);

/**
 * This rank has put all it has for the current step; the next one begins. Called by all members in
 * the same order. Asynchronous: waits for nobody (but see `steps_in_flight`). Synchronous:
 * collective over the members.
 */
IOCOMP_EXPORT int iocomp_end_step(iocomp_file *file);

/**
 * From its current step on, `file` comes after the files called `name`: a step of it is committed
 * only after steps of those files. These are the steps that its members had ended when they called
 * iocomp_end_step of `file`. If one of these fails, the step of `file` fails too, and tells why. So
 * no checkpoint is ahead of the output that it goes with. Called by all members of `file`, for each
 * `name` once; the setting `files.*.after` says the same. Waits for nobody.
 *
 * If the other file is synchronous, iocomp_end_step of `file` is collective over the members of
 * both. Otherwise it waits for nobody as usual, and the steps are committed in their order in the
 * background. A file of the name may be opened later, and have other members.
 * @return IOCOMP_INVALID_ARGUMENT for files that would come after one another.
 */
IOCOMP_EXPORT int iocomp_after(iocomp_file *file, const char *name);

/** The number of the current step, which this rank has not ended. Local. */
IOCOMP_EXPORT int64_t iocomp_current_step(const iocomp_file *file);

/** Has the ticket reached `state`? `*reached` is 1 or 0. Local. A failed ticket returns its
 * failure. After three unsuccessful calls, the library starts the work that iocomp_wait would
 * start. */
IOCOMP_EXPORT int iocomp_test(const iocomp_ticket *ticket, iocomp_state state, int *reached);

/** Sleep until the ticket has reached `state`. Local. A failed ticket returns its failure, each
 * time it is asked.
 * @return also IOCOMP_INVALID_ARGUMENT for more than IOCOMP_REUSABLE before iocomp_end_step, if
 * that call writes the blocks, or the step as a whole: in synchronous mode (but for posix), with
 * compression, by MPI-IO and ADIOS2. The same for IOCOMP_DURABLE in synchronous mode on several
 * nodes, if the block was cut in short runs. Ranks of other nodes write some of these, and make
 * them durable in iocomp_wait_step, which is collective. */
IOCOMP_EXPORT int iocomp_wait(const iocomp_ticket *ticket, iocomp_state state);

/** The same for all puts of this rank into the file since the last such call with this `state`, so
 * that a program needs no ticket. Local. Returns when each of them has reached `state` or has
 * failed.
 * @return the first failure of these puts, or what iocomp_wait returns. After
 * IOCOMP_INVALID_ARGUMENT, the next such call waits for the same puts again. */
IOCOMP_EXPORT int iocomp_wait_puts(iocomp_file *file, iocomp_state state);

/**
 * Sleep until the step of this number is committed: complete on all members, and durable. With
 * servers it waits for the other members' end_step. Without servers it is collective over the
 * members, and needs calls of the members of files that come before (iocomp_after).
 */
IOCOMP_EXPORT int iocomp_wait_step(iocomp_file *file, int64_t step);

/**
 * Memory for arrays that are put: zeroed, page-aligned. Puts from it cost least. Local.
 * Without servers, and if shared memory has no huge pages, it is private and in huge pages: the
 * kernel or a server reads it at full speed. Otherwise servers of the node write from it in place.
 * @return IOCOMP_OUT_OF_STAGING when there is no such memory.
 */
IOCOMP_EXPORT int iocomp_alloc(iocomp_session *session, size_t bytes, void **memory);

/** Free memory of iocomp_alloc, after the tickets of all puts from it are IOCOMP_REUSABLE. What is
 * not freed is freed at finalize. NULL is allowed. Local. */
IOCOMP_EXPORT int iocomp_free(iocomp_session *session, void *memory);

/** Let data move, for MPIs whose messages move only inside calls. Never waits. Local. */
IOCOMP_EXPORT int iocomp_progress(iocomp_session *session);

/**
 * Close a file. An open step that has puts is ended first. Called by all members in the same order.
 * Returns when the whole file is durable, so it waits until the other members have closed it too.
 * @return the first failure of the file that this rank has not been told yet. The handle is gone in
 * any case.
 */
IOCOMP_EXPORT int iocomp_close(iocomp_file *file);

/**
 * The same without waiting: returns at once, and the file is closed in later calls, at the latest
 * in iocomp_finalize. So a program can write a file for each output time and keep no list of those
 * that are open. Called by all members in the same order. Members of a synchronous file close it
 * here, as iocomp_close does. The handle is gone in any case.
 * @param ticket  where the ticket goes; may be NULL. It is IOCOMP_REUSABLE when the memory of
 * all puts of the file is free, whatever became of them. It is IOCOMP_WRITTEN and IOCOMP_DURABLE
 * when all of the file is committed; otherwise it tells the first failure of the file.
 * iocomp_finalize tells failures that nobody has asked for.
 */
IOCOMP_EXPORT int iocomp_close_later(iocomp_file *file, iocomp_ticket *ticket);

/**
 * Open the files of `[files.<name>]` for reading: a series, or the checkpoints that are there. It
 * does not matter who wrote them, with how many ranks or in which mode. Collective over the compute
 * ranks; waits for them.
 *
 * One rank looks at the disk and the others learn from it, so all see the same committed steps. To
 * see steps that are committed later, open again. If this job writes files of the same name, close
 * them first.
 *
 * If each step has a file of its own, torn files are left out. A torn file is shorter than its
 * manifest says, or is no file of its format. The log (level warning) and iocomp_input_left_out
 * tell of it. Reading that step fails with IOCOMP_STORAGE_FAILURE and the cause.
 * @param options  NULL: none. Settings may be `path`, `backend`, `kind`, `checksum` and others.
 * With a communicator, the call is collective over that.
 * @return the same on all ranks: IOCOMP_NOT_FOUND when there is no such file or none of it is
 * committed, IOCOMP_STORAGE_FAILURE when it cannot be read or is shorter than its manifest says,
 * IOCOMP_UNSUPPORTED for a back-end that cannot read or a file of a later release.
 */
IOCOMP_EXPORT int iocomp_open_input(iocomp_session *session, const char *name,
                                    const iocomp_open_options *options, iocomp_input **input);

/**
 * Open the step to restart from for reading: the newest committed one in the files of
 * `[files.<name>]`. Collective over the compute ranks; waits for them.
 * @param options  as of iocomp_open_input.
 * @param step   its number; -1 if nothing is committed yet. That is no failure: the program starts
 * from the beginning, and `*input` is NULL. May be NULL.
 * @param time   its physical time, NaN if none is known. May be NULL.
 * @return as iocomp_open_input, but never IOCOMP_NOT_FOUND.
 */
IOCOMP_EXPORT int iocomp_latest(iocomp_session *session, const char *name,
                                const iocomp_open_options *options, int64_t *step, double *time,
                                iocomp_input **input);

/**
 * The committed steps, ascending: the newest is `steps[count - 1]`. Local. What this call and those
 * below hand out is valid until the input is closed; pointers to what is not wanted may be NULL.
 */
IOCOMP_EXPORT int iocomp_input_steps(const iocomp_input *input, int64_t *count,
                                     const int64_t **steps);

/** The steps that were left out because their files are torn, ascending, and the cause of each,
 * which names the file. Local. */
IOCOMP_EXPORT int iocomp_input_left_out(const iocomp_input *input, int64_t *count,
                                        const int64_t **steps, const char *const **causes);

/** Physical time of a committed step, as its writer has said. Otherwise it is the scalar variable
 * "time", a real number; NaN if none is known. Local.
 * @param step  -1: the newest.
 * @return IOCOMP_NOT_FOUND when there is no such step. */
IOCOMP_EXPORT int iocomp_input_time(iocomp_input *input, int64_t step, double *time);

/** The names of the variables of all steps together, in the order of definition. Local. */
IOCOMP_EXPORT int iocomp_input_variables(const iocomp_input *input, int64_t *count,
                                         const char *const **names);

/**
 * Type and global extents of a variable in a step. Local.
 * @param step   -1: the newest step that has the variable.
 * @param shape  `ndims` entries.
 * @return IOCOMP_NOT_FOUND, naming the nearest there is, when there is no such variable, step, or
 * variable in that step.
 */
IOCOMP_EXPORT int iocomp_input_variable(const iocomp_input *input, const char *variable,
                                        int64_t step, iocomp_type *type, int *ndims,
                                        const int64_t **shape);

/** The names of the attributes of the file (`variable` NULL), or of a variable, in the newest step,
 * in alphabetical order. Local. */
IOCOMP_EXPORT int iocomp_input_attributes(const iocomp_input *input, const char *variable,
                                          int64_t *count, const char *const **names);

/**
 * An attribute of the file (`variable` NULL), or of a variable. Local.
 * @param type    IOCOMP_CHAR of a text, IOCOMP_STRING of a list of texts.
 * @param count   of the values; of a text its length in bytes, without the zero.
 * @param values  `count` values of the type; a text ends with a zero.
 * @return IOCOMP_NOT_FOUND, naming those there are.
 */
IOCOMP_EXPORT int iocomp_input_attribute(const iocomp_input *input, const char *variable,
                                         const char *name, iocomp_type *type, int64_t *count,
                                         const void **values);

/**
 * Read one block of a variable in a step: any box, however the variable was cut when it was
 * written. Local: each rank reads what it likes, any number of times. Returns when the values are
 * there.
 * @param step    -1: the newest step that has the variable.
 * @param start   first global index per dimension; NULL when the variable is a scalar.
 * @param count   extent per dimension, each >= 0; an empty block reads nothing.
 * @param values  room for product(count) elements of the variable's type, row-major.
 * @return IOCOMP_NOT_FOUND when there is no such variable, step, or variable in that step;
 * IOCOMP_UNSUPPORTED if it has another type or number of dimensions there than in the newest step,
 * which iocomp_read_block reads; IOCOMP_INVALID_ARGUMENT for a box outside the array;
 * IOCOMP_STORAGE_FAILURE, also if a block that lies wholly in the box has another checksum than
 * when it was put (setting `checksum`). After a failure `values` may be changed in part.
 * Cost: reads long runs straight into `values`. Reads short ones with the bytes between them, at
 * most 8 MiB at a time, and copies them out.
 */
IOCOMP_EXPORT int iocomp_read(iocomp_input *input, const char *variable, int64_t step,
                              const int64_t *start, const int64_t *count, void *values);

/**
 * The same with options. The values may go into a box of a larger local array, such as one with
 * halos, whose rest stays untouched. They may have another type.
 *
 * Values of another type are converted as by iocomp_put_block. Integers of a variable with the
 * attribute "scale_factor" or "add_offset" are unpacked if floating-point numbers are asked for:
 * number = stored * scale_factor + add_offset, and "_FillValue" becomes NaN.
 * @return also IOCOMP_INVALID_ARGUMENT for types that are not converted, and for a value that the
 * type asked for cannot hold, naming the element.
 * Cost: converted values are first read into memory of their own.
 */
IOCOMP_EXPORT int iocomp_read_block(iocomp_input *input, const char *variable, int64_t step,
                                    const iocomp_destination *destination);

/** Close an input; iocomp_finalize closes those that are open. NULL is allowed. Local. */
IOCOMP_EXPORT int iocomp_close_input(iocomp_input *input);

/** The full story of the last failure on this rank: file, variable, step, server and cause. Valid
 * until the next failure. */
IOCOMP_EXPORT const char *iocomp_error(void);

/** A short name of a code, such as "storage failure". */
IOCOMP_EXPORT const char *iocomp_code_name(int code);

/** The release of the library that runs, as a number that compares: 1002003 is 1.2.3. That of the
 * header is IOCOMP_VERSION. @param text  the same as text, "1.2.3"; may be NULL. */
IOCOMP_EXPORT int iocomp_version(const char **text);

/** Bytes of one element, or 0 for an unknown type. */
IOCOMP_EXPORT size_t iocomp_type_size(iocomp_type type);

/** The settings in force as text, one per line: key, value, origin. Valid until finalize. Local. */
IOCOMP_EXPORT const char *iocomp_settings(iocomp_session *session);

#ifdef __cplusplus
}
#endif

#ifdef IOCOMP_API_0_2
#include <iocomp/v0_2.h>
#endif

#endif
