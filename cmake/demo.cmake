# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# cmake -P cmake/demo.cmake: builds examples/train_text and runs it. A C++ compiler is all that has to be there.

include("${CMAKE_CURRENT_LIST_DIR}/setup.cmake")
tpoverlap_setup(compiler ninja blas cli11)
tpoverlap_step("Configure" "${CMAKE_COMMAND}" --preset demo)
tpoverlap_step("Build" "${CMAKE_COMMAND}" --build --preset demo --parallel ${tpoverlap_cores})
tpoverlap_step("Run" "${tpoverlap_root}/build/demo/bin/train_text")
