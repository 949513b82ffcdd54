# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

#[=[
Finds a BLAS with the C interface and offers it as CBLAS::CBLAS.

Searched in this order; the first that compiles, links and offers cblas_sgemm wins:
  1. CBLAS_INCLUDE_DIR and CBLAS_LIBRARIES, if both are set
  2. the vendor named by BLA_VENDOR, through CMake's FindBLAS, if set
  3. OpenBLAS through pkg-config, then by file name
  4. any other cblas through pkg-config, then whatever FindBLAS finds

Result: CBLAS_FOUND, CBLAS_INCLUDE_DIR, CBLAS_LIBRARIES, and the target CBLAS::CBLAS.
]=]

include(FindPackageHandleStandardArgs)
include(CheckCXXSourceCompiles)
find_package(Threads QUIET)

# Being present is not enough: a header of one package beside the library of another links nowhere.
function(cblas_try label)
  if(CBLAS_USABLE OR NOT ARGN)
    return()
  endif()
  find_path(cblas_header_${label} cblas.h HINTS ${cblas_hints} PATH_SUFFIXES openblas cblas include include/openblas)
  if(NOT cblas_header_${label})
    return()
  endif()
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_REQUIRED_INCLUDES "${cblas_header_${label}}")
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN} ${CMAKE_THREAD_LIBS_INIT})
  check_cxx_source_compiles(
    "#include <cblas.h>
     int main() { float a = 1, b = 2, c = 0;
       cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &a, 1, &b, 1, 0, &c, 1); return c != 2; }"
    cblas_usable_${label})
  if(cblas_usable_${label})
    set(CBLAS_INCLUDE_DIR "${cblas_header_${label}}" CACHE PATH "Folder that holds cblas.h")
    set(CBLAS_LIBRARIES "${ARGN}" CACHE STRING "Libraries of the C interface to BLAS")
    set(CBLAS_USABLE TRUE CACHE INTERNAL "cblas_sgemm compiles and links")
  else()
    # Nothing of a failure is kept, so that installing the library is enough to be found by the next run.
    unset(cblas_usable_${label} CACHE)
  endif()
  unset(cblas_header_${label} CACHE)
endfunction()

if(NOT CBLAS_USABLE)
  if(CBLAS_INCLUDE_DIR AND CBLAS_LIBRARIES)
    set(cblas_hints ${CBLAS_INCLUDE_DIR})
    cblas_try(given ${CBLAS_LIBRARIES})
  endif()
  if(BLA_VENDOR AND NOT CBLAS_USABLE)
    find_package(BLAS QUIET)
    cblas_try(vendor ${BLAS_LIBRARIES})
  endif()
  if(NOT CBLAS_USABLE)
    find_package(PkgConfig QUIET)
    foreach(module openblas cblas)
      if(PKG_CONFIG_FOUND AND NOT CBLAS_USABLE)
        pkg_check_modules(cblas_pc_${module} QUIET ${module})
        if(cblas_pc_${module}_FOUND)
          set(cblas_hints ${cblas_pc_${module}_INCLUDE_DIRS} ${cblas_pc_${module}_INCLUDEDIR})
          cblas_try(pc_${module} ${cblas_pc_${module}_LINK_LIBRARIES})
        endif()
      endif()
      if(module STREQUAL "openblas" AND NOT CBLAS_USABLE)
        find_library(cblas_openblas NAMES openblas PATH_SUFFIXES openblas openblas-pthread openblas-openmp openblas-serial)
        mark_as_advanced(cblas_openblas)
        set(cblas_hints "")
        if(cblas_openblas)
          get_filename_component(cblas_folder "${cblas_openblas}" DIRECTORY)
          set(cblas_hints "${cblas_folder}/../include")
          cblas_try(openblas ${cblas_openblas})
        endif()
      endif()
    endforeach()
    if(NOT CBLAS_USABLE AND NOT BLA_VENDOR)
      find_package(BLAS QUIET)
      set(cblas_hints "")
      cblas_try(any ${BLAS_LIBRARIES})
    endif()
  endif()
endif()

find_package_handle_standard_args(
  CBLAS
  REQUIRED_VARS CBLAS_LIBRARIES CBLAS_INCLUDE_DIR CBLAS_USABLE
  REASON_FAILURE_MESSAGE "Install OpenBLAS with its headers (Debian, Ubuntu: apt-get install libopenblas-dev)")

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  target_include_directories(CBLAS::CBLAS INTERFACE "${CBLAS_INCLUDE_DIR}")
  target_link_libraries(CBLAS::CBLAS INTERFACE ${CBLAS_LIBRARIES})
  if(TARGET Threads::Threads)
    target_link_libraries(CBLAS::CBLAS INTERFACE Threads::Threads)
  endif()
endif()
mark_as_advanced(CBLAS_INCLUDE_DIR CBLAS_LIBRARIES)
