# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DEXPECTED=<file> -DSTATUS=<number> -P check.cmake -- <command>...

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

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status STREQUAL STATUS)
  message(FATAL_ERROR "ended with status ${status} instead of ${STATUS}; its output:\n${output}")
endif()
file(READ "${EXPECTED}" expected)
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "printed something else than ${EXPECTED}; its output:\n${output}")
endif()
