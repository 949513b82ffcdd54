// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Starting afresh.
#include "api_call.hpp"
#include "capture.hpp"
#include "memory.hpp"

namespace software_device {

// One for each file with state of its own.
void forget_calls();
void forget_attributes();
void forget_all_executables();
void forget_all_communicators();
void forget_all_products();

void reset(int devices) {
  call_frame const frame;
  end_all_streams();
  forget_all_executables();
  forget_all_graphs();
  forget_all_communicators();
  forget_all_products();
  forget_all_memory();
  forget_attributes();
  forget_calls();
  restart(devices);
  this_thread().device = 0;
  this_thread().last_error = cudaSuccess;
  this_thread().capture_mode = cudaStreamCaptureModeGlobal;
}

}  // namespace software_device
