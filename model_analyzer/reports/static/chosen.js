// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The selected measurement: a panel with all its values, a mark in charts and in the table.
"use strict";
const chosen = (() => {
  const { root, byId, make } = dom;
  const { columns, title, cell, bestOf, breakable } = measurements;
  const panel = byId("chosen");
  let row = -1;

  function choose(newRow) {
    row = newRow;
    for (const [view] of charts.drawn()) mark(view);
    for (const line of document.querySelectorAll(".rows tbody tr")) {
      line.classList.toggle("chosen", Number(line.dataset.row) === row);
    }
    panel.hidden = row < 0;
    if (row >= 0) fill();
    // keeps the targets of links and of keyboard focus visible above the panel
    root.style.scrollPaddingBottom = `${panel.offsetHeight}px`;
  }

  function fill() {
    const details = columns.slice(1).filter((column) => cell(column, row));
    byId("chosen-name").replaceChildren(...breakable(title(row)));
    byId("chosen-body").replaceChildren(...details.map((column) => make(
      "div", {}, make("dt", {}, column.header), make("dd", {}, cell(column, row) + differenceFromBest(column)),
    )));
    panel.scrollTop = 0;
  }

  /** The difference of a metric from the recommendation, in percent. */
  function differenceFromBest(column) {
    const best = bestOf(row);
    const [value, base] = [column.valueOf(row), column.valueOf(best)];
    if (row === best || !column.metric || typeof value !== "number" || !base) return "";
    const percent = (value / base - 1) * 100;
    return ` (${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(0)} %)`;
  }

  /** Marks the selected measurement in a chart. */
  const mark = (view) => view.signal("chosen", row).runAsync();

  byId("chosen-close").addEventListener("click", () => choose(-1));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(-1);
  });

  return { choose, mark, row: () => row };
})();
