# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DLIMIT=<seconds> [-DCODE=zero|other] -DSAYS=<regex>;... -P ends.cmake -- <command>...
# Runs the command, which has to end by itself within the limit, with exit status 0 or another one if CODE is given,
# having printed every SAYS.

set(command "")
set(seen FALSE)
math(EXPR end "${CMAKE_ARGC} - 1")
foreach(i RANGE ${end})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors TIMEOUT ${LIMIT})
set(text "${output}${errors}")
if(NOT code MATCHES "^-?[0-9]+$")
  message(FATAL_ERROR "did not end by itself: ${code}; it printed:\n${text}")
endif()
if(CODE STREQUAL "zero" AND NOT code EQUAL 0)
  message(FATAL_ERROR "ended with status ${code}; it printed:\n${text}")
elseif(CODE STREQUAL "other" AND code EQUAL 0)
  message(FATAL_ERROR "ended with status 0, as if nothing had happened; it printed:\n${text}")
endif()
foreach(regex IN LISTS SAYS)
  if(NOT text MATCHES "${regex}")
    message(FATAL_ERROR "has not printed \"${regex}\", but:\n${text}")
  endif()
endforeach()
message("status ${code}\n${text}")
