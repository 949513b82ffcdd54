// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the CUDA backend: needs the CUDA toolkit, and cuBLASLt to link with where `cublaslt_gemm` is used; compiles with
//! any compiler.
#pragma once

#include <tpoverlap/cuda/backend.hpp>
#include <tpoverlap/cuda/bucket_addition.hpp>
#include <tpoverlap/cuda/captured.hpp>
#include <tpoverlap/cuda/cublas_error.hpp>
#include <tpoverlap/cuda/cublaslt_gemm.hpp>
#include <tpoverlap/cuda/device_guard.hpp>
#include <tpoverlap/cuda/element.hpp>
#include <tpoverlap/cuda/error.hpp>
#include <tpoverlap/cuda/event.hpp>
#include <tpoverlap/cuda/resource_budget.hpp>
#include <tpoverlap/cuda/stream.hpp>
