// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The overview of models: a table that the reader sorts and filters. The address of the page keeps
// order and filter. Without this script, those are first that need a person.
"use strict";
(() => {
  const { byId, make } = dom;

  // ------------------------------------------------------------------ table

  const table = byId("models");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headers = [...table.tHead.rows[0].cells].filter((header) => header.dataset.key);
  const filter = byId("filter");
  const searched = headers
    .filter((header) => ["model", "hardware", "checkpoint"].includes(header.dataset.key))
    .map((header) => header.cellIndex);

  /** What a cell sorts by: its number, or else its text; null if it is empty. */
  function valueOf(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent.trim() || null;
  }

  function compare(a, b, sign) {
    const isMixed = a !== null && b !== null && typeof a !== typeof b;
    if (isMixed) return typeof a === "number" ? -1 : 1; // words are after numbers in both directions
    return ordering.compare(a, b, sign);
  }

  /** Shows what the state says; `sort` is the key of a column, "" for the order of the page. */
  function show({ sort, descending, name }) {
    const sorted = headers.find((header) => header.dataset.key === sort);
    for (const header of headers) header.removeAttribute("aria-sort");
    let ordered = rows;
    if (sorted) {
      sorted.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const sign = descending ? -1 : 1;
      ordered = rows
        .map((row) => ({ row, value: valueOf(row, sorted.cellIndex) }))
        .sort((a, b) => compare(a.value, b.value, sign))
        .map(({ row }) => row);
    }
    body.append(...ordered);
    const wanted = name.trim().toLowerCase();
    for (const row of rows) {
      row.hidden = !searched.some((cell) => row.cells[cell].textContent.toLowerCase().includes(wanted));
    }
    const shown = rows.filter((row) => !row.hidden).length;
    byId("status").textContent = wanted ? `${shown} of ${rows.length} rows` : "";
  }

  // ------------------------------------------------------------------ state in the address

  function read() {
    const values = new URLSearchParams(location.hash.slice(1));
    return {
      sort: values.get("sort") ?? "",
      descending: values.get("order") === "descending",
      name: values.get("name") ?? "",
    };
  }

  function write(state) {
    const values = new URLSearchParams();
    if (state.sort) {
      values.set("sort", state.sort);
      values.set("order", state.descending ? "descending" : "ascending");
    }
    if (state.name) values.set("name", state.name);
    history.replaceState(null, "", `#${values}`);
    show(state);
  }

  for (const header of headers) {
    // its name; the unit stays below
    const button = make("button", { type: "button", class: "plain" }, header.firstChild);
    header.prepend(button);
    button.addEventListener("click", () => {
      const state = read();
      const isSame = state.sort === header.dataset.key;
      // the largest numbers are the most interesting ones
      const descending = isSame ? !state.descending : header.classList.contains("number");
      write({ ...state, sort: header.dataset.key, descending });
    });
  }
  filter.addEventListener("input", () => write({ ...read(), name: filter.value }));

  function restore() {
    const state = read();
    filter.value = state.name;
    show(state);
  }
  addEventListener("hashchange", restore);
  restore();
})();
