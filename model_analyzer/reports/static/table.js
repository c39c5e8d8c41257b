// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The table of all measurements: search, filters, sorting, pages.
"use strict";
const table = { start(onFilter) {
  const { byId, make } = dom;
  const { columns, title, cell, breakable, bestFirst, total } = measurements;
  const section = byId("explorer");
  const head = section.querySelector(".rows thead");
  const body = section.querySelector(".rows tbody");
  const search = byId("search");
  const passing = byId("passing");
  const [where, operator, limit] = ["where", "operator", "limit"].map(byId);
  const size = byId("size");
  const constraint = columns.find((column) => column.key === "meets_constraints");
  let visible = columns.filter((column) => column.usual);
  let order = null; // { column, ascending }; null: best first
  let matching = [];
  let page = 0;
  let region = null; // of a chart, drawn by the reader

  byId("passing-label").hidden = !constraint;
  const numbers = columns.filter((column) => column.number);
  for (const column of [...numbers.filter(({ metric }) => metric), ...numbers.filter(({ metric }) => !metric)]) {
    where.append(make("option", { value: column.key }, column.header));
  }
  for (const column of columns) {
    const box = make("input", { type: "checkbox", checked: column.usual });
    box.addEventListener("change", () => {
      const selected = new Set(visible);
      if (box.checked) selected.add(column);
      else selected.delete(column);
      visible = columns.filter((each) => selected.has(each));
      refresh(page);
    });
    byId("columns").append(make("label", {}, box, ` ${column.header}`));
  }

  /** A function that tells whether a row passes the search and the filters. */
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.filter((column) => !column.number);
    const column = columns.find(({ key }) => key === where.value);
    const bound = limit.value === "" ? null : Number(limit.value);
    return (row) => {
      if (region && !region.has(row)) return false;
      if (passing.checked && constraint && constraint.valueOf(row) !== "yes") return false;
      if (column && bound !== null) {
        const value = column.valueOf(row);
        if (typeof value !== "number") return false;
        if (operator.value === "<=" ? value > bound : value < bound) return false;
      }
      if (!words.length) return true;
      const text = texts.map((each) => each.valueOf(row) ?? "").join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
  }

  function compare(a, b) {
    const [first, second] = [order.column.valueOf(a), order.column.valueOf(b)];
    return first === second ? a - b : ordering.compare(first, second, order.ascending ? 1 : -1);
  }

  function refresh(toPage) {
    const isMatch = filter();
    matching = bestFirst.filter(isMatch);
    if (order) matching.sort(compare);
    remember();
    onFilter(matching.length < total ? matching : null);
    const count = Number(size.value);
    const last = Math.max(0, Math.ceil(matching.length / count) - 1);
    page = Math.min(toPage, last);
    head.replaceChildren(make("tr", {}, ...visible.map(headerOf)));
    const shown = matching.slice(page * count, (page + 1) * count);
    body.replaceChildren(...shown.map(lineOf));
    byId("status").textContent = matching.length
      ? `${page * count + 1} to ${page * count + shown.length} of ${matching.length}${matching.length < total ? ` (${total} in total)` : ""}`
      : "No measurement matches.";
    byId("first").disabled = byId("previous").disabled = page === 0;
    byId("last").disabled = byId("next").disabled = page === last;
  }

  /** Shows the rows of a region of a chart only; null: all. */
  function setRegion(newRegion) {
    region = newRegion;
    byId("region").hidden = !region;
    byId("region").textContent = region ? `✕ ${region.text}` : "";
    refresh(0);
  }

  /** Keeps search, filters and order in the address. */
  function remember() {
    hash.set("search", search.value);
    hash.set("filter", limit.value === "" ? null : `${where.value}${operator.value}${limit.value}`);
    hash.set("passing", passing.checked ? "yes" : null);
    hash.set("sort", order ? `${order.column.key}:${order.ascending ? "up" : "down"}` : null);
  }

  function restore() {
    search.value = hash.get("search") ?? "";
    const [, key, sign, bound] = /^(.*)(<=|>=)(.*)$/.exec(hash.get("filter") ?? "") ?? [];
    if (columns.some((column) => column.number && column.key === key)) {
      [where.value, operator.value, limit.value] = [key, sign, bound];
    }
    passing.checked = Boolean(constraint) && hash.get("passing") === "yes";
    const [name, direction] = (hash.get("sort") ?? "").split(":");
    const column = columns.find((each) => each.key === name);
    if (column) order = { column, ascending: direction === "up" };
  }

  function headerOf(column) {
    const button = make("button", { type: "button", class: "plain" }, column.header);
    button.addEventListener("click", () => {
      const same = order && order.column === column;
      order = { column, ascending: same ? !order.ascending : !column.high };
      refresh(0);
      section.querySelector(`th[data-key="${CSS.escape(column.key)}"] button`).focus();
    });
    const sorted = order && order.column === column;
    return make("th", {
      scope: "col", "data-key": column.key, class: column.number ? "number" : null,
      "aria-sort": sorted ? (order.ascending ? "ascending" : "descending") : null,
    }, button);
  }

  function lineOf(row) {
    const line = make("tr", { "data-row": row, class: row === chosen.row() ? "chosen" : null });
    visible.forEach((column, position) => {
      const text = cell(column, row);
      if (position > 0) {
        const failing = column === constraint && text === "no";
        const style = column.number ? "number" : failing ? "missed" : null;
        line.append(make("td", { "data-key": column.key, class: style }, text));
        return;
      }
      const button = make("button", { type: "button", class: "plain", title: "Show this measurement" }, ...breakable(text));
      button.addEventListener("click", () => chosen.choose(row));
      line.append(make("td", { class: column.number ? "number" : null }, button));
    });
    return line;
  }

  /** Shows the measurements of the selected configuration only. */
  function showChosen() {
    search.value = title(chosen.row());
    refresh(0);
    byId("measurements").scrollIntoView();
  }

  byId("chosen-rows").addEventListener("click", showChosen);
  for (const control of [search, passing, where, operator, limit, size]) {
    control.addEventListener("input", () => refresh(0));
  }
  byId("first").addEventListener("click", () => refresh(0));
  byId("previous").addEventListener("click", () => refresh(page - 1));
  byId("next").addEventListener("click", () => refresh(page + 1));
  byId("last").addEventListener("click", () => refresh(Infinity));
  byId("clear").addEventListener("click", () => {
    search.value = limit.value = "";
    passing.checked = false;
    order = null;
    setRegion(null);
  });
  byId("region").addEventListener("click", () => setRegion(null));
  restore();
  refresh(0);

  return { matching: () => matching, setRegion };
} };
