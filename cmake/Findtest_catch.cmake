# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# Finds Catch2 3 or 2.13 for the tests: test_catch_FOUND, test_catch_MAJOR (2 or 3), and the target
# test_catch::test_catch. With 3 it brings a main(); with 2 the tests bring their own.

include(FindPackageHandleStandardArgs)

find_package(Catch2 QUIET)
if(Catch2_FOUND AND Catch2_VERSION VERSION_GREATER_EQUAL 3)
  set(test_catch_MAJOR 3)
  set(test_catch_library Catch2::Catch2WithMain)
elseif(Catch2_FOUND)
  set(test_catch_MAJOR 2)
  set(test_catch_library Catch2::Catch2)
else()
  # The single header, put somewhere by hand.
  find_path(test_catch_include_dir catch2/catch.hpp)
  mark_as_advanced(test_catch_include_dir)
  if(test_catch_include_dir)
    set(test_catch_MAJOR 2)
  endif()
endif()

find_package_handle_standard_args(
  test_catch
  REQUIRED_VARS test_catch_MAJOR
  REASON_FAILURE_MESSAGE "Install Catch2 2.13 or 3 (Debian, Ubuntu: apt-get install catch2)")

if(test_catch_FOUND AND NOT TARGET test_catch::test_catch)
  add_library(test_catch::test_catch INTERFACE IMPORTED)
  if(test_catch_library)
    target_link_libraries(test_catch::test_catch INTERFACE ${test_catch_library})
  else()
    target_include_directories(test_catch::test_catch INTERFACE "${test_catch_include_dir}")
  endif()
endif()
