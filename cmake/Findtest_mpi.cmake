# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

#[=[
Finds Open MPI and MPICH side by side, so that the tests can run under both. CMake's own FindMPI finds one.

Result, for each <key> of openmpi and mpich:
  mpi_<key>_FOUND      a program that uses it compiles and links, and its launcher runs
  mpi_<key>_LAUNCHER   its mpirun
  mpi_<key>::mpi       the C interface, as a target; for mpich with the repair in tests/support/mpich_finalize.cpp
test_mpi_FOUND is true if there is at least one; test_mpi_KEYS lists those found.

Where to look can be given: mpi_<key>_WRAPPER is the C compiler wrapper; the launcher is looked for beside it.
]=]

include(FindPackageHandleStandardArgs)
include(CheckCXXSourceCompiles)

# What each calls itself: a macro of its mpi.h, and a word that its mpirun --version prints.
set(test_mpi_macro_openmpi OPEN_MPI)
set(test_mpi_word_openmpi "Open MPI|OpenRTE|open-mpi")
set(test_mpi_macro_mpich MPICH_VERSION)
set(test_mpi_word_mpich "HYDRA|MPICH")

# Neither brings the C++ bindings of MPI 2 in, which would want a library more, of another compiler perhaps.
set(test_mpi_definitions OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

function(test_mpi_find key)
  set(mpi_${key}_FOUND FALSE PARENT_SCOPE)

  # Debian marks them by name; Fedora and others by folder. A plain mpicc may be either, which is checked below.
  find_program(mpi_${key}_WRAPPER NAMES mpicc.${key} mpicc HINTS /usr/lib64/${key}/bin /usr/lib/${key}/bin
               DOC "C compiler wrapper of ${key}")
  mark_as_advanced(mpi_${key}_WRAPPER)
  set(wrapper "${mpi_${key}_WRAPPER}")
  if(NOT wrapper)
    unset(mpi_${key}_WRAPPER CACHE)
    return()
  endif()
  execute_process(COMMAND "${wrapper}" -show OUTPUT_VARIABLE line RESULT_VARIABLE code ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT code EQUAL 0)
    unset(mpi_${key}_WRAPPER CACHE)
    return()
  endif()

  # A compiler, then its options. The C wrapper's line serves C++ as well: there is no C++ in what it names.
  separate_arguments(line UNIX_COMMAND "${line}")
  list(POP_FRONT line)
  set(includes "")
  set(folders "")
  set(libraries "")
  foreach(item IN LISTS line)
    if(item MATCHES "^-I(.+)")
      list(APPEND includes "${CMAKE_MATCH_1}")
    elseif(item MATCHES "^-L(.+)")
      list(APPEND folders "${CMAKE_MATCH_1}")
    elseif(item MATCHES "^-l(.+)")
      # By path, so that CMake writes a run path where one is needed, and never takes the other one's library.
      unset(found)
      find_library(found NAMES "${CMAKE_MATCH_1}" HINTS ${folders} NO_CACHE)
      if(found)
        list(APPEND libraries "${found}")
      else()
        list(APPEND libraries "${item}")
      endif()
    elseif(item MATCHES "^-(Wl,|pthread)")
      list(APPEND libraries "${item}")
    endif()
  endforeach()

  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_REQUIRED_INCLUDES ${includes})
  set(CMAKE_REQUIRED_LIBRARIES ${libraries})
  list(TRANSFORM test_mpi_definitions PREPEND -D OUTPUT_VARIABLE CMAKE_REQUIRED_DEFINITIONS)
  check_cxx_source_compiles(
    "#include <mpi.h>
     #ifndef ${test_mpi_macro_${key}}
     #error another MPI
     #endif
     int main(int argc, char** argv) { MPI_Init(&argc, &argv); return MPI_Finalize(); }"
    mpi_${key}_usable)
  if(NOT mpi_${key}_usable)
    # Nothing of a failure is kept, so that installing the library is enough to be found by the next run.
    unset(mpi_${key}_usable CACHE)
    unset(mpi_${key}_WRAPPER CACHE)
    return()
  endif()

  get_filename_component(folder "${wrapper}" DIRECTORY)
  find_program(mpi_${key}_LAUNCHER NAMES mpirun.${key} mpiexec.${key} mpirun mpiexec HINTS "${folder}"
               NO_DEFAULT_PATH DOC "mpirun of ${key}")
  mark_as_advanced(mpi_${key}_LAUNCHER)
  set(version "")
  if(mpi_${key}_LAUNCHER)
    execute_process(COMMAND "${mpi_${key}_LAUNCHER}" --version OUTPUT_VARIABLE version ERROR_VARIABLE version)
  endif()
  if(NOT version MATCHES "${test_mpi_word_${key}}")
    unset(mpi_${key}_LAUNCHER CACHE)
    return()
  endif()

  if(NOT TARGET mpi_${key}::mpi)
    add_library(mpi_${key}::mpi INTERFACE IMPORTED)
    target_include_directories(mpi_${key}::mpi INTERFACE ${includes})
    target_link_libraries(mpi_${key}::mpi INTERFACE ${libraries})
    target_compile_definitions(mpi_${key}::mpi INTERFACE ${test_mpi_definitions})
    if(key STREQUAL "mpich")
      target_sources(mpi_mpich::mpi INTERFACE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/support/mpich_finalize.cpp")
    endif()
  endif()
  set(mpi_${key}_FOUND TRUE PARENT_SCOPE)
endfunction()

set(test_mpi_KEYS "")
foreach(test_mpi_key openmpi mpich)
  test_mpi_find(${test_mpi_key})
  if(mpi_${test_mpi_key}_FOUND)
    list(APPEND test_mpi_KEYS ${test_mpi_key})
  endif()
endforeach()

find_package_handle_standard_args(
  test_mpi
  REQUIRED_VARS test_mpi_KEYS
  REASON_FAILURE_MESSAGE "Install Open MPI or MPICH with headers (Debian, Ubuntu: apt-get install libopenmpi-dev libmpich-dev)")
