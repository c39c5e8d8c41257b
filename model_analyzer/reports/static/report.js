// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The interactive parts of a report page: charts that react to the pointer, and the table of all
// measurements. Without this script, the page shows static charts and the first rows.
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = (id) => JSON.parse(byId(id).textContent);
  root.classList.add("js");

  /** An element with attributes and children; strings are text, never markup. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  // ------------------------------------------------------------------ measurements

  // A row is identified by its index. Data is stored by column: each has the cells of all rows.
  const table = data("rows");
  const variantOf = table.counts.flatMap((count, index) => Array(count).fill(table.variants[index]));
  const total = variantOf.length;
  const columns = [
    ...table.own.map((column, index) => ({ ...column, valueOf: (row) => variantOf[row][index] })),
    ...table.columns.map((column, index) => ({ ...column, valueOf: (row) => table.cells[index][row] })),
  ];
  const title = (row) => variantOf[row][0];
  const cell = (column, row) => show(column.valueOf(row));

  /** A value as text; numbers with significant decimals only, as in the rest of the page. */
  function show(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number" || Number.isInteger(value)) return String(value);
    if (Math.abs(value) >= 99.95) return value.toFixed(1);
    const text = value.toFixed(3).replace(/0+$/, "");
    return text.endsWith(".") ? text + "0" : text;
  }

  /** A comma-separated list of model names, with line breaks allowed after each comma. */
  const breakable = (names) => names.split(",").flatMap((name, index) => (index ? [",", make("wbr"), name] : [name]));

  // ------------------------------------------------------------------ selected measurement

  const views = new Set();
  const panel = byId("chosen");
  let chosen = -1;

  function choose(row) {
    chosen = row;
    for (const view of views) view.signal("chosen", row).runAsync();
    for (const line of document.querySelectorAll(".rows tbody tr")) {
      line.classList.toggle("chosen", Number(line.dataset.row) === row);
    }
    panel.hidden = row < 0;
    if (row >= 0) fillPanel(row);
    // keeps the targets of links and of keyboard focus visible above the panel
    root.style.scrollPaddingBottom = `${panel.offsetHeight}px`;
  }

  function fillPanel(row) {
    const details = columns.slice(1).filter((column) => cell(column, row));
    byId("chosen-name").replaceChildren(...breakable(title(row)));
    byId("chosen-body").replaceChildren(...details.map((column) => make(
      "div", {}, make("dt", {}, column.header), make("dd", {}, cell(column, row) + differenceFromBest(column, row)),
    )));
    panel.scrollTop = 0;
  }

  /** The difference of a metric from the recommendation, in percent: the first row, or the first of its
      kind of hardware. */
  function differenceFromBest(column, row) {
    const first = table.starts.findLast((start) => start <= row);
    const [value, best] = [column.valueOf(row), column.valueOf(first)];
    if (row === first || !column.metric || typeof value !== "number" || !best) return "";
    const percent = (value / best - 1) * 100;
    return ` (${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(0)} %)`;
  }

  byId("chosen-rows").addEventListener("click", () => {
    byId("search").value = title(chosen);
    refresh(0);
    byId("measurements").scrollIntoView();
  });
  byId("chosen-close").addEventListener("click", () => choose(-1));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(-1);
  });

  // ------------------------------------------------------------------ charts

  const charts = data("charts");
  const tip = byId("tip");
  const narrow = matchMedia("(max-width: 48rem)");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);

  async function draw(figure) {
    const spec = structuredClone(charts.specs[figure.dataset.chart]);
    const config = charts.configs[isDark() ? "dark" : "light"];
    spec.config = narrow.matches
      ? { ...config, legend: { ...config.legend, columns: 1, labelLimit: 240 }, axis: { ...config.axis, labelLimit: 150 } }
      : config;
    spec.config = { ...spec.config, background: null };
    spec.width = "container";
    // replaces the padding for unknown fonts; the last label of the x axis needs space on the right
    spec.padding = { left: 5, top: 5, right: 16, bottom: 5 };
    spec.autosize = { type: "fit-x", contains: "padding" };
    const place = figure.querySelector(".live");
    figure.classList.add("ready"); // first: Vega measures the width of the visible element
    if (figure.view) {
      views.delete(figure.view.view);
      figure.view.finalize();
    }
    // `ast`: interprets expressions, since the page's security policy forbids eval
    const embedded = await vegaEmbed(place, spec, {
      ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1,
    });
    figure.view = embedded;
    const view = embedded.view;
    views.add(view);
    view.addEventListener("pointermove", (event, item) => point(event, rowOf(item)));
    view.addEventListener("pointerout", () => point(null, -1));
    view.addEventListener("click", (event, item) => rowOf(item) >= 0 && choose(rowOf(item)));
    if (chosen >= 0) view.signal("chosen", chosen).runAsync();
  }

  /** The row that a mark of a chart stands for, or -1. */
  function rowOf(item) {
    const row = item && item.datum ? item.datum.row : undefined;
    return typeof row === "number" && row < total ? row : -1;
  }

  function point(event, row) {
    tip.hidden = row < 0;
    document.body.style.cursor = row < 0 ? "" : "pointer";
    if (row < 0) return;
    const lines = columns.slice(1).filter((column) => column.usual && cell(column, row));
    tip.replaceChildren(
      make("strong", {}, title(row)),
      ...lines.map((column) => make("div", {}, `${column.header}: ${cell(column, row)}`)),
    );
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18}px`;
  }

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "400px" });
  figures.forEach((figure) => near.observe(figure));
  const redraw = () => figures.filter((figure) => figure.view).forEach(draw);
  narrow.addEventListener("change", redraw);
  darkness.addEventListener("change", redraw);

  // ------------------------------------------------------------------ light and dark

  const theme = byId("theme");
  function setTheme(name) {
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  }
  theme.addEventListener("click", () => {
    setTheme(isDark() ? "light" : "dark");
    redraw();
  });
  darkness.addEventListener("change", () => setTheme(root.dataset.theme));
  setTheme(root.dataset.theme);

  // ------------------------------------------------------------------ the table

  const section = byId("explorer");
  if (section === null) return;
  const head = section.querySelector(".rows thead");
  const body = section.querySelector(".rows tbody");
  const search = byId("search");
  const passing = byId("passing");
  const [where, operator, limit] = ["where", "operator", "limit"].map(byId);
  const size = byId("size");
  let visible = columns.filter((column) => column.usual);
  let order = null; // { column, ascending }; null: best first
  let matching = Array.from({ length: total }, (_, row) => row);
  let page = 0;
  const constraint = columns.find((column) => column.key === "meets_constraints");
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
    if (first === second) return a - b;
    if (first === null || first === undefined) return 1; // unknown values last, in both directions
    if (second === null || second === undefined) return -1;
    const sign = typeof first === "number" && typeof second === "number"
      ? first - second : String(first).localeCompare(String(second), undefined, { numeric: true });
    return order.ascending ? sign : -sign;
  }

  function refresh(toPage) {
    const isMatch = filter();
    matching = [];
    for (let row = 0; row < total; row++) if (isMatch(row)) matching.push(row);
    if (order) matching.sort(compare);
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
    const line = make("tr", { "data-row": row, class: row === chosen ? "chosen" : null });
    visible.forEach((column, position) => {
      const text = cell(column, row);
      if (position > 0) {
        const failing = column === constraint && text === "no";
        const style = column.number ? "number" : failing ? "missed" : null;
        line.append(make("td", { "data-key": column.key, class: style }, text));
        return;
      }
      const button = make("button", { type: "button", class: "plain", title: "Show this measurement" }, ...breakable(text));
      button.addEventListener("click", () => choose(row));
      line.append(make("td", { class: column.number ? "number" : null }, button));
    });
    return line;
  }

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
    refresh(0);
  });

  // ------------------------------------------------------------------ downloads

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
    const lines = matching.map((row) => columns.map((column) => field(column.valueOf(row))).join(","));
    save([columns.map((column) => field(column.key)).join(","), ...lines, ""].join("\n"), "text/csv", "csv");
  });
  byId("json").addEventListener("click", () => {
    const objects = matching.map((row) => Object.fromEntries(
      columns.map((column) => [column.key, column.valueOf(row)]).filter(([, value]) => value !== null && value !== undefined),
    ));
    save(JSON.stringify(objects, null, 1) + "\n", "application/json", "json");
  });

  refresh(0);
})();
