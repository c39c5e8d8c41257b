// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Charts that react to the pointer. Each is drawn when it comes near the visible part of the page,
// and again when colours or the width change.
"use strict";
const charts = (() => {
  const { configs, specs } = dom.data("charts");
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const narrow = matchMedia("(max-width: 48rem)");
  let adapt = () => {};
  let narrowed = (config) => config;
  let connect = () => {};
  let library = null;

  /** Unpacks the library of the charts, and runs it. */
  async function run() {
    document.head.append(dom.make("script", {}, await dom.unpacked("library")));
  }

  /** The specification with this key, in the style of the page. */
  function styled(key) {
    const spec = structuredClone(specs[key]);
    const config = configs[theme.isDark() ? "dark" : "light"];
    spec.config = { ...(narrow.matches ? narrowed(config, spec) : config), background: null };
    spec.width = "container";
    // replaces the padding for unknown fonts; the last label of the x axis needs space on the right
    spec.padding = { left: 5, top: 5, right: 16, bottom: 5 };
    spec.autosize = { type: "fit-x", contains: "padding" };
    return spec;
  }

  /** Draws a specification in a figure, in place of what it shows. */
  async function embed(figure, spec) {
    figure.classList.add("ready"); // first: Vega measures the width of the visible element
    if (figure.embedded) figure.embedded.finalize();
    // `ast`: interprets expressions, since the page's security policy forbids eval
    figure.embedded = await vegaEmbed(figure.querySelector(".live"), spec, {
      ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, logLevel: 1,
    });
  }

  async function draw(figure) {
    await library;
    const spec = styled(figure.dataset.chart);
    adapt(spec, figure.dataset.chart);
    figure.values = spec.data.values;
    await embed(figure, spec);
    connect(figure.embedded.view, figure);
  }

  /** Fills a chart that is not among the `figures`; the last values count. */
  async function fill(figure, values) {
    figure.values = values;
    await (library ??= run());
    if (figure.values !== values) return;
    const spec = styled(figure.querySelector(".live").dataset.spec);
    spec.data.values = values;
    await embed(figure, spec);
  }

  /** The view and the key of each chart that is drawn. */
  const drawn = () => figures.filter((figure) => figure.embedded)
    .map((figure) => [figure.embedded.view, figure.dataset.chart]);

  /** The datum of a mark; undefined for a line, which stands for many and has that of its first point. */
  const datumOf = (item) => (item && !["line", "area", "trail"].includes(item.mark.marktype) ? item.datum : undefined);

  const redraw = () => figures.filter((figure) => figure.embedded).forEach(draw);

  /** Begins to draw. `hooks.adapt` changes a specification before it is drawn; `hooks.narrowed` adapts
      style and specification to a narrow screen, and returns the style; `hooks.connect` gets each view
      that is drawn, and its figure. */
  function start(hooks) {
    ({ adapt = adapt, narrowed, connect } = hooks);
    if (!("DecompressionStream" in window)) return; // an old browser shows the static charts
    if (figures.length) library = run();
    const near = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        draw(target);
      }
    }, { rootMargin: "400px" });
    figures.forEach((figure) => near.observe(figure));
    narrow.addEventListener("change", redraw);
    theme.onChange(redraw);
  }

  return { start, drawn, datumOf, fill };
})();
