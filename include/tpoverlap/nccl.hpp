// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the NCCL communicators: needs the CUDA toolkit and NCCL 2.19 or newer; compiles with any compiler.
#pragma once

#include <tpoverlap/cuda/backend.hpp>
#include <tpoverlap/cuda/nccl_communicator.hpp>
#include <tpoverlap/cuda/nccl_communicator_ref.hpp>
#include <tpoverlap/cuda/nccl_error.hpp>
#include <tpoverlap/cuda/nccl_options.hpp>
#include <tpoverlap/cuda/resource_budget.hpp>
