/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins of HDF5 for tests. The filter turns all bytes of a chunk by a key, which it makes of a
 * value in the settings and of the size of elements. It leaves chunks as they are whose bytes have
 * an odd sum, and it takes only elements of four or eight bytes. With ASKS it is told which HDF5 it
 * is for, as the plug-ins of the Python package hdf5plugin are; else it was linked with one. */
#include <H5PLextern.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

#ifdef ASKS
enum { number = 301 };
static size_t (*size_of_type)(hid_t);
static herr_t (*modify)(hid_t, H5Z_filter_t, unsigned, size_t, const unsigned*);
static herr_t (*get)(hid_t, H5Z_filter_t, unsigned*, size_t*, unsigned*, size_t, char*, unsigned*);

int init_filter(const char* library) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == NULL) {
    return -1;
  }
  *(void**)&size_of_type = dlsym(handle, "H5Tget_size");
  *(void**)&modify = dlsym(handle, "H5Pmodify_filter");
  *(void**)&get = dlsym(handle, "H5Pget_filter_by_id2");
  return 0;
}
#else
enum { number = 300 };
static size_t (*const size_of_type)(hid_t) = &H5Tget_size;
static herr_t (*const modify)(hid_t, H5Z_filter_t, unsigned, size_t,
                              const unsigned*) = &H5Pmodify_filter;
static herr_t (*const get)(hid_t, H5Z_filter_t, unsigned*, size_t*, unsigned*, size_t, char*,
                           unsigned*) = &H5Pget_filter_by_id2;
#endif

static htri_t can_apply(hid_t create, hid_t type, hid_t space) {
  (void)create;
  (void)space;
  return size_of_type != NULL && (size_of_type(type) == 4 || size_of_type(type) == 8);
}

static herr_t set_local(hid_t create, hid_t type, hid_t space) {
  (void)space;
  unsigned flags = 0;
  unsigned values[3] = {0, 0, 0};
  size_t count = 1;
  if (get(create, number, &flags, &count, values, 0, NULL, NULL) < 0) {
    return -1;
  }
  values[1] = (unsigned)size_of_type(type);
  return modify(create, number, flags, 2, values);
}

static size_t filter(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                     size_t* room, void** buffer) {
  unsigned char* const chunk = *buffer;
  unsigned sum = 0;
  (void)room;
  for (size_t i = 0; i < bytes; ++i) {
    sum += chunk[i];
  }
  if (count < 2 || ((flags & H5Z_FLAG_REVERSE) == 0 && (sum & 1U) != 0)) {
    return 0;
  }
  for (size_t i = 0; i < bytes; ++i) {
    chunk[i] ^= (unsigned char)(values[0] + 16 * values[1]);
  }
  return bytes;
}

static const H5Z_class2_t description = {
    H5Z_CLASS_T_VERS, number, 1, 1, "xor of a test", can_apply, set_local, filter,
};

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info(void) { return &description; }
