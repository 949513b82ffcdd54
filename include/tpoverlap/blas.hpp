// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the BLAS binding: needs <cblas.h> and a BLAS to link with.
#pragma once

#include <tpoverlap/host/blas_gemm.hpp>
