// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// All measurements. A row is identified by its index. Data is stored by column: each has the cells of
// all rows.
"use strict";
const measurements = (() => {
  const table = dom.data("rows");
  const variantOf = table.counts.flatMap((count, index) => Array(count).fill(table.variants[index]));
  const columns = [
    ...table.own.map((column, index) => ({ ...column, valueOf: (row) => variantOf[row][index] })),
    ...table.columns.map((column, index) => ({ ...column, valueOf: (row) => table.cells[index][row] })),
  ];

  /** A value as text; numbers with significant decimals only, as in the rest of the page. */
  function show(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number" || Number.isInteger(value)) return String(value);
    if (Math.abs(value) >= 99.95) return value.toFixed(1);
    const text = value.toFixed(3).replace(/0+$/, "");
    return text.endsWith(".") ? text + "0" : text;
  }

  const title = (row) => variantOf[row][0];
  const cell = (column, row) => show(column.valueOf(row));

  /** The best row of the same kind of hardware. */
  const bestOf = (row) => table.starts.findLast((start) => start <= row);

  /** A comma-separated list of model names, with line breaks allowed after each comma. */
  const breakable = (names) => names.split(",").flatMap(
    (name, index) => (index ? [",", dom.make("wbr"), name] : [name]),
  );

  return { total: variantOf.length, columns, title, cell, bestOf, breakable };
})();
