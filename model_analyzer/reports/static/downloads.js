// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Downloads of the measurements that match, as CSV and JSON.
"use strict";
const downloads = {
  /** Connects the buttons; `matching` gives the rows. */
  start(matching) {
    const { byId, make } = dom;
    const { columns } = measurements;

    /** A CSV field; a quote keeps spreadsheets from reading text as a formula. */
    function field(value) {
      if (value === null || value === undefined) return "";
      if (typeof value === "number") return String(value);
      const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    }

    function save(text, type, ending) {
      const link = make("a", {
        href: URL.createObjectURL(new Blob([text], { type })), download: `measurements.${ending}`,
      });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    byId("csv").addEventListener("click", () => {
      const lines = matching().map((row) => columns.map((column) => field(column.valueOf(row))).join(","));
      save([columns.map((column) => field(column.key)).join(","), ...lines, ""].join("\n"), "text/csv", "csv");
    });
    byId("json").addEventListener("click", () => {
      const objects = matching().map((row) => Object.fromEntries(
        columns.map((column) => [column.key, column.valueOf(row)]).filter(([, value]) => value !== null && value !== undefined),
      ));
      save(JSON.stringify(objects, null, 1) + "\n", "application/json", "json");
    });
  },
};
