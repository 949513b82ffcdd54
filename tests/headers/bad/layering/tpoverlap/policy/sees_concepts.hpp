// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: two layers of one height see each other.
#pragma once

#include <tpoverlap/concepts/backend.hpp>
