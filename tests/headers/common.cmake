# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# For the header scripts. Sets `headers` to those to compile, relative to include/tpoverlap, and `vendor_flags`.
# Takes COMPILER, INCLUDE_DIR, FLAGS, ONLY (a list of headers), and BLAS_, MPI_, CUDA_ and NCCL_INCLUDE, which are
# defined where that library is installed.

cmake_minimum_required(VERSION 3.22)
set(CMAKE_EXECUTE_PROCESS_COMMAND_ECHO NONE)

set(needs_BLAS "^(blas\\.hpp|host/blas.*)$")
set(needs_MPI "^(mpi\\.hpp|mpi/.*|cuda/nccl_from_mpi\\.hpp)$")
set(needs_CUDA "^(cuda\\.hpp|nccl\\.hpp|cuda/.*)$")

if(DEFINED ONLY)
  set(headers ${ONLY})
else()
  file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}/tpoverlap" "${INCLUDE_DIR}/tpoverlap/*.hpp")
endif()

set(vendor_flags "")
foreach(vendor BLAS MPI CUDA)
  if(DEFINED ${vendor}_INCLUDE)
    list(APPEND vendor_flags -isystem "${${vendor}_INCLUDE}")
    continue()
  endif()
  set(kept "")
  foreach(header IN LISTS headers)
    if(header MATCHES "${needs_${vendor}}")
      message("left out, because ${vendor} is not installed: ${header}")
    else()
      list(APPEND kept "${header}")
    endif()
  endforeach()
  set(headers "${kept}")
endforeach()
if(DEFINED NCCL_INCLUDE)
  list(APPEND vendor_flags -isystem "${NCCL_INCLUDE}")
endif()

if(NOT headers)
  message(FATAL_ERROR "no headers found in ${INCLUDE_DIR}/tpoverlap")
endif()
set(compile "${COMPILER}" -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fdiagnostics-color=never
            ${FLAGS} "-I${INCLUDE_DIR}" ${vendor_flags})

# A folder of its own, as tests run side by side.
string(RANDOM LENGTH 12 unique)
set(scratch "${CMAKE_CURRENT_BINARY_DIR}/scratch_${unique}")
