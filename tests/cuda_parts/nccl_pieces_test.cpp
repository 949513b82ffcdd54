// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0
//! @file
//! Which pieces NCCL's own collectives can take as they are.

#include "../support/catch.hpp"

#include <tpoverlap/cuda/detail/nccl_pieces.hpp>

#include <array>

using namespace tpoverlap;
using namespace tpoverlap::cu::detail;

TEST_CASE("Pieces lie together when each begins where the one before it ends, empty ones aside") {
  float memory[16];
  using three = std::array<piece, 3>;
  CHECK(lie_together(three{{{memory, 2}, {memory + 2, 3}, {memory + 5, 1}}}, element::float32));
  CHECK(lie_together(three{{{memory, 2}, {nullptr, 0}, {memory + 2, 1}}}, element::float32));
  CHECK(lie_together(three{{{nullptr, 0}, {memory + 4, 2}, {memory + 6, 2}}}, element::float32));
  CHECK_FALSE(lie_together(three{{{memory, 2}, {memory + 3, 3}, {memory + 6, 1}}}, element::float32));
  CHECK_FALSE(lie_together(three{{{memory + 2, 2}, {memory, 2}, {memory + 4, 2}}}, element::float32));
  // The same addresses, but elements of another size.
  CHECK_FALSE(lie_together(three{{{memory, 2}, {memory + 2, 3}, {memory + 5, 1}}}, element::float64));
  CHECK(lie_together(three{{{memory, 2}, {memory + 1, 2}, {memory + 2, 2}}}, element::bfloat16));
}

TEST_CASE("Sizes and the place where pieces begin") {
  float memory[16];
  std::array<piece, 3> const equal{{{memory, 2}, {memory + 2, 2}, {memory + 4, 2}}};
  std::array<piece, 3> const uneven{{{nullptr, 0}, {memory + 2, 3}, {memory + 5, 1}}};
  CHECK(of_one_size(equal));
  CHECK_FALSE(of_one_size(uneven));
  CHECK(total_elements(equal) == 6);
  CHECK(total_elements(uneven) == 4);
  CHECK(first_data(equal) == memory);
  CHECK(first_data(uneven) == memory + 2);
  CHECK(first_data(std::array<piece, 1>{{{nullptr, 0}}}) == nullptr);
}
