// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

#include "schedules.hpp"
#include "training_loop.hpp"

namespace train_text {

template training_record train<direct_schedule>(training_setup const&, corpus const&,
                                                progress_callback const&);

}  // namespace train_text
