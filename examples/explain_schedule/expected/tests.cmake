# SPDX-FileCopyrightText: The tpoverlap authors
# SPDX-License-Identifier: Apache-2.0

# expect(<name> <status> <options>...): explain_schedule with the options ends with the status, having printed what
# expected/<name>.txt holds. After a change that is meant, write the file anew:
#   explain_schedule <options> > expected/<name>.txt 2>&1
function(expect name status)
  add_test(
    NAME example.explain_schedule.${name}
    COMMAND ${CMAKE_COMMAND} "-DEXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/expected/${name}.txt" "-DSTATUS=${status}"
            -P "${CMAKE_CURRENT_SOURCE_DIR}/expected/check.cmake" -- "$<TARGET_FILE:explain_schedule>" ${ARGN})
  set_tests_properties(example.explain_schedule.${name} PROPERTIES TIMEOUT 60)
endfunction()

expect(ring 0 --policy ring --class ag --ranks 4 --chunks 2)
expect(rejected 1 --policy ring --depth 1 --ranks 4)
expect(hides_nothing 0 --class rs --policy ring --accumulate fused --ranks 3)
expect(one_rank 0 --ranks 1)
expect(side_work 0 --class bulk --policy all_reduce --ranks 2)
expect(grid 0 --class rs --policy direct --ranks 3 --reduce-in float32 --format grid)
expect(text 0 --policy ring --direction both --ranks 4 --rank 3 --format text)
expect(dot 0 --policy pipeline --chunks 2 --ranks 2 --format dot)
expect(graded 0 --class rs --policy pipeline --ratio 1:2 --ranks 2)
expect(graded_both_ways 0 --class rs --policy ring --direction both --chunks 4 --ratio 1:2 --ranks 2 --format grid)

expect(unknown_policy 2 --policy rings)
expect(no_ranks 2 --ranks 0)
expect(ranks_in_letters 2 --ranks four)
expect(unknown_option 2 --polcy=ring)
expect(rank_outside 2 --ranks 2 --rank 2)
expect(depth_of_pipeline 2 --policy pipeline --depth 2)
expect(fused_pipeline 2 --class rs --policy pipeline --accumulate fused)
expect(keep_and_depth 2 --keep-gathered --depth 2)
expect(ring_beside_gemm 2 --class bulk --policy ring)
expect(gather_of_reduction 2 --class rs --keep-gathered)
expect(ratio_of_one_chunk 2 --ratio 2:1)
expect(ratio_of_zero 2 --chunks 2 --ratio 2:0)
expect(ratio_in_letters 2 --chunks 2 --ratio 2/1)
expect(ratio_too_steep 2 --chunks 40 --ratio 2:1)
expect(both_ways_one_chunk 2 --class rs --direction both)

# The check has to notice a wrong line and a wrong status.
expect(proof_wrong_line 0 --ranks 1)
expect(proof_wrong_status 1 --ranks 1 --format grid)
set_tests_properties(
  example.explain_schedule.proof_wrong_line PROPERTIES PASS_REGULAR_EXPRESSION "printed something else")
set_tests_properties(
  example.explain_schedule.proof_wrong_status PROPERTIES PASS_REGULAR_EXPRESSION "ended with status 0 instead of 1")
