// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// A summary or detailed page: connects charts, the selected measurement and the table. Without
// scripts, the page shows static charts and the first rows.
"use strict";
(() => {
  const { columns, total, title, cell } = measurements;

  /** The row that a mark of a chart stands for, or -1. */
  function rowOf(item) {
    const row = item && item.datum ? item.datum.row : undefined;
    return typeof row === "number" && row < total ? row : -1;
  }

  function point(event, row) {
    document.body.style.cursor = row < 0 ? "" : "pointer";
    if (row < 0) return tip.hide();
    const usual = columns.slice(1).filter((column) => column.usual && cell(column, row));
    return tip.show(event, title(row), usual.map((column) => `${column.header}: ${cell(column, row)}`));
  }

  charts.start({
    adapt(spec, key) {
      for (const budget of budgets) budget.adapt(spec, key);
    },
    narrowed: (config) => ({
      ...config,
      legend: { ...config.legend, columns: 1, labelLimit: 240 },
      axis: { ...config.axis, labelLimit: 150 },
    }),
    connect(view, figure) {
      view.addEventListener("pointermove", (event, item) => point(event, rowOf(item)));
      view.addEventListener("pointerout", () => point(null, -1));
      view.addEventListener("click", (event, item) => rowOf(item) >= 0 && chosen.choose(rowOf(item)));
      if (chosen.row() >= 0) chosen.mark(view);
      budgets.find((budget) => budget.figure === figure)?.connect(view);
    },
  });
  if (dom.byId("explorer")) downloads.start(table.start().matching);
  hash.arrive();
})();
