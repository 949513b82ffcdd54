//! @file
//! Bad sample: no licence.
#pragma once

namespace tpoverlap {}
