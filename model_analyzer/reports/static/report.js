// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// A summary or detailed page: connects charts, the selected measurement and the table. Without
// scripts, the page shows static charts and the first rows.
"use strict";
(() => {
  const { columns, total, title, cell } = measurements;
  const REACH = 20; // pixels from the pointer to the point that answers
  const FAINT = 0.07;
  const OTHERS = 0.45; // the opacity of points without a line
  let matches = null; // for each row whether it passes the filters; null: all do

  /** The row of the nearest point within reach of the pointer, or of the mark under it; otherwise -1. */
  function rowAt(view, figure, event, item) {
    const isRow = (row) => row >= 0 && row < total;
    const under = charts.datumOf(item)?.row;
    const own = isRow(under) ? under : -1;
    const [scaleX, scaleY] = ["x", "y"].map((name) => view.scale(name));
    if (!scaleX || !scaleY || !scaleX.invert || !scaleY.invert) return own;
    const svg = figure.querySelector(".live svg").getBoundingClientRect();
    const [left, top] = view.origin();
    const { left: before, top: above } = view.padding();
    const [x, y] = [event.clientX - svg.left - left - before, event.clientY - svg.top - top - above];
    let [nearest, distance] = [own, REACH];
    for (const point of figure.values) {
      if (!isRow(point.row)) continue;
      const away = Math.hypot(scaleX(point.x) - x, scaleY(point.y) - y);
      // of points at the same place, the one on top
      if (away < distance || (away === distance && point.row === own)) [nearest, distance] = [point.row, away];
    }
    return nearest;
  }

  function point(event, row) {
    document.body.style.cursor = row < 0 ? "" : "pointer";
    if (row < 0) return tip.hide();
    const usual = columns.slice(1).filter((column) => column.usual && cell(column, row));
    return tip.show(event, title(row), usual.map((column) => `${column.header}: ${cell(column, row)}`));
  }

  /** Lets the filters of the table, and clicks on the legend, make points and lines faint. */
  function followFilters(spec) {
    spec.params.push({ name: "matches", value: matches });
    const legend = spec.layer.find(({ mark, encoding }) => mark.type === "line" && encoding.color?.field === "variant");
    if (legend) {
      legend.params = [{ name: "isolated", select: { type: "point", fields: ["variant"] }, bind: "legend" }];
    }
    for (const { mark, encoding } of spec.layer) {
      const isLine = mark.type === "line" && encoding.color?.field === "variant";
      const isPoint = mark.type === "point" && mark.opacity !== 0 && !["ring", "pin"].includes(mark.style);
      if (!isLine && !isPoint) continue;
      const tests = isPoint ? ["!matches || matches[datum.row]"] : [];
      if (legend) tests.push({ param: "isolated" });
      const usual = mark.opacity ?? (mark.style ? OTHERS : 1);
      encoding.opacity = { condition: { test: { and: tests }, value: usual }, value: FAINT };
    }
  }

  let resting = 0;
  function onFilter(rows) {
    if (rows === null && matches === null) return;
    matches = null;
    if (rows) {
      matches = Array(total).fill(false);
      for (const row of rows) matches[row] = true;
    }
    clearTimeout(resting);
    resting = setTimeout(() => {
      for (const [view] of charts.drawn()) view.signal("matches", matches).runAsync();
    }, 60);
  }

  charts.start({
    adapt(spec, key) {
      for (const budget of budgets) budget.adapt(spec, key);
      followFilters(spec);
    },
    narrowed(config, spec) {
      for (const { mark } of spec.layer) if (mark.limit) mark.limit = 90; // leaves space for the plot
      return {
        ...config,
        legend: { ...config.legend, columns: 1, labelLimit: 240 },
        axis: { ...config.axis, labelLimit: 150 },
      };
    },
    connect(view, figure) {
      view.addEventListener("pointermove", (event, item) => point(event, rowAt(view, figure, event, item)));
      view.addEventListener("pointerout", () => point(null, -1));
      const budget = budgets.find((each) => each.figure === figure);
      view.addEventListener("click", (event, item) => {
        if (budget && budget.isBrushed()) return;
        const row = rowAt(view, figure, event, item);
        if (row >= 0) chosen.choose(row);
      });
      if (chosen.row() >= 0) chosen.mark(view);
      budget?.connect(view);
    },
  });
  if (dom.byId("explorer")) {
    const { matching, setRegion } = table.start(onFilter);
    downloads.start(matching);
    for (const budget of budgets) budget.onRegion(setRegion);
  }
  chosen.restore();
  hash.arrive();
})();
