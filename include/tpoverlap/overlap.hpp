// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Everything that is generated and nothing that runs by itself: policies, strategies, proven schedules, and `overlap`.
#pragma once

#include <tpoverlap/overlap/dispatch_world.hpp>
#include <tpoverlap/overlap/gather_overlap.hpp>
#include <tpoverlap/overlap/reduction_overlap.hpp>
#include <tpoverlap/overlap/side_overlap.hpp>
#include <tpoverlap/schedule/schedule.hpp>
#include <tpoverlap/strategies/gather_strategies.hpp>
#include <tpoverlap/strategies/reduction_strategies.hpp>
#include <tpoverlap/strategies/side_strategies.hpp>
