# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Compiles every_policy.cpp with one compiler, without raising any of its limits. Takes NAMES (of the compiler),
# INCLUDE_DIR, SOURCE and WORK_DIR. Where the compiler is missing, says so.

cmake_minimum_required(VERSION 3.22)
find_program(compiler NAMES ${NAMES} PATHS /usr/local/cuda/bin NO_CACHE)
if(NOT compiler)
  message(STATUS "SKIPPED: no ${NAMES} on this machine")
  return()
endif()
set(language "")
if(NAMES MATCHES "nvcc")
  set(language -x cu -Wno-deprecated-gpu-targets)
endif()
file(MAKE_DIRECTORY "${WORK_DIR}")
execute_process(
  COMMAND "${compiler}" -std=c++20 ${language} "-I${INCLUDE_DIR}" -c "${SOURCE}" -o "${WORK_DIR}/every_policy.o"
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${compiler} does not compile ${SOURCE}:\n${output}")
endif()
message(STATUS "compiled with ${compiler}")
