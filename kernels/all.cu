/* SPDX-License-Identifier: GPL-2.0-or-later */
/* all.cu - every kernel, as one module; written into the program as a fat binary, and as PTX */
#include "kernels/memory.cu"
#include "kernels/product.cu"
#include "kernels/sm.cu"
#include "kernels/tensor.cu"
