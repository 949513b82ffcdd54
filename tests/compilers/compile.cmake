# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Compiles one file with one compiler, without raising any of its limits. Takes NAMES (of the compiler), INCLUDE_DIR,
# SOURCE and WORK_DIR; ARCHITECTURE for nvcc; NEEDS_CUDA, CUDA_INCLUDE and NCCL_INCLUDE for sources that need these.
# Where a compiler or a header is missing, says so.

cmake_minimum_required(VERSION 3.22)
find_program(compiler NAMES ${NAMES} PATHS /usr/local/cuda/bin NO_CACHE)
if(NOT compiler)
  message(STATUS "SKIPPED: no ${NAMES} on this machine")
  return()
endif()
if(NEEDS_CUDA AND NOT (CUDA_INCLUDE AND NCCL_INCLUDE))
  message(STATUS "SKIPPED: no cuda_runtime.h or no nccl.h on this machine")
  return()
endif()
set(language "")
if(NAMES MATCHES "nvcc")
  set(language -x cu -Wno-deprecated-gpu-targets)
endif()
if(ARCHITECTURE)
  list(APPEND language "-arch=${ARCHITECTURE}")
endif()
if(NEEDS_CUDA)
  list(APPEND language -isystem "${CUDA_INCLUDE}" -isystem "${NCCL_INCLUDE}")
endif()
get_filename_component(name "${SOURCE}" NAME_WE)
file(MAKE_DIRECTORY "${WORK_DIR}")
execute_process(
  COMMAND "${compiler}" -std=c++20 ${language} "-I${INCLUDE_DIR}" -c "${SOURCE}" -o "${WORK_DIR}/${name}.o"
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${compiler} does not compile ${SOURCE}:\n${output}")
endif()
message(STATUS "compiled with ${compiler}")
