// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Groups of NCCL calls, of the calling thread.
#pragma once

#include <nccl.h>

#include <functional>

namespace software_device {

/// Communicators are not made in a group that holds communication.
ncclResult_t refuse_in_group_of_tasks();

/// Runs `finish` now, or at the end of the group that is open: until then a rank that has joined must not wait for
/// others that the same thread brings.
ncclResult_t finish_now_or_at_group_end(std::function<ncclResult_t()> finish);

}  // namespace software_device
