/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu_image.h - the kernels as they are built into the program
 *
 * A fat binary for every architecture, if nvcc was available at build time; only a driver of its
 * CUDA release or a later one loads it. And always the PTX of kernels/ptx, lowered to the oldest
 * version that its instructions allow, which the driver compiles at load. Pure but for the images;
 * any thread.
 */
#ifndef OSP_GPU_IMAGE_H
#define OSP_GPU_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct osp_gpu_image {
	const char *name; /* "fatbin", "sm_80" */
	const void *data; /* a fat binary, or PTX terminated as a string */
	int capability;	  /* the least capability that it runs on: 10 * major + minor */
	int driver; /* the least CUDA release of a driver, as cuDriverGetVersion() returns it */
};

/* Returns the index-th image to try on such a GPU under such a driver, the best first; false if
 * there are no more. */
bool osp_gpu_image_get(size_t index, int capability, int driver, struct osp_gpu_image *image);

/* The CUDA release of the fat binary, set by the Makefile; 0: there is none. */
extern const int osp_gpu_image_cuda;
extern const char osp_image_all[], osp_image_sm_75[], osp_image_sm_80[], osp_image_sm_89[];

#endif
