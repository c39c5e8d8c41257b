// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The selected measurement: a panel with all its values, a mark in charts and in the table. A second
// one can be pinned: then the panel shows both side by side, with what differs.
"use strict";
const chosen = (() => {
  const { root, byId, make } = dom;
  const { columns, title, cell, number, signed, bestOf, breakable, loadOf, total } = measurements;
  const panel = byId("chosen");
  const pin = byId("chosen-pin");
  // the times of a request in the server: name, column and colour of each
  const TIMES = dom.data("instruments").times.map(([name, key, colour]) => [
    name.toLowerCase(), columns.find((column) => column.key === key), colour,
  ]).filter(([, column]) => column);
  let row = -1;
  let pinned = -1;

  function choose(newRow) {
    row = newRow;
    for (const [view] of charts.drawn()) mark(view);
    for (const line of document.querySelectorAll(".rows tbody tr")) {
      line.classList.toggle("chosen", Number(line.dataset.row) === row);
    }
    show();
  }

  function show() {
    panel.hidden = row < 0;
    if (row >= 0) fill();
    hash.set("chosen", row < 0 ? null : keyOf(row));
    hash.set("pinned", pinned < 0 ? null : keyOf(pinned));
    // keeps the targets of links and of keyboard focus visible above the panel
    root.style.scrollPaddingBottom = `${panel.offsetHeight}px`;
  }

  const nameOf = (each) => `${title(each)} ${loadOf(each)}`;

  /** What a link calls a row: other measurements, or another order, change its index. The number is
      that of its kind of hardware. */
  const keyOf = (each) => `${nameOf(each)}${bestOf(each) ? ` (${bestOf(each)})` : ""}`;

  function fill() {
    const isPair = pinned >= 0 && pinned !== row;
    pin.textContent = pinned < 0 ? "Compare with another" : "Unpin";
    byId("chosen-hint").textContent = pinned < 0 || isPair ? "" : "Pinned. Select another measurement in a chart or in the table.";
    byId("chosen-name").replaceChildren(
      ...(isPair ? [...breakable(nameOf(pinned)), " and ", ...breakable(nameOf(row))] : breakable(title(row))),
    );
    byId("chosen-body").hidden = isPair;
    byId("chosen-facts").hidden = isPair;
    byId("chosen-pair").hidden = !isPair;
    const base = alternatives.defaultOf(row);
    fillLatencies(isPair ? pinned : base === null ? row : base + bestOf(row), isPair ? "Pinned" : "Default");
    if (isPair) fillPair();
    else {
      const details = columns.slice(1).filter((column) => cell(column, row));
      fillFacts();
      byId("chosen-body").replaceChildren(...details.map((column) => make(
        "div", {}, make("dt", {}, column.header),
        make("dd", {}, `${shown(column)}${bracketed(difference(column, row, bestOf(row)))}`),
      )));
    }
    panel.scrollTop = 0;
  }

  /** A cell; a metric with its noise, if that is known. */
  function shown(column) {
    const value = column.valueOf(row);
    return column.metric && typeof value === "number" ? alternatives.valueOf(column.key, row, value) : cell(column, row);
  }

  /** What an answer says: the gain over the default, the chance to meet the constraints, what changes,
      and the buttons. */
  function fillFacts() {
    const { text, isUnsure, isEmpty, uses } = budgets.find((each) => each.has(row))?.about(row) ?? ofRun();
    byId("chosen-facts").replaceChildren(
      ...(isEmpty ? [] : [make("p", { class: isUnsure ? "unsure" : null }, `${isUnsure ? "⚠ " : ""}${text}.`)]),
      ...alternatives.usesOf(row, uses),
    );
  }

  /** The latencies of the selected measurement and of another one; no chart without data. */
  function fillLatencies(other, otherName) {
    const sides = [[row, "Selected"], ...(other === row ? [] : [[other, otherName]])];
    const figures = [...byId("chosen-latencies").children];
    const lines = sides.map(([each, name]) => {
      const [distribution, averages] = alternatives.latenciesOf(each);
      return [distribution.length ? [distribution] : [], averages].map((parts) => parts.flatMap(
        (points, part) => points.map(([x, y]) => ({ x, y, part, side: `${name}: ${nameOf(each)}` })),
      ));
    });
    figures.forEach((figure, place) => {
      figure.hidden = !lines[0][place].length;
      if (!figure.hidden) charts.fill(figure, lines.flatMap((side) => side[place]));
    });
    byId("chosen-latencies").hidden = figures.every((figure) => figure.hidden);
  }

  /** At the limits of the run, where these cannot be moved. */
  function ofRun() {
    const base = alternatives.defaultOf(row);
    const limits = columns.find(({ key }) => key === "meets_constraints");
    const passes = (each) => !limits || limits.valueOf(each) === "yes";
    const basePasses = base !== null && passes(base + bestOf(row));
    const gain = alternatives.gainOf(row, { choice: 0, base, passes: passes(row), basePasses });
    const text = gain ? alternatives.gainText(gain) : passes(row) ? "" : "Misses the constraints";
    const command = passes(row) && alternatives.commandOf(row);
    const uses = { "Kubernetes command": row === bestOf(row) ? command : alternatives.manifestOf(row, command) };
    return { text, uses, isUnsure: !passes(row), isEmpty: !text };
  }

  const bracketed = (text) => (text ? ` (${text})` : "");

  /** The difference of a metric from that of another row, in percent. */
  function difference(column, of, from) {
    const [value, base] = [column.valueOf(of), column.valueOf(from)];
    if (of === from || !column.metric || typeof value !== "number" || !base) return "";
    return signed((value / base - 1) * 100);
  }

  /** Both measurements: parameters that differ, then metrics with their differences, then times. */
  function fillPair() {
    const known = columns.filter((column) => cell(column, pinned) || cell(column, row));
    const parameters = known.filter((column) => !column.metric && cell(column, pinned) !== cell(column, row));
    const lineOf = (column) => {
      const change = difference(column, row, pinned);
      const isBetter = change && (column.valueOf(row) > column.valueOf(pinned)) === column.high;
      return make(
        "tr", {}, make("th", { scope: "row" }, column.header),
        make("td", { class: column.number ? "number" : null }, cell(column, pinned)),
        make("td", { class: column.number ? "number" : null }, cell(column, row)),
        make("td", { class: `number ${change && change.slice(1) !== "0 %" ? (isBetter ? "met" : "missed") : ""}` }, change),
      );
    };
    byId("chosen-pair").replaceChildren(
      make("table", { "aria-label": "Two measurements" },
        make("thead", {}, make("tr", {}, make("td"), ...["Pinned", "Selected", "Δ"].map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, ...[...parameters, ...known.filter(({ metric }) => metric)].map(lineOf))),
      ...timeBars(),
    );
  }

  /** A bar for each of both: where the time of a request goes, on the same scale. */
  function timeBars() {
    const sums = [pinned, row].map((each) => TIMES.reduce((sum, [, column]) => sum + (column.valueOf(each) ?? 0), 0));
    const longest = Math.max(...sums);
    if (!longest) return [];
    const bars = [pinned, row].map((each, place) => make(
      "div", { class: "times" },
      make("span", {}, nameOf(each)),
      make("span", { class: "stack", role: "img", "aria-label": TIMES.map(([name, column]) => `${name} ${cell(column, each)} ms`).join(", ") },
        ...TIMES.map(([name, column, colour]) => {
          const part = make("i", { title: `${name} ${cell(column, each)} ms` });
          part.style.background = colour;
          part.style.width = `${(column.valueOf(each) ?? 0) / longest * 100}%`;
          return part;
        })),
      make("span", {}, `${number(sums[place])} ms`),
    ));
    const legend = make("p", { class: "lead" }, "Average time in the server: ", ...TIMES.flatMap(([name,, colour], index) => {
      const swatch = make("i", { class: "swatch" });
      swatch.style.background = colour;
      return [index ? ", " : "", swatch, ` ${name}`];
    }));
    return [...bars, legend];
  }

  /** Marks the selected measurement in a chart. */
  const mark = (view) => view.signal("chosen", row).runAsync();

  /** Selects what the address says. */
  function restore() {
    const rows = Array.from({ length: total }, (_, each) => each);
    const rowOf = (name) => (hash.get(name) === null ? -1 : rows.findIndex((each) => keyOf(each) === hash.get(name)));
    pinned = rowOf("pinned");
    if (rowOf("chosen") >= 0) choose(rowOf("chosen"));
  }

  function close() {
    pinned = -1;
    choose(-1);
  }

  pin.addEventListener("click", () => {
    pinned = pinned < 0 ? row : -1;
    show();
  });
  byId("chosen-close").addEventListener("click", close);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });

  theme.onChange(() => row >= 0 && fill());
  for (const budget of budgets) budget.onSet(() => row >= 0 && fill());
  alternatives.onReady(() => {
    for (const budget of budgets) budget.update();
    if (row >= 0) fill();
  });

  return { choose, mark, restore, row: () => row };
})();
