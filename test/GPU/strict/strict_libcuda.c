/*===- strict_libcuda.c - a driver that computes nothing and forgives nothing -===//
//
// A libcuda.so.1 for machines without a GPU. Device memory is memory of the host, copies are copies, a launch does
// nothing. It refuses what a real driver refuses, as the emulator (test/Emulator) does, which a program calls directly:
// calls by a thread without a context, calls that a capture forbids, shared memory that was not asked for, grids that
no
// device takes, copies between places that overlap. So the way from dlopen to the last release is walked on every
// machine. Each refusal is one line on standard error, and an error of the driver's own number.
//
//===----------------------------------------------------------------------===*/
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

enum {
  kSuccess = 0,
  kInvalidValue = 1,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNotFound = 500,
  kCaptureUnsupported = 900,
};
enum { kMultiprocessors = 16, kCapabilityMajor = 75, kCapabilityMinor = 76, kMostDynamicShared = 8 };
enum { kSharedForAll = 48 << 10, kMostShared = 227 << 10, kMostThreads = 1024, kMostKernels = 4096 };

static __thread int has_context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int capturing, launches, graphs;

static struct kernel {
  char name[256];
  int shared; /* bytes of dynamic shared memory that were asked for */
} kernels[kMostKernels];
static size_t kernel_count;

/** Page-locked memory, which copies inside of a capture need. */
static struct {
  const char *begin;
  size_t bytes;
} locked[4096];
static size_t locked_count;

static int refuse(int error, const char *function, const char *why) {
  fprintf(stderr, "strict libcuda: %s: %s\n", function, why);
  return error;
}
#define NEEDS_CONTEXT                                                                                                  \
  if (!has_context)                                                                                                    \
    return refuse(kInvalidContext, __func__, "this thread has no context");
#define NOT_IN_CAPTURE                                                                                                 \
  if (capturing)                                                                                                       \
    return refuse(kCaptureUnsupported, __func__, "not while a stream is captured");

static int is_locked(const void *address, size_t bytes) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < locked_count; ++i)
    found |=
        (const char *)address >= locked[i].begin && (const char *)address + bytes <= locked[i].begin + locked[i].bytes;
  pthread_mutex_unlock(&lock);
  return found;
}

/*===----------------------------------------------------------------------===*/
/* The device. */

int cuInit(unsigned flags) { return flags ? kInvalidValue : kSuccess; }
int cuDriverGetVersion(int *version) { return *version = 13000, kSuccess; }
int cuGetErrorName(int error, const char **text) {
  *text = error == kInvalidContext       ? "CUDA_ERROR_INVALID_CONTEXT"
          : error == kCaptureUnsupported ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
          : error == kInvalidImage       ? "CUDA_ERROR_INVALID_IMAGE"
          : error == kNotFound           ? "CUDA_ERROR_NOT_FOUND"
                                         : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}
int cuGetErrorString(int error, const char **text) { return cuGetErrorName(error, text); }
int cuDeviceGetCount(int *count) { return *count = 1, kSuccess; }
int cuDeviceGet(int *device, int ordinal) { return *device = 0, ordinal ? 101 : kSuccess; }
int cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "strict libcuda");
  return kSuccess;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == kMultiprocessors ? 132 : attribute == kCapabilityMajor ? 9 : 0;
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  return *context = &has_context, kSuccess;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  fprintf(stderr, "strict libcuda: %d launches, %d graphs\n", launches, graphs);
  return kSuccess;
}
int cuCtxSetCurrent(void *context) { return has_context = context != NULL, kSuccess; }

/*===----------------------------------------------------------------------===*/
/* Memory and copies. */

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  NEEDS_CONTEXT
  return *free_bytes = *total = (size_t)1 << 36, kSuccess;
}
int cuMemAlloc_v2(Address *address, size_t bytes) {
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  void *memory = bytes ? aligned_alloc(512, (bytes + 511) / 512 * 512) : NULL;
  *address = (Address)(uintptr_t)memory;
  return memory ? kSuccess : refuse(kInvalidValue, __func__, "no bytes, or no memory");
}
int cuMemFree_v2(Address address) {
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  free((void *)(uintptr_t)address);
  return kSuccess;
}
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  (void)flags;
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  if (!(*address = calloc(1, bytes)))
    return refuse(kInvalidValue, __func__, "no bytes, or no memory");
  pthread_mutex_lock(&lock);
  if (locked_count < sizeof locked / sizeof *locked) {
    locked[locked_count].begin = *address;
    locked[locked_count++].bytes = bytes;
  }
  pthread_mutex_unlock(&lock);
  return kSuccess;
}
int cuMemFreeHost(void *address) {
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < locked_count; ++i)
    if (locked[i].begin == address)
      locked[i--] = locked[--locked_count];
  pthread_mutex_unlock(&lock);
  free(address);
  return kSuccess;
}

