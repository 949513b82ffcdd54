# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DREASON=<regex> -P expect_rejection.cmake -- <command>...
# Passes if the command fails and prints the reason. WILL_FAIL would also pass on a typing error in the command.

set(command "")
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
# CMake wraps long messages, which must not hide the reason.
string(REGEX REPLACE "[ \t\r\n]+" " " flat "${output}")
if(code EQUAL 0)
  message(FATAL_ERROR "accepted a bad sample; its output:\n${output}")
elseif(NOT flat MATCHES "${REASON}")
  message(FATAL_ERROR "failed, but not because of \"${REASON}\"; its output:\n${output}")
endif()
message("rejected as it should be:\n${output}")
