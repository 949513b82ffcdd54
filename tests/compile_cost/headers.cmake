# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Holds headers to BUDGET. A header may reach the std headers listed for it and what those reach, and nothing else;
# and what it adds to them may not have more lines than allowed. Measured against the listed std headers alone, so
# that another version of the standard library gives the same numbers.

cmake_minimum_required(VERSION 3.22)
string(RANDOM LENGTH 12 unique)
set(scratch "${CMAKE_CURRENT_BINARY_DIR}/scratch_${unique}")
set(faults "")

# Sets <prefix>_lines, the number of preprocessed lines that are not blank, and <prefix>_std, the names of the
# public std headers that were read.
function(measure prefix text)
  file(WRITE "${scratch}/cost.cpp" "${text}")
  execute_process(
    COMMAND "${COMPILER}" -std=c++20 "-I${INCLUDE_DIR}" -E -P -H "${scratch}/cost.cpp" -o "${scratch}/cost.ii"
    RESULT_VARIABLE code OUTPUT_VARIABLE tree ERROR_VARIABLE tree)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "cannot be preprocessed: ${text}${tree}")
  endif()
  file(READ "${scratch}/cost.ii" text)
  string(REGEX REPLACE "\n[ \t\n]*\n" "\n" text "\n${text}")
  string(REGEX REPLACE "[^\n]" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  math(EXPR lines "${lines} - 1")

  # "..... /usr/include/c++/12/array": a public std header has no extension and lies directly in its folder.
  string(REGEX MATCHALL "\\.+ [^\n]*/c\\+\\+/(v1/)?([0-9.]+/)?[a-z_]+\n" std "${tree}")
  list(TRANSFORM std REPLACE "^.*/([a-z_]+)\n$" "\\1")
  list(REMOVE_DUPLICATES std)
  set(${prefix}_lines ${lines} PARENT_SCOPE)
  set(${prefix}_std "${std}" PARENT_SCOPE)
endfunction()

file(STRINGS "${BUDGET}" rows REGEX "^[^#]+\\.hpp ")
if(NOT rows)
  message(FATAL_ERROR "no budget found in ${BUDGET}")
endif()
foreach(row IN LISTS rows)
  string(REGEX MATCHALL "[^ ]+" row "${row}")
  list(POP_FRONT row header limit)
  set(allowed ${row})

  set(text "")
  foreach(name IN LISTS allowed)
    string(APPEND text "#include <${name}>\n")
  endforeach()
  measure(base "${text}")
  measure(with "${text}#include <tpoverlap/${header}>\n")
  measure(only "#include <tpoverlap/${header}>\n")

  math(EXPR own "${with_lines} - ${base_lines}")
  message("${header}: ${own} lines of its own (at most ${limit}), ${only_lines} with std headers")
  if(own GREATER limit)
    string(APPEND faults "\n  ${header} has ${own} lines of its own, more than ${limit}")
  endif()
  foreach(name IN LISTS with_std)
    if(NOT name IN_LIST base_std)
      string(APPEND faults "\n  ${header} reaches <${name}>, which the budget does not list")
    endif()
  endforeach()
  # A list longer than the truth would let the next header slip in unnoticed.
  foreach(name IN LISTS allowed)
    if(NOT name IN_LIST only_std)
      string(APPEND faults "\n  ${header} does not need <${name}>, which the budget lists")
    endif()
  endforeach()
endforeach()
file(REMOVE_RECURSE "${scratch}")
if(faults)
  message(FATAL_ERROR "${faults}")
endif()
