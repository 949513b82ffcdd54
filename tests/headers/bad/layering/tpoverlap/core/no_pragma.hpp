// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Bad sample: can be included twice.

namespace tpoverlap {}
