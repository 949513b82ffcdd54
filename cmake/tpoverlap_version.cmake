# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# The header states the version, so that a project that takes the headers alone sees the same number as CMake.
# Sets tpoverlap_version in the caller's scope.
function(tpoverlap_read_version header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${header}")
  file(STRINGS "${header}" lines REGEX "^#define TPOVERLAP_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  set(parts "")
  foreach(part MAJOR MINOR PATCH)
    if(NOT "${lines}" MATCHES "TPOVERLAP_VERSION_${part} +([0-9]+)")
      message(FATAL_ERROR "${header} defines no TPOVERLAP_VERSION_${part}")
    endif()
    list(APPEND parts "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN parts "." version)
  set(tpoverlap_version "${version}" PARENT_SCOPE)
endfunction()
