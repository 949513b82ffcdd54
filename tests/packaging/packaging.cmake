# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# One way to consume the library, chosen by WAY; see CMakeLists.txt for the other parameters.

cmake_minimum_required(VERSION 3.22)

set(consumer "${CMAKE_CURRENT_LIST_DIR}/consumer")
string(RANDOM LENGTH 12 unique)
set(build "${WORK_DIR}/${WAY}_${unique}")

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    file(REMOVE_RECURSE "${build}")
    message(FATAL_ERROR "${what} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# The consumer prints the version that its headers state.
function(run_consumer program)
  run("consumer" "${program}")
  if(NOT output MATCHES "tpoverlap ${VERSION}\n")
    message(FATAL_ERROR "the consumer printed \"${output}\", expected ${VERSION}")
  endif()
endfunction()

set(configure "${CMAKE_COMMAND}" -G "${GENERATOR}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
              "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_BUILD_TYPE=Debug
              # Neither an installed nor a registered other copy may help.
              -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "-DEXPECTED_VERSION=${VERSION}" -B "${build}")

if(WAY STREQUAL "install")
  # Installed elsewhere first, then moved, so that a path of this machine in the package would break it.
  file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}_before")
  run("install" "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${PREFIX}_before")
  file(RENAME "${PREFIX}_before" "${PREFIX}")
  file(GLOB_RECURSE installed "${PREFIX}/*.cmake")
  foreach(file IN LISTS installed)
    file(READ "${file}" text)
    foreach(path "${SOURCE_DIR}" "${BUILD_DIR}" "${PREFIX}")
      string(FIND "${text}" "${path}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names ${path}")
      endif()
    endforeach()
  endforeach()
  file(GLOB_RECURSE original RELATIVE "${SOURCE_DIR}/include" "${SOURCE_DIR}/include/*")
  file(GLOB_RECURSE copied RELATIVE "${PREFIX}/include" "${PREFIX}/include/*")
  if(NOT original STREQUAL copied)
    message(FATAL_ERROR "the installed headers are not those of the source:\n${original}\n${copied}")
  endif()

elseif(WAY MATCHES "^(find_package|find_package_blas|find_package_nccl|add_subdirectory)$")
  set(options -DCONSUME=${WAY})
  if(WAY STREQUAL "add_subdirectory")
    list(APPEND options "-DTPOVERLAP_SOURCE=${SOURCE_DIR}")
  else()
    list(APPEND options "-DCMAKE_PREFIX_PATH=${PREFIX}")
  endif()
  run("configure" ${configure} -S "${consumer}" ${options})
  run("build" "${CMAKE_COMMAND}" --build "${build}")
  run_consumer("${build}/consumer")

elseif(WAY STREQUAL "plain")
  string(REPLACE " " ";" flags "${FLAGS}")
  file(MAKE_DIRECTORY "${build}")
  run("build" "${COMPILER}" -std=c++20 ${flags} "-I${INCLUDE_DIR}" "${consumer}/main.cpp" -o "${build}/consumer" -pthread)
  run_consumer("${build}/consumer")

elseif(WAY MATCHES "^(unknown_component|wrong_version)$")
  execute_process(COMMAND ${configure} -S "${consumer}" "-DCMAKE_PREFIX_PATH=${PREFIX}" -DCONSUME=${WAY}
                  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(unknown_component_reason "tpoverlap has no component \"telepathy\"; it has: blas;cuda;nccl")
  set(wrong_version_reason "compatible with requested version \"99\\.0\"")
  if(code EQUAL 0 OR NOT output MATCHES "${${WAY}_reason}")
    message(FATAL_ERROR "find_package should have failed with \"${${WAY}_reason}\":\n${output}")
  endif()

elseif(WAY STREQUAL "example")
  run("configure" ${configure} -S "${EXAMPLE}" "-DCMAKE_PREFIX_PATH=${PREFIX}")
  run("build" "${CMAKE_COMMAND}" --build "${build}")

else()
  message(FATAL_ERROR "unknown WAY ${WAY}")
endif()
file(REMOVE_RECURSE "${build}")
