// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The kernels of the CUDA backend.

#include <tpoverlap/cuda/bucket_addition.cuh>
