// SPDX-FileCopyrightText: The tpoverlap authors
// SPDX-License-Identifier: Apache-2.0

// Bad sample: a family without a case passes trivially.
int control() { return 0; }
