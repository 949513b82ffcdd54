# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Two translation units that include every header link into one program: no `inline` is missing.

include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

set(includes "")
foreach(header IN LISTS headers)
  string(APPEND includes "#include <tpoverlap/${header}>\n")
endforeach()
file(WRITE "${scratch}/one.cpp" "${includes}int other();\nint main() { return other(); }\n")
file(WRITE "${scratch}/two.cpp" "${includes}int other();\nint other() { return 0; }\n")

foreach(unit one two)
  execute_process(COMMAND ${compile} -c "${scratch}/${unit}.cpp" -o "${scratch}/${unit}.o" RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    file(REMOVE_RECURSE "${scratch}")
    message(FATAL_ERROR "the headers do not compile together")
  endif()
endforeach()
# Headers may call a vendor library, which plays no part here: only definitions that clash matter.
execute_process(COMMAND "${COMPILER}" -r -nostdlib "${scratch}/one.o" "${scratch}/two.o" -o "${scratch}/both.o"
                RESULT_VARIABLE code)
file(REMOVE_RECURSE "${scratch}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "two units that include the same headers do not link: is an `inline` missing?")
endif()
message("no definition clashes")
