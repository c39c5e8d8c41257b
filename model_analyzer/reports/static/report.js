// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// What a page does once it is open: charts that answer to the pointer, and the table of all
// measurements. Without it the page shows the same as drawings and the first rows.
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

  // A row is its number: of each column there are the cells of all rows.
  const table = data("rows");
  const variantOf = table.counts.flatMap((count, index) => Array(count).fill(table.variants[index]));
  const total = variantOf.length;
  const columns = [
    ...table.own.map((column, index) => ({ ...column, of: (row) => variantOf[row][index] })),
    ...table.columns.map((column, index) => ({ ...column, of: (row) => table.cells[index][row] })),
  ];
  const title = (row) => variantOf[row][0];
  const cell = (column, row) => show(column.of(row));

  /** Numbers with as many decimals as mean something, as in the rest of the page. */
  function show(value) {
    if (value === null || value === undefined) return "";
    if (typeof value !== "number" || Number.isInteger(value)) return String(value);
    if (Math.abs(value) >= 99.95) return value.toFixed(1);
    const text = value.toFixed(3).replace(/0+$/, "");
    return text.endsWith(".") ? text + "0" : text;
  }

  /** Names of several models, which may be broken between them. */
  const breakable = (names) => names.split(",").flatMap((name, place) => (place ? [",", make("wbr"), name] : [name]));

  // ------------------------------------------------------------------ what was chosen

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
    // what is jumped to, or reached by the keyboard, is not behind it
    root.style.scrollPaddingBottom = `${panel.offsetHeight}px`;
  }

  function fillPanel(row) {
    const told = columns.slice(1).filter((column) => cell(column, row));
    byId("chosen-name").replaceChildren(...breakable(title(row)));
    byId("chosen-body").replaceChildren(...told.map((column) => make(
      "div", {}, make("dt", {}, column.header), make("dd", {}, cell(column, row) + against(column, row)),
    )));
    panel.scrollTop = 0;
  }

  /** How far a metric is from that of the first row, which is the recommendation. */
  function against(column, row) {
    const [own, best] = [column.of(row), column.of(0)];
    if (row === 0 || !column.metric || typeof own !== "number" || !best) return "";
    const percent = (own / best - 1) * 100;
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
    // its own is for fonts that are not known; to the right the last number of an axis needs some
    spec.padding = { left: 5, top: 5, right: 16, bottom: 5 };
    spec.autosize = { type: "fit-x", contains: "padding" };
    const place = figure.querySelector(".live");
    figure.classList.add("ready"); // the width is that of what is shown
    if (figure.view) {
      views.delete(figure.view.view);
      figure.view.finalize();
    }
    // `ast`: expressions are interpreted, since the page forbids making code from text
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
  let order = null; // { column, ascending }; null: as they come, best first
  let found = Array.from({ length: total }, (_, row) => row);
  let page = 0;
  const constraint = columns.find((column) => column.key === "meets_constraints");
  byId("passing-label").hidden = !constraint;

  const numbers = columns.filter((one) => one.number);
  for (const column of [...numbers.filter((one) => one.metric), ...numbers.filter((one) => !one.metric)]) {
    where.append(make("option", { value: column.key }, column.header));
  }
  for (const column of columns) {
    const box = make("input", { type: "checkbox", checked: column.usual });
    box.addEventListener("change", () => {
      const wanted = new Set(visible);
      if (box.checked) wanted.add(column);
      else wanted.delete(column);
      visible = columns.filter((one) => wanted.has(one));
      refresh(page);
    });
    byId("columns").append(make("label", {}, box, ` ${column.header}`));
  }

  function matches() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.filter((column) => !column.number);
    const column = columns.find((one) => one.key === where.value);
    const bound = limit.value === "" ? null : Number(limit.value);
    return (row) => {
      if (passing.checked && constraint && constraint.of(row) !== "yes") return false;
      if (column && bound !== null) {
        const value = column.of(row);
        if (typeof value !== "number") return false;
        if (operator.value === "<=" ? value > bound : value < bound) return false;
      }
      if (!words.length) return true;
      const text = texts.map((one) => one.of(row) ?? "").join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
  }

  function compare(a, b) {
    const [one, two] = [order.column.of(a), order.column.of(b)];
    if (one === two) return a - b;
    if (one === null || one === undefined) return 1; // what is not known comes last either way
    if (two === null || two === undefined) return -1;
    const sign = typeof one === "number" && typeof two === "number"
      ? one - two : String(one).localeCompare(String(two), undefined, { numeric: true });
    return order.ascending ? sign : -sign;
  }

  function refresh(toPage) {
    const isWanted = matches();
    found = [];
    for (let row = 0; row < total; row++) if (isWanted(row)) found.push(row);
    if (order) found.sort(compare);
    const count = Number(size.value);
    const last = Math.max(0, Math.ceil(found.length / count) - 1);
    page = Math.min(toPage, last);
    head.replaceChildren(make("tr", {}, ...visible.map(headerOf)));
    const shown = found.slice(page * count, (page + 1) * count);
    body.replaceChildren(...shown.map(lineOf));
    byId("status").textContent = found.length
      ? `${page * count + 1} to ${page * count + shown.length} of ${found.length}${found.length < total ? ` (${total} in all)` : ""}`
      : "No measurement is like that.";
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
        line.append(make("td", { class: column.number ? "number" : failing ? "missed" : null }, text));
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

  /** A cell of CSV; a text that a spreadsheet would take for a formula is kept a text. */
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
    const lines = found.map((row) => columns.map((column) => field(column.of(row))).join(","));
    save([columns.map((column) => field(column.key)).join(","), ...lines, ""].join("\n"), "text/csv", "csv");
  });
  byId("json").addEventListener("click", () => {
    const objects = found.map((row) => Object.fromEntries(
      columns.map((column) => [column.key, column.of(row)]).filter(([, value]) => value !== null && value !== undefined),
    ));
    save(JSON.stringify(objects, null, 1) + "\n", "application/json", "json");
  });

  refresh(0);
})();
