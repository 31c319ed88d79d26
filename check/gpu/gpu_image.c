/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_image.c - the kernels as they are built into the program */
#include "check/gpu/gpu_image.h"

/* for a build without nvcc */
__attribute__((weak, visibility("hidden"))) const char osp_image_all[1];

/* PTX 6.5 came with CUDA 10.2, 7.0 with 11.0, 8.4 with 12.4. */
static const struct osp_gpu_image images[] = {
	{"sm_89", osp_image_sm_89, 89, 12040},
	{"sm_80", osp_image_sm_80, 80, 11000},
	{"sm_75", osp_image_sm_75, 75, 10020},
};

static const size_t image_count = sizeof(images) / sizeof(images[0]);

static bool fits(const struct osp_gpu_image *image, int capability, int driver)
{
	return capability >= image->capability && driver >= image->driver;
}

bool osp_gpu_image_get(size_t index, int capability, int driver, struct osp_gpu_image *image)
{
	const struct osp_gpu_image fatbin = {"fatbin", osp_image_all, 75, osp_gpu_image_cuda};

	if (osp_gpu_image_cuda && fits(&fatbin, capability, driver) && index-- == 0) {
		*image = fatbin;
		return true;
	}
	for (size_t i = 0; i < image_count; i++) {
		if (!fits(&images[i], capability, driver) || index--)
			continue;
		*image = images[i];
		return true;
	}
	return false;
}
