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

  function inOrder(a, b, sign) {
    if (a === b) return 0;
    if (a === null) return 1; // unknown values last, in both directions
    if (b === null) return -1;
    const areNumbers = typeof a === "number" && typeof b === "number";
    return sign * (areNumbers ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
  }

  function sort(table, header, column) {
    const isRising = header.getAttribute("aria-sort") !== "ascending";
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", isRising ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column) }));
    rows.sort((a, b) => inOrder(a.value, b.value, isRising ? 1 : -1));
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
