// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Tables that the reader sorts by their headers.
"use strict";
const sortable = (() => {
  const { make } = dom;

  /** What a cell sorts by: its text, which may begin with a number. */
  function valueOf(row, column) {
    const text = row.cells[column].textContent.trim();
    if (text === "" || text === "-") return null;
    const number = Number.parseFloat(text);
    return /^[+\-]?\d/.test(text) && Number.isFinite(number) ? number : text;
  }

  function sort(table, header, column) {
    const isRising = header.getAttribute("aria-sort") !== "ascending";
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column) }));
    rows.sort((a, b) => ordering.compare(a.value, b.value, isRising ? 1 : -1));
    body.append(...rows.map(({ row }) => row));
  }

  /** Makes the headers of a table buttons that sort it. */
  function connect(table) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = make("button", { type: "button", class: "plain" }, ...header.childNodes);
      button.addEventListener("click", () => sort(table, header, column));
      header.append(button);
    });
  }

  return { connect };
})();
