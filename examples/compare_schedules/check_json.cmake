# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Runs PROGRAM briefly for CLASS and checks that what it prints is JSON with sensible figures.

execute_process(
  COMMAND "${PROGRAM}" --class ${CLASS} --ranks 2 --rows 128 --inner 64 --columns 64 --repeat 3 --json
  RESULT_VARIABLE code
  OUTPUT_VARIABLE output
  ERROR_VARIABLE progress)
message(STATUS "${progress}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit status ${code}")
endif()

string(JSON label GET "${output}" link label)
if(NOT label MATCHES "^emulated link")
  message(FATAL_ERROR "the link is not labelled as emulated: ${label}")
endif()
string(JSON count LENGTH "${output}" strategies)
if(count LESS 5)
  message(FATAL_ERROR "only ${count} strategies")
endif()
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON name GET "${output}" strategies ${i} strategy)
  foreach(figure seconds link_seconds communication_alone_seconds bound_seconds ratio_to_blocking ratio_to_bound)
    string(JSON value GET "${output}" strategies ${i} ${figure})
    if(NOT value GREATER 0)
      message(FATAL_ERROR "${name}: ${figure} is ${value}")
    endif()
  endforeach()
  string(JSON hidden GET "${output}" strategies ${i} hidden_share)
  if(hidden LESS 0 OR hidden GREATER 1)
    message(FATAL_ERROR "${name}: hidden_share is ${hidden}")
  endif()
endforeach()
