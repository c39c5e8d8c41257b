// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The order of values in a column that the reader sorts.
"use strict";
const ordering = {
  /** Compares two values: numbers by size, others as texts. `sign` is 1, or -1 for the descending
      order. Unknown values are last in both. */
  compare(a, b, sign) {
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    const areNumbers = typeof a === "number" && typeof b === "number";
    return sign * (areNumbers ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
  },
};
