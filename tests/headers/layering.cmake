# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Includes run one way, and every header has the same shape. Takes INCLUDE_DIR; reports every fault.

cmake_minimum_required(VERSION 3.22)

# What a folder, or a header outside of one, may include of the library. A place that is not in this table is a
# fault: decide where it belongs and add its line.
set(sees_core core/)
set(sees_concepts core/ concepts/)
set(sees_policy core/ policy/)
set(sees_schedule core/ concepts/ policy/ schedule/)
set(sees_strategies core/ concepts/ policy/ schedule/ strategies/)
set(sees_overlap.hpp core/ concepts/ policy/ schedule/ strategies/ overlap/)
set(sees_overlap core/ concepts/ policy/ schedule/ strategies/ overlap/)
set(sees_layers core/ concepts/ policy/ schedule/ strategies/ overlap/ overlap.hpp layers/)
set(sees_tuner core/ concepts/ policy/ schedule/ strategies/ overlap/ overlap.hpp tuner/)
set(sees_tuner.hpp core/ concepts/ policy/ schedule/ strategies/ overlap/ overlap.hpp tuner/)
set(sees_host core/ concepts/ host/)
set(sees_mpi core/ concepts/ host/ mpi/)  # its lanes are the host's streams
set(sees_cuda core/ concepts/ cuda/)
set(sees_trace core/ concepts/ policy/ schedule/ trace/)
set(sees_trace.hpp core/ concepts/ policy/ schedule/ trace/)
set(sees_sim core/ concepts/ policy/ schedule/ sim/)
# The faces, one for what needs no vendor library and one for each backend.
set(sees_tpoverlap.hpp core/ concepts/ policy/ schedule/ strategies/ overlap/ overlap.hpp layers/ trace/ sim/ host/ host.hpp)
set(sees_host.hpp core/ concepts/ host/)
set(sees_blas.hpp core/ concepts/ host/ host.hpp)
set(sees_mpi.hpp core/ concepts/ host/ host.hpp mpi/)
set(sees_cuda.hpp core/ concepts/ cuda/)
set(sees_nccl.hpp core/ concepts/ cuda/)

# These are in every user's build and in every proof: what they reach is paid for each time.
set(frugal "^(core|concepts|policy|schedule|strategies)$")
set(short_list array bit concepts cstddef cstdint exception new source_location span string_view type_traits utility)
set(may_use_string "^schedule/print[^/]*\\.hpp$")

# Thread names and priorities are the operating system's; host/ guards these by platform. So are locks on files.
set(system_headers "^(fcntl\\.h|pthread\\.h|sched\\.h|unistd\\.h|sys/[a-z_]+\\.h)$")
set(may_use_system "^((host|mpi|cuda)/|tuner/tuning_file\\.hpp$)")
set(may_use_vendor "^(blas\\.hpp|host/blas.*|(mpi|cuda|nccl)\\.hpp|(mpi|cuda)/.*)$")

set(count 0)
set(faults "")
function(fault text)
  math(EXPR next "${count} + 1")
  set(count ${next} PARENT_SCOPE)
  set(faults "${faults}\n  ${header}: ${text}" PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}/tpoverlap" "${INCLUDE_DIR}/tpoverlap/*.hpp" "${INCLUDE_DIR}/tpoverlap/*.cuh")
if(NOT headers)
  message(FATAL_ERROR "no headers found in ${INCLUDE_DIR}/tpoverlap")
endif()

foreach(header IN LISTS headers)
  file(READ "${INCLUDE_DIR}/tpoverlap/${header}" text)

  string(REGEX MATCH "^[^/]+" place "${header}")
  if(header STREQUAL place)
    set(place_name "${place}")
  else()
    set(place_name "${place}/")
  endif()
  if(NOT DEFINED sees_${place})
    fault("has no place in the layers; give it one in tests/headers/layering.cmake")
    continue()
  endif()

  string(REGEX MATCHALL "(^|\n)[ \t]*#[ \t]*include[ \t]*[<\"][^>\"\n]*[>\"]" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX MATCH "([<\"])([^>\"]*)" unused "${include}")
    set(quote "${CMAKE_MATCH_1}")
    set(name "${CMAKE_MATCH_2}")
    if(name MATCHES "^tpoverlap/(.*)$")
      string(REGEX MATCH "^[^/]+/?" target "${CMAKE_MATCH_1}")
      if(NOT target IN_LIST sees_${place})
        fault("${place_name} must not include tpoverlap/${target}")
      endif()
    elseif(quote STREQUAL "\"")
      fault("\"${name}\" has to be written <tpoverlap/...>")
    elseif(name MATCHES "^[a-z_]+$")
      if(place MATCHES "${frugal}" AND NOT name IN_LIST short_list
         AND NOT (name STREQUAL "string" AND header MATCHES "${may_use_string}"))
        fault("<${name}> is not on the short list of std headers")
      endif()
    elseif(NOT header MATCHES "${may_use_vendor}"
           AND NOT (name MATCHES "${system_headers}" AND header MATCHES "${may_use_system}"))
      fault("<${name}> is a vendor header, which belongs in a backend")
    endif()
  endforeach()

  if(NOT text MATCHES "^// SPDX-[^\n]*\n// SPDX-[^\n]*\n//! @file")
    fault("does not begin with two SPDX lines and \"//! @file\"")
  endif()
  if(NOT text MATCHES "\n#pragma once\n")
    fault("has no #pragma once")
  endif()
  if(text MATCHES "(^|\n)[ \t]*using[ \t]+namespace")
    fault("has a using namespace")
  endif()
  if(NOT header STREQUAL "core/config.hpp" AND text MATCHES "(^|\n)[ \t]*#[ \t]*define[ \t]+(TPOVERLAP_[A-Za-z0-9_]*)")
    fault("defines ${CMAKE_MATCH_2}; macros belong in core/config.hpp")
  endif()
endforeach()

list(LENGTH headers checked)
if(faults)
  message(FATAL_ERROR "${count} faults in ${checked} headers:${faults}")
endif()
message("${checked} headers are in order")
