// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! What the command line asks for.
#pragma once

#include <tpoverlap/policy/dependency.hpp>

#include <optional>

enum class dependency_class { gather, reduction, side_work };
enum class policy { blocking, ring, direct, pipeline, all_gather, reduce_scatter, all_reduce };
enum class output_format { all, text, dot, grid };

struct choices {
  dependency_class edge = dependency_class::gather;
  policy strategy = policy::ring;
  int ranks = 4;
  int chunks = 1;
  int depth = 0;
  tpoverlap::chunk_ratio ratio;
  tpoverlap::direction way = tpoverlap::direction::forward;
  tpoverlap::gather gather;
  tpoverlap::reduction reduction;
  int rank = 0;
  output_format format = output_format::all;
};

/// Reads the command line. Returns nothing when there is nothing left to do: help was asked for (`status` 0), or the
/// input makes no sense, and a sentence on stderr says why (`status` 2).
std::optional<choices> read_command_line(int argc, char** argv, int& status);
