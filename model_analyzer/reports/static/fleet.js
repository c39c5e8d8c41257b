// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The interactive parts of the overview of models: light and dark, and a table that the reader
// sorts and filters. The address of the page keeps order and filter.
// Without this script, the models are in the order of the run.
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  root.classList.add("js");

  // ------------------------------------------------------------------ light and dark

  const theme = byId("theme");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);

  function nameTheme() {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  }
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  darkness.addEventListener("change", nameTheme);
  nameTheme();

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
    if (a === null || b === null) return (a === null) - (b === null); // last in both directions
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * a.localeCompare(b, undefined, { numeric: true });
  }

  /** Shows what the state says; `sort` is the key of a column, "" for the order of the run. */
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
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.append(header.firstChild); // its name; the unit stays below
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
