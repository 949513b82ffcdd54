# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Every C++ block of the documents is a marked region of a file that is compiled and run:
#
#   <!-- snippet: examples/first_overlap/first_overlap.cpp first_overlap -->
#   ```cpp
#   what stands between `// [first_overlap begin]` and `// [first_overlap end]`
#   ```
#
# Takes ROOT and optionally DOCUMENTS; reports every block that differs. UPDATE=ON writes the regions in instead.

cmake_minimum_required(VERSION 3.22)
get_filename_component(ROOT "${ROOT}" ABSOLUTE)
if(NOT DOCUMENTS)
  file(GLOB DOCUMENTS RELATIVE "${ROOT}" "${ROOT}/README.md" "${ROOT}/docs/*.md")
endif()

set(faults "")
set(blocks 0)

# Sets `result` to the region's text. Semicolons and brackets mean something to CMake's lists, so text is only ever
# cut by position.
function(read_region result file region)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS "${ROOT}/${file}")
    return()
  endif()
  file(READ "${ROOT}/${file}" text)
  string(FIND "${text}" "// [${region} begin]\n" begin)
  string(FIND "${text}" "// [${region} end]" end)
  if(begin LESS 0 OR end LESS 0)
    return()
  endif()
  string(LENGTH "// [${region} begin]\n" marker)
  math(EXPR begin "${begin} + ${marker}")
  math(EXPR length "${end} - ${begin}")
  string(SUBSTRING "${text}" ${begin} ${length} body)
  # The end marker may be indented.
  string(REGEX REPLACE "[ ]+$" "" body "${body}")
  set(${result} "${body}" PARENT_SCOPE)
endfunction()

foreach(document IN LISTS DOCUMENTS)
  file(READ "${ROOT}/${document}" rest)
  set(written "")
  while(TRUE)
    string(FIND "${rest}" "```cpp\n" fence)
    if(fence LESS 0)
      break()
    endif()
    math(EXPR begin "${fence} + 7")
    string(SUBSTRING "${rest}" 0 ${begin} head)
    string(SUBSTRING "${rest}" ${begin} -1 tail)
    string(FIND "${tail}" "```" close)
    string(SUBSTRING "${tail}" 0 ${close} block)
    string(SUBSTRING "${tail}" ${close} -1 rest)
    string(SUBSTRING "${rest}" 3 -1 rest)
    math(EXPR blocks "${blocks} + 1")

    set(region_text "${block}")
    if(head MATCHES "<!-- snippet: ([^ \n]+) ([^ \n]+) -->\n```cpp\n$")
      set(file "${CMAKE_MATCH_1}")
      set(region "${CMAKE_MATCH_2}")
      read_region(region_text "${file}" "${region}")
      if(region_text STREQUAL "")
        set(faults "${faults}\n  ${document}: ${file} has no region [${region}]")
      elseif(NOT UPDATE AND NOT "${block}" STREQUAL "${region_text}")
        set(faults "${faults}\n  ${document}: the block [${region}] differs from ${file}")
      endif()
    else()
      set(faults "${faults}\n  ${document}: C++ block ${blocks} names no compiled region")
    endif()
    string(APPEND written "${head}${region_text}```")
  endwhile()
  if(UPDATE)
    file(WRITE "${ROOT}/${document}" "${written}${rest}")
  endif()
endforeach()

if(blocks EQUAL 0)
  message(FATAL_ERROR "no C++ block found in ${DOCUMENTS}")
endif()
if(faults)
  message(FATAL_ERROR "documents and code differ:${faults}\nrepair with: cmake -DROOT=. -DUPDATE=ON -P tests/docs/snippets.cmake")
endif()
message(STATUS "${blocks} C++ blocks are as compiled")
