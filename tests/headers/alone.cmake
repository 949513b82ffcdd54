# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Every header includes what it uses: each compiles as the only line of a program.

include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

file(MAKE_DIRECTORY "${scratch}")
set(bad "")
foreach(header IN LISTS headers)
  file(WRITE "${scratch}/alone.cpp" "#include <tpoverlap/${header}>\n")
  execute_process(COMMAND ${compile} -fsyntax-only "${scratch}/alone.cpp" RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(APPEND bad "\n  ${header} does not compile alone")
  endif()
endforeach()
file(REMOVE_RECURSE "${scratch}")
if(bad)
  message(FATAL_ERROR "${bad}")
endif()
list(LENGTH headers count)
message("${count} headers compile alone")
