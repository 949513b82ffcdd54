// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: a vendor header outside of its backend.
#pragma once

#include <mpi.h>
