# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# System headers define macros with everyday names: <complex.h> I, <termios.h> B0, <windows.h> small, min and max,
# <sys/sysmacros.h> major and minor. Ours have to work after them, so none of these words may stand in a header
# where it would expand.
#
# The std and vendor headers come first, without the macros, as they would reject or undefine them; their include
# guards then keep them out of the way.

include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")

set(outside "")
foreach(header IN LISTS headers)
  file(READ "${INCLUDE_DIR}/tpoverlap/${header}" text)
  string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*include[ \t]*<[^>\n]*>" includes "${text}")
  list(APPEND outside ${includes})
endforeach()
list(FILTER outside EXCLUDE REGEX "<tpoverlap/")
list(REMOVE_DUPLICATES outside)

set(text "")
foreach(include IN LISTS outside)
  string(REGEX MATCH "<.*>" name "${include}")
  string(APPEND text "#if __has_include(${name})\n#include ${name}\n#endif\n")
endforeach()
# A stray @ is an error wherever it expands, also inside a declaration that nobody uses.
foreach(name I B0 small EMPTY)
  string(APPEND text "#undef ${name}\n#define ${name} @ poisoned_macro_${name} @\n")
endforeach()
foreach(name min max)
  string(APPEND text "#undef ${name}\n#define ${name}(a, b) @ poisoned_macro_${name} @\n")
endforeach()
foreach(name major minor)
  string(APPEND text "#undef ${name}\n#define ${name}(a) @ poisoned_macro_${name} @\n")
endforeach()
foreach(header IN LISTS headers)
  string(APPEND text "#include <tpoverlap/${header}>\n")
endforeach()

file(WRITE "${scratch}/poisoned.cpp" "${text}")
execute_process(COMMAND ${compile} -fsyntax-only "${scratch}/poisoned.cpp" RESULT_VARIABLE code)
file(REMOVE_RECURSE "${scratch}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "a header uses a name that system headers define as a macro")
endif()
list(LENGTH headers count)
message("${count} headers compile after the macros")
