// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the host backend: threads as streams and ranks. Needs no other library.
#pragma once

#include <tpoverlap/host/backend.hpp>
#include <tpoverlap/host/communicator.hpp>
#include <tpoverlap/host/communicator_options.hpp>
#include <tpoverlap/host/event.hpp>
#include <tpoverlap/host/link_model.hpp>
#include <tpoverlap/host/reference_gemm.hpp>
#include <tpoverlap/host/run_ranks.hpp>
#include <tpoverlap/host/stream.hpp>
#include <tpoverlap/host/world.hpp>