static int copy(const char *function, void *to, const void *from, size_t bytes, const void *host) {
  if (!has_context)
    return refuse(kInvalidContext, function, "this thread has no context");
  if (capturing && host && !is_locked(host, bytes))
    return refuse(kCaptureUnsupported, function, "memory that is not page-locked, while a stream is captured");
  const char *a = to, *b = from;
  if (bytes && a < b + bytes && b < a + bytes)
    return refuse(kInvalidValue, function, "the two places overlap");
  memcpy(to, from, bytes);
  return kSuccess;
}
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  return copy(__func__, (void *)(uintptr_t)to, from, bytes, from);
}
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) {
  (void)stream;
  return copy(__func__, to, (const void *)(uintptr_t)from, bytes, to);
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *stream) {
  (void)stream;
  return copy(__func__, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, NULL);
}
int cuMemsetD8Async(Address to, unsigned char value, size_t bytes, void *stream) {
  (void)stream;
  NEEDS_CONTEXT
  memset((void *)(uintptr_t)to, value, bytes);
  return kSuccess;
}

/*===----------------------------------------------------------------------===*/
/* Streams and graphs. */

int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  NEEDS_CONTEXT
  return *stream = &capturing, kSuccess;
}
int cuStreamDestroy_v2(void *stream) {
  (void)stream;
  return kSuccess;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  return kSuccess;
}
/** Events are addresses of the numbers that they were recorded as. */
int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  NEEDS_CONTEXT
  return (*event = calloc(1, sizeof(int))) ? kSuccess : kInvalidValue;
}
int cuEventRecord(void *event, void *stream) {
  (void)stream;
  NEEDS_CONTEXT
  return *(int *)event = 1 + launches, kSuccess;
}
int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  if (!*(int *)begin || !*(int *)end)
    return refuse(kInvalidValue, __func__, "an event that was not recorded");
  return *milliseconds = (float)(*(int *)end - *(int *)begin), kSuccess;
}
int cuEventDestroy_v2(void *event) { return free(event), kSuccess; }
int cuStreamBeginCapture_v2(void *stream, int mode) {
  (void)stream;
  (void)mode;
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  return capturing = 1, kSuccess;
}
int cuStreamEndCapture(void *stream, void **graph) {
  (void)stream;
  NEEDS_CONTEXT
  if (!capturing)
    return refuse(kInvalidValue, __func__, "no stream is captured");
  capturing = 0;
  ++graphs;
  return *graph = &graphs, kSuccess;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  (void)flags;
  NOT_IN_CAPTURE
  return *exec = graph, kSuccess;
}
int cuGraphLaunch(void *exec, void *stream) {
  (void)exec;
  (void)stream;
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  return kSuccess;
}
int cuGraphDestroy(void *graph) { return graph ? kSuccess : kInvalidValue; }
int cuGraphExecDestroy(void *exec) { return exec ? kSuccess : kInvalidValue; }

/*===----------------------------------------------------------------------===*/
/* Kernels. */

int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  (void)count;
  (void)options;
  (void)values;
  NEEDS_CONTEXT
  NOT_IN_CAPTURE
  const char *bytes = image;
  if (strncmp(bytes, "//", 2) != 0 && strncmp(bytes, "\177ELF", 4) != 0)
    return refuse(kInvalidImage, __func__, "neither PTX nor a cubin");
  return *module = kernels, kSuccess;
}
int cuModuleUnload(void *module) { return module ? kSuccess : kInvalidValue; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  (void)module;
  NEEDS_CONTEXT
  if (kernel_count == kMostKernels)
    return refuse(kNotFound, __func__, "more than 4096 kernels");
  struct kernel *kernel = &kernels[kernel_count++];
  snprintf(kernel->name, sizeof kernel->name, "%s", name);
  return *function = kernel, kSuccess;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  NEEDS_CONTEXT
  if (attribute != kMostDynamicShared || value < 0 || value > kMostShared)
    return refuse(kInvalidValue, __func__, "expected dynamic shared memory of at most 227 KiB");
  ((struct kernel *)function)->shared = value;
  return kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
  (void)function;
  NEEDS_CONTEXT
  *blocks = threads > 0 && threads <= kMostThreads && shared <= kMostShared ? 2 : 0;
  return kSuccess;
}
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra) {
  (void)stream;
  (void)extra;
  NEEDS_CONTEXT
  const struct kernel *kernel = function;
  char why[400];
  ++launches;
  if (shared > kSharedForAll && shared > (unsigned)kernel->shared) {
    snprintf(why, sizeof why, "%s wants %u bytes of shared memory, %d were asked for", kernel->name, shared,
             kernel->shared);
    return refuse(kInvalidValue, __func__, why);
  }
  uint64_t threads = (uint64_t)block_x * block_y * block_z;
  if (!grid_x || grid_x > INT32_MAX || !grid_y || grid_y > 65535 || !grid_z || grid_z > 65535 || !threads ||
      threads > kMostThreads || !arguments) {
    snprintf(why, sizeof why, "%s: no device takes a grid of %u x %u x %u blocks of %u x %u x %u threads", kernel->name,
             grid_x, grid_y, grid_z, block_x, block_y, block_z);
    return refuse(kInvalidValue, __func__, why);
  }
  return kSuccess;
}
