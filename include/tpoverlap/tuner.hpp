// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the tuner: measures which policy is fastest where it runs and keeps that, or recommends one from a model.
#pragma once

#include <tpoverlap/overlap.hpp>
#include <tpoverlap/tuner/recommend.hpp>
#include <tpoverlap/tuner/tuned_overlap.hpp>
