# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Driver of the compile-fail tests, see CMakeLists.txt. Takes COMPILER, INCLUDE_DIR, SOURCE and optionally PATTERN
# and SYSTEM_INCLUDES (folders with `|` between them); reports every failure before it fails.

cmake_minimum_required(VERSION 3.22)
set(faults "")
set(details "")

function(fault text)
  set(faults "${faults}\n  ${text}" PARENT_SCOPE)
endfunction()

set(system "")
string(REPLACE "|" ";" SYSTEM_INCLUDES "${SYSTEM_INCLUDES}")
foreach(folder IN LISTS SYSTEM_INCLUDES)
  list(APPEND system -isystem "${folder}")
endforeach()

# Sets `code` and `output`.
macro(compile)
  execute_process(
    COMMAND "${COMPILER}" -std=c++20 -fsyntax-only -fdiagnostics-color=never "-I${INCLUDE_DIR}" ${system} ${ARGN} "${SOURCE}"
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

file(READ "${SOURCE}" text)
string(REGEX MATCHALL "// CASE_[0-9]+:( E[0-9]+)+" declarations "${text}")
string(REGEX REPLACE "// CASE_[0-9]+:( E[0-9]+)+" "" rest "${text}")
string(REGEX MATCHALL "CASE_[0-9]+" tested "${rest}")
list(REMOVE_DUPLICATES tested)

if(NOT declarations)
  fault("declares no case: comments of the form \"// CASE_1: E012\" do")
endif()

compile()
if(NOT code EQUAL 0)
  fault("control: does not compile")
  string(APPEND details "\n--- control\n${output}")
endif()

set(declared "")
foreach(declaration IN LISTS declarations)
  string(REGEX MATCH "CASE_[0-9]+" case "${declaration}")
  string(REGEX MATCHALL "E[0-9]+" expected "${declaration}")
  # "CASE_1" holds an E before an underscore, which the pattern above does not match.
  list(APPEND declared ${case})
  if(NOT case IN_LIST tested)
    fault("${case}: is declared but never tested for")
    continue()
  endif()

  compile(-D${case})
  set(before "${faults}")
  if(code EQUAL 0)
    list(JOIN expected " and " codes)
    fault("${case}: compiles, but has to fail with ${codes}")
  else()
    # Only lines of errors count: notes and quoted source may show the text of checks that passed. Brackets and
    # semicolons are replaced, because they have a meaning in CMake's lists.
    string(REPLACE ";" "," flat "${output}")
    string(REPLACE "[" "<" flat "${flat}")
    string(REPLACE "]" ">" flat "${flat}")
    string(REGEX MATCHALL "error:[^\n]*tpoverlap<E[0-9]+>" lines "${flat}")
    set(printed "")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "tpoverlap<(E[0-9]+)>" unused "${line}")
      list(APPEND printed ${CMAKE_MATCH_1})
    endforeach()
    list(REMOVE_DUPLICATES printed)
    foreach(one IN LISTS expected)
      if(NOT one IN_LIST printed)
        fault("${case}: does not print tpoverlap[${one}]")
      endif()
    endforeach()
    foreach(one IN LISTS printed)
      if(NOT one IN_LIST expected)
        fault("${case}: prints tpoverlap[${one}], too")
      endif()
    endforeach()
    if(PATTERN AND NOT output MATCHES "${PATTERN}")
      fault("${case}: does not print \"${PATTERN}\"")
    endif()
  endif()
  if(NOT faults STREQUAL before)
    string(APPEND details "\n--- ${case}\n${output}")
  endif()
endforeach()

foreach(case IN LISTS tested)
  if(NOT case IN_LIST declared)
    fault("${case}: has no comment that names its code")
  endif()
endforeach()

if(faults)
  message("${details}")
  message(FATAL_ERROR "${SOURCE}:${faults}")
endif()
list(LENGTH declared count)
message("${count} cases fail as they should")
