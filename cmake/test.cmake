# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -P cmake/test.cmake: builds everything and runs every test. A C++ compiler is all that has to be there.

include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")
tpoverlap_setup(compiler ninja blas catch2 cli11 json OPTIONAL openmpi mpich iproute2)
get_filename_component(tpoverlap_bin "${CMAKE_COMMAND}" DIRECTORY)
find_program(tpoverlap_ctest ctest HINTS "${tpoverlap_bin}" REQUIRED NO_CACHE)
tpoverlap_step("Configure" "${CMAKE_COMMAND}" --preset default)
tpoverlap_step("Build" "${CMAKE_COMMAND}" --build --preset default --parallel ${tpoverlap_cores})
tpoverlap_step("Test" "${tpoverlap_ctest}" --preset default --output-on-failure --parallel ${tpoverlap_cores})
