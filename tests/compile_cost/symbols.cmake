# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# The longest symbol in the object of SOURCE, held to the number that BUDGET gives for a file of that name.

cmake_minimum_required(VERSION 3.22)
get_filename_component(name "${SOURCE}" NAME)
file(STRINGS "${BUDGET}" row REGEX "^${name} ")
if(NOT row MATCHES "^[^ ]+ +([0-9]+)")
  message(FATAL_ERROR "no budget for ${name} found in ${BUDGET}")
endif()
set(limit ${CMAKE_MATCH_1})

string(RANDOM LENGTH 12 unique)
set(object "${CMAKE_CURRENT_BINARY_DIR}/symbols_${unique}.o")
execute_process(COMMAND "${COMPILER}" -std=c++20 "-I${INCLUDE_DIR}" -c "${SOURCE}" -o "${object}" RESULT_VARIABLE code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${name} does not compile")
endif()
execute_process(COMMAND "${NM}" -P "${object}" OUTPUT_VARIABLE output RESULT_VARIABLE code)
file(REMOVE "${object}")
string(REGEX MATCHALL "(^|\n)[^ \n]+" symbols "${output}")
if(NOT code EQUAL 0 OR NOT symbols)
  message(FATAL_ERROR "no symbols found")
endif()

set(longest 0)
foreach(symbol IN LISTS symbols)
  string(STRIP "${symbol}" symbol)
  string(LENGTH "${symbol}" length)
  if(length GREATER longest)
    set(longest ${length})
    set(longest_symbol "${symbol}")
  endif()
endforeach()
message("longest symbol: ${longest} characters (at most ${limit}): ${longest_symbol}")
if(longest GREATER limit)
  message(FATAL_ERROR "${name} has a symbol of ${longest} characters, more than ${limit}")
endif()
