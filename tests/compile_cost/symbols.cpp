// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! A large schedule in an object file: its symbols are named by policy and world, not by the program.

#include <tpoverlap/overlap.hpp>

using tpoverlap::consumer_before_reduction;
using tpoverlap::reduction;
using tpoverlap::reduction_result;
using tpoverlap::ring;

using all_reduce_ring = tpoverlap::schedule<
    consumer_before_reduction<ring{.chunks = 4}, reduction{.result = reduction_result::all_reduce}>, 16>;

tpoverlap::operation const* operations() { return all_reduce_ring::program.operations; }
tpoverlap::program_view const* program() { return &all_reduce_ring::program; }
