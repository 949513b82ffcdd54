# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -DPROGRAM=... -DSTATUS=... -DSAYS=... -P expect.cmake -- argument...: fails unless the program ends with that
# status and says that.
set(arguments "")
set(passed FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(passed)
    list(APPEND arguments "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(passed TRUE)
  endif()
endforeach()

execute_process(COMMAND "${PROGRAM}" ${arguments} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT status STREQUAL STATUS)
  message(FATAL_ERROR "ended with status ${status}, expected ${STATUS}")
endif()
if(NOT output MATCHES "${SAYS}")
  message(FATAL_ERROR "did not say: ${SAYS}")
endif()
