// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! The face of the MPI backend: needs <mpi.h> and an MPI to link with.
#pragma once

#include <tpoverlap/host.hpp>
#include <tpoverlap/mpi/communicator.hpp>
#include <tpoverlap/mpi/communicator_options.hpp>
#include <tpoverlap/mpi/environment.hpp>
#include <tpoverlap/mpi/error.hpp>
