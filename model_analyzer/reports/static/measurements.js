// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// All measurements. A row is identified by its index. Data is stored by column: each has the cells of
// all rows.
"use strict";
const measurements = (() => {
  const table = dom.data("rows");
  const variantOf = table.counts.flatMap((count, index) => Array(count).fill(table.variants[index]));
  const unordered = [
    ...table.own.map((column, index) => ({ ...column, valueOf: (row) => variantOf[row][index] })),
    ...table.columns.map((column, index) => ({ ...column, valueOf: (row) => table.cells[index][row] })),
  ];
  const columns = table.order.map((key) => unordered.find((column) => column.key === key));

  const formats = new Map();

  /** Numbers as text, with thousands separators; ties round as in the rest of the page. */
  function formatOf(decimals) {
    if (!formats.has(decimals)) {
      formats.set(decimals, new Intl.NumberFormat("en", {
        minimumFractionDigits: decimals, maximumFractionDigits: decimals, roundingMode: "halfEven", signDisplay: "negative",
      }));
    }
    return formats.get(decimals);
  }

  /** A measured number outside the table: three significant digits, or all of its whole part. */
  function number(value) {
    const exponent = value ? Number(value.toExponential(2).split("e")[1]) : 2;
    return formatOf(Math.min(Math.max(2 - exponent, 0), 6)).format(value);
  }

  /** A change in percent: "+36 %". */
  const signed = (percent) => `${percent < 0 ? "-" : "+"}${formatOf(0).format(Math.abs(percent))} %`;

  /** The value of a column in a row as text. */
  function cell(column, row) {
    const value = column.valueOf(row);
    if (value === null || value === undefined) return "";
    return typeof value === "number" ? formatOf(column.decimals).format(value) : value;
  }

  /** All rows, in the order of the ranking. */
  const bestFirst = table.best_first ?? Array.from(variantOf.keys());

  const title = (row) => variantOf[row][0];

  /** The best row of the same kind of hardware. */
  const bestOf = (row) => table.starts.findLast((start) => start <= row);

  const places = table.counts.flatMap((count, index) => Array(count).fill(index));

  /** The kind of hardware of a row, by number; and the variant of a row, within its kind. */
  const partOf = (row) => table.starts.findLastIndex((start) => start <= row);
  const variantIn = (row) => places[row] - places[bestOf(row)];

  /** A comma-separated list of model names, with line breaks allowed after each comma. */
  const breakable = (names) => names.split(",").flatMap(
    (name, index) => (index ? [",", dom.make("wbr"), name] : [name]),
  );

  const cellOf = (key, row) => {
    const column = columns.find((each) => each.key === key);
    return column ? cell(column, row) : "";
  };

  /** "at concurrency 8", "at 100 requests/sec", or another load in words. */
  function loadOf(row) {
    const [concurrency, rate] = [cellOf("concurrency", row), cellOf("request_rate", row)];
    const batch = cellOf("batch_size", row);
    const load = concurrency ? `at concurrency ${concurrency}` : rate ? `at ${rate} requests/sec` : cellOf("load", row);
    return batch ? `${load}, client batch ${batch}` : load;
  }

  /** The main settings of the configuration of a row. */
  function settingsOf(row) {
    const [batch, batching] = [cellOf("max_batch_size", row), cellOf("dynamic_batching", row)];
    return [
      `${cellOf("instances", row)} instances`,
      ...(batch && batch !== "0" ? [`max batch size ${batch}`, `dynamic batching ${batching}`] : []),
    ].join(", ");
  }

  return {
    total: variantOf.length, columns, title, cell, number, signed, bestOf, bestFirst, breakable, loadOf, settingsOf,
    partOf, variantIn, startOf: bestOf,
  };
})();
