# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# What demo.cmake and test.cmake share: see to it that the tools and libraries are usable, installing the missing
# ones through apt where that is permitted; then run CMake's steps with their output passed through as it comes.

cmake_minimum_required(VERSION 3.22)
get_filename_component(tpoverlap_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
cmake_host_system_information(RESULT tpoverlap_cores QUERY NUMBER_OF_LOGICAL_CORES)

# Runs a command with its output shown live, and stops the script if it fails.
function(tpoverlap_step what)
  list(JOIN ARGN " " line)
  message(STATUS "${what}: ${line}")
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${tpoverlap_root}" RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}): ${line}")
  endif()
endfunction()

# Sets `result` to those of `wanted` (any of compiler ninja blas catch2) that cannot be used on this machine.
function(tpoverlap_missing result)
  set(missing "")

  find_program(tpoverlap_compiler NAMES $ENV{CXX} c++ g++ clang++ NO_CACHE)
  if(NOT tpoverlap_compiler)
    list(APPEND missing compiler)
  endif()
  find_program(tpoverlap_ninja NAMES ninja ninja-build samu NO_CACHE)
  if(tpoverlap_ninja)
    execute_process(COMMAND "${tpoverlap_ninja}" --version RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(NOT tpoverlap_ninja OR NOT code EQUAL 0)
    list(APPEND missing ninja)
  endif()

  # A library counts as present when a program that uses it compiles and links. Only CMake itself knows how to ask
  # this of the compiler, so a throwaway project asks it, with make where there is no ninja yet. Without a compiler
  # or either of the two there is nobody to ask, and the libraries are named as missing.
  set(libraries ${ARGN})
  list(REMOVE_ITEM libraries compiler ninja)
  find_program(tpoverlap_make NAMES make gmake NO_CACHE)
  set(generator Ninja "-DCMAKE_MAKE_PROGRAM=${tpoverlap_ninja}")
  if("ninja" IN_LIST missing)
    set(generator "Unix Makefiles" "-DCMAKE_MAKE_PROGRAM=${tpoverlap_make}")
  endif()
  if("compiler" IN_LIST missing OR ("ninja" IN_LIST missing AND NOT tpoverlap_make))
    list(APPEND missing ${libraries})
  else()
    set(probe "${tpoverlap_root}/build/probe")
    file(REMOVE_RECURSE "${probe}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -S "${tpoverlap_root}/cmake/probe" -B "${probe}" -G ${generator}
      RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "The C++ compiler cannot be used:\n${output}")
    endif()
    foreach(library IN LISTS libraries)
      if(NOT output MATCHES "probe: ${library} is usable")
        list(APPEND missing ${library})
      endif()
    endforeach()
  endif()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

# Makes the named things usable or stops with one message that says what to install.
function(tpoverlap_setup)
  set(package_compiler g++)
  set(package_ninja ninja-build)
  set(package_blas libopenblas-dev)
  set(package_catch2 catch2)
  set(name_compiler "a C++20 compiler (g++ 12, clang 14 or newer)")
  set(name_ninja "Ninja")
  set(name_blas "a BLAS with cblas.h (OpenBLAS)")
  set(name_catch2 "Catch2 (2.13 or 3)")

  list(JOIN ARGN ", " wanted)
  message(STATUS "Looking for: ${wanted}")
  tpoverlap_missing(missing ${ARGN})
  if(NOT missing)
    return()
  endif()

  find_program(apt apt-get NO_CACHE)
  find_program(sudo sudo NO_CACHE)
  set(may_install FALSE)
  set(prefix "")
  if(apt)
    execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(user STREQUAL "0")
      set(may_install TRUE)
    elseif(sudo)
      execute_process(COMMAND "${sudo}" -n true RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
      if(code EQUAL 0)
        set(may_install TRUE)
        set(prefix "${sudo}" -n)
      endif()
    endif()
  endif()

  if(may_install)
    set(packages "")
    foreach(thing IN LISTS missing)
      list(APPEND packages ${package_${thing}})
    endforeach()
    set(install ${prefix} env DEBIAN_FRONTEND=noninteractive "${apt}" -o DPkg::Lock::Timeout=120 install -y
                --no-install-recommends ${packages})
    list(JOIN packages " " line)
    message(STATUS "Installing ${line}")
    execute_process(COMMAND ${install} RESULT_VARIABLE code OUTPUT_QUIET ERROR_QUIET)
    if(NOT code EQUAL 0)
      # No package lists yet, or old ones that name files which are gone.
      execute_process(COMMAND ${prefix} "${apt}" -o DPkg::Lock::Timeout=120 update)
      execute_process(COMMAND ${install})
    endif()
    tpoverlap_missing(missing ${ARGN})
    if(NOT missing)
      return()
    endif()
  endif()

  set(names "")
  set(packages "")
  foreach(thing IN LISTS missing)
    list(APPEND names "${name_${thing}}")
    list(APPEND packages ${package_${thing}})
  endforeach()
  list(JOIN names ", " names)
  list(JOIN packages " " packages)
  message(FATAL_ERROR "Missing: ${names}. On Debian or Ubuntu:\n  sudo apt-get update && sudo apt-get install -y ${packages}\n"
                      "Elsewhere install the same from your system's packages. Then run this again.")
endfunction()
