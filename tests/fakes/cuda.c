/* SPDX-FileCopyrightText: 2026 The model-analyzer authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pretend CUDA driver (libcuda.so.1): memory of the machine in place of that of a GPU, and no
 * more than FAKE_CUDA_MB of it at once. */

#include <stdlib.h>
#include <string.h>

enum { INVALID_CONTEXT = 201, OUT_OF_MEMORY = 2 };

static char context;
static char *current;

int cuInit(unsigned flags) { return flags; }

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **made, int device) {
  (void)device;
  *made = &context;
  return 0;
}

int cuCtxSetCurrent(void *given) {
  current = given;
  return current == &context ? 0 : INVALID_CONTEXT;
}

int cuMemAlloc_v2(unsigned long long *address, size_t size) {
  const char *most = getenv("FAKE_CUDA_MB");
  if (current != &context) return INVALID_CONTEXT;
  if (most && size > (size_t)atoi(most) << 20) return OUT_OF_MEMORY;
  *address = (unsigned long long)malloc(size);
  return *address ? 0 : OUT_OF_MEMORY;
}

int cuMemFree_v2(unsigned long long address) {
  free((void *)address);
  return 0;
}

int cuMemsetD8_v2(unsigned long long address, unsigned char value, size_t size) {
  memset((void *)address, value, size);
  return 0;
}

int cuMemcpyDtoD_v2(unsigned long long target, unsigned long long source, size_t size) {
  memcpy((void *)target, (void *)source, size);
  return 0;
}

int cuCtxSynchronize(void) { return current == &context ? 0 : INVALID_CONTEXT; }

int cuDevicePrimaryCtxRelease_v2(int device) { return device < 0; }
