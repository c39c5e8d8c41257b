// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The interactive parts of a comparison: light and dark, charts, and tables that the reader sorts.
// Without this script, tables keep their order and charts are images.
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  root.classList.add("js");

  // ------------------------------------------------------------------ charts

  const charts = JSON.parse(byId("charts").textContent);
  const tip = byId("tip");
  const narrow = matchMedia("(max-width: 48rem)");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);

  async function draw(figure) {
    const config = charts.configs[isDark() ? "dark" : "light"];
    const axis = narrow.matches ? { ...config.axis, labelLimit: 120 } : config.axis;
    const legend = narrow.matches ? { ...config.legend, columns: 2 } : config.legend;
    const spec = structuredClone(charts.specs[figure.dataset.chart]);
    if (narrow.matches) {
      for (const { encoding } of spec.layer) {
        if (encoding.y.axis) delete encoding.y.axis.labelLimit;
        for (const channel of [encoding.color, encoding.shape]) {
          if (channel && channel.legend) delete channel.legend.columns;
        }
      }
    }
    spec.config = { ...config, axis, legend, background: null };
    spec.width = "container";
    spec.padding = { left: 5, top: 5, right: 16, bottom: 5 };
    spec.autosize = { type: "fit-x", contains: "padding" };
    figure.classList.add("ready"); // first: Vega measures the width of the visible element
    if (figure.view) figure.view.finalize();
    // `ast`: interprets expressions, since the page's security policy forbids eval
    figure.view = await vegaEmbed(figure.querySelector(".live"), spec, {
      ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1,
    });
    figure.view.view.addEventListener("pointermove", (event, item) => point(event, item));
    figure.view.view.addEventListener("pointerout", () => point(null, null));
  }

  /** Shows what the mark under the pointer stands for. */
  function point(event, item) {
    const lines = (item && item.datum && item.datum.tip) || [];
    tip.hidden = lines.length === 0;
    if (tip.hidden) return;
    tip.replaceChildren(...lines.map((line, place) => {
      const element = document.createElement(place ? "div" : "strong");
      element.textContent = line;
      return element;
    }));
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
    const below = event.clientY + 18;
    tip.style.top = `${below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : below}px`;
  }

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const near = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "400px" });
  figures.forEach((figure) => near.observe(figure));
  const redraw = () => figures.filter((figure) => figure.view).forEach(draw);
  narrow.addEventListener("change", redraw);

  // ------------------------------------------------------------------ light and dark

  const theme = byId("theme");
  function setTheme(name) {
    if (name) root.dataset.theme = name;
    else delete root.dataset.theme;
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    redraw();
  }
  theme.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  darkness.addEventListener("change", () => setTheme(root.dataset.theme));
  setTheme(root.dataset.theme);

  // ------------------------------------------------------------------ tables

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

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(table, header, column));
      header.append(button);
    });
  }
})();
