// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Recording what a schedule did and when, for any backend that can tell the time in stream order.
#pragma once

#include <tpoverlap/trace/chrome_trace.hpp>
#include <tpoverlap/trace/event.hpp>
#include <tpoverlap/trace/recorder.hpp>
