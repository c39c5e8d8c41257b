// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The limit of the latency as a handle in the chart, with a field beside it. Answer, ring, table and
// points follow at once: `ranking.js` ranks the measurements again. Each kind of hardware has a limit
// of its own.
"use strict";
const budgets = (() => {
  const { byId, make } = dom;
  const { columns, title, number, signed, loadOf, settingsOf } = measurements;
  const OFF = 1e300; // no limit, for expressions of charts
  const GRASP = 6; // pixels from the line of the limit to the pointer that takes it
  const { SURE } = dom.data("instruments").rules; // with a smaller chance to meet the constraints, an answer is unsure

  /** A limit that the reader sets: "13", "1,360". */
  function short(value) {
    const rounded = Number(value.toPrecision(3));
    return Math.abs(rounded) >= 1000 ? rounded.toLocaleString("en") : String(rounded);
  }

  /** The limit of one kind of hardware; `suffix` ends the ids of its parts of the page. */
  function create(data, suffix) {
    const figure = document.querySelector(`figure[data-chart="${CSS.escape(data.chart)}"]`);
    const section = byId(`answer${suffix}`);
    const lines = [...document.querySelectorAll(`section[aria-labelledby="best${suffix}"] tbody tr`)];
    const folder = data.chart.includes("/") ? data.chart.slice(0, data.chart.lastIndexOf("/") + 1) : "";
    const named = data.name.charAt(0) + data.name.slice(1).toLowerCase();
    let choice = 0;
    let ranked = ranking.create(data, data.choices[0]);
    let limit = data.maximum;
    let view = null;

    const rows = Array.from({ length: ranked.count }, (_, row) => row);
    const known = rows.map(ranked.over).filter((value) => value > 0).sort((a, b) => a - b);
    const [least, most] = [known[0], known[known.length - 1]];
    const given = { best: 0, ties: [], passes: null };
    const isGiven = () => choice === 0 && limit === data.maximum;

    // ------------------------------------------------------------------ elements

    const field = make("input", { type: "number", min: 0, step: "any", class: "short", placeholder: "no limit" });
    const menu = make("select", {}, ...data.choices.map(({ name }, index) => make("option", { value: index }, name)));
    const reset = make("button", { type: "button" }, "Reset");
    const status = make("span", { class: "outcome", "aria-live": "polite" });
    const handle = make("div", {
      class: "handle", role: "slider", tabindex: 0, "aria-label": `Maximum ${named}`, "aria-orientation": "horizontal",
    }, make("span", { class: "grip" }));
    const staircase = make("div", { class: "staircase", "aria-hidden": "true" });
    const controls = make(
      "div", { class: "budget only-script" },
      make("label", {}, `${named} at most `, field, ` ${data.unit}`),
      ...(data.choices.length > 1 ? [make("label", {}, "Best by ", menu)] : []),
      reset, status,
    );
    figure.prepend(controls);
    const live = figure.querySelector(".live");
    const plot = make("div", { class: "plot" }); // what lies on the chart has its place in it
    live.before(plot);
    plot.append(live, handle);
    plot.after(staircase);
    const instead = make("div", { class: "instead", hidden: true });
    const original = make("div", { class: "given" });
    const style = section.className;
    const styles = lines.map((line) => line.className);
    const note = make("p", { class: "lead", hidden: true });
    if (lines.length) lines[0].closest(".card").after(note);
    original.append(...section.childNodes);
    section.append(original, instead);

    // ------------------------------------------------------------------ the answer

    const atLimit = () => (limit === null ? "Without a limit" : `At ${short(limit)} ${data.unit}`);
    const nameOf = (row) => `${title(data.start + row)} ${loadOf(data.start + row)}`.trim();
    const unit = () => data.choices[choice].unit;

    function valueText(row) {
      const value = ranked.value(row);
      const [[tag]] = data.choices[choice].objectives;
      return value === null ? "" : `${alternatives.valueOf(tag, data.start + row, value)} ${unit()}`;
    }

    /** How much better or worse a row is than the answer of the run, in percent. */
    function difference(row) {
      const [value, base] = [ranked.value(row), ranked.value(given.best)];
      return row === given.best || !value || !base ? "" : signed((value / base - 1) * 100);
    }

    const isUnsure = (answer) => answer.passes && answer.chance < SURE;
    const chanceText = (answer) => `${alternatives.chanceText(answer.chance)} chance that it meets the constraints`;
    const hasLimits = () => limit !== null || data.constraints.length > 0;
    const gainOf = (row, about) => alternatives.gainOf(data.start + row, { choice, ...about });

    function sentence(answer) {
      if (!answer.passes) return `${atLimit()}: no measurement meets the constraints; the nearest is ${nameOf(answer.best)}.`;
      const change = difference(answer.best);
      const unsure = isUnsure(answer) ? `; ${chanceText(answer)}` : "";
      return `${atLimit()}: ${nameOf(answer.best)}, ${valueText(answer.best)}${change ? ` (${change})` : ""}${unsure}.`;
    }

    function tile(label, value, note) {
      return make("div", {}, make("dt", {}, label), make("dd", {}, value), ...(note ? [make("dd", { class: "note" }, note)] : []));
    }

    function fillInstead(answer) {
      const row = answer.best;
      const over = ranked.over(row);
      const change = difference(row);
      const ofRun = data.maximum === null ? "the answer without a limit" : `the answer at ${short(data.maximum)} ${data.unit}`;
      const tiles = [];
      const gain = gainOf(row, answer);
      if (gain) tiles.push(tile("Gain over the default", `${gain.text} %`, gain.note));
      if (ranked.value(row) !== null) tiles.push(tile(data.choices[choice].name, valueText(row), change && `${change} against ${ofRun}`));
      const within = [limit === null ? "" : `limit ${short(limit)}`, answer.passes && hasLimits() ? `${alternatives.chanceText(answer.chance)} chance to meet the constraints` : ""];
      if (over !== null) tiles.push(tile(data.name, `${alternatives.valueOf(data.limit, data.start + row, over)} ${data.unit}`, within.filter(Boolean).join(", ")));
      const ties = answer.ties.slice(0, 3).map(nameOf).join(", ");
      const back = make("button", { type: "button" }, "Back to the answer of the run");
      back.addEventListener("click", () => set(data.maximum, 0));
      instead.replaceChildren(
        make("p", { class: "eyebrow" }, answer.passes
          ? `${isUnsure(answer) ? "⚠" : "✓"} ${atLimit()}${data.maximum === null || limit === data.maximum ? "" : ` instead of ${short(data.maximum)} ${data.unit}`}${choice ? `, by ${data.choices[choice].name}` : ""}` : `⚠ ${atLimit()}, nothing meets the constraints; the nearest is`),
        make("p", { class: "name" }, ...measurements.breakable(title(data.start + row))),
        make("p", { class: "what" }, `${settingsOf(data.start + row)}, ${loadOf(data.start + row)}`),
        make("dl", { class: "figures" }, ...tiles),
        make("p", { class: "sentence" }, `${sentence(answer)}${ties ? ` Ties with it: ${ties}.` : ""}`),
        ...alternatives.usesOf(data.start + row, deploying(answer)),
        make("p", {}, back),
      );
    }

    /** The command that gives an answer, if there is one to deploy. */
    const deploying = ({ best, passes }) => ({
      "Kubernetes command": passes && alternatives.commandAt(data.start + best, choice, data.limit, limit),
    });

    function mark(answer) {
      lines.forEach((line, place) => {
        const row = data.shown[place];
        const over = ranked.over(row);
        line.classList.toggle("best", row === answer.best);
        line.classList.toggle("beyond", (limit !== null && over !== null && over > limit) || !ranked.meetsOthers(row));
      });
      note.hidden = data.shown.includes(answer.best);
      note.textContent = `${sentence(answer)} This measurement is in the table of all measurements.`;
    }

    function restore() {
      lines.forEach((line, place) => { line.className = styles[place]; });
      note.hidden = true;
    }

    function update() {
      const answer = isGiven() ? given : ranked.at(limit);
      original.hidden = !isGiven();
      instead.hidden = isGiven();
      section.className = isGiven() ? style : `answer ${answer.passes && !isUnsure(answer) ? "good" : "unsure"}`;
      if (isGiven()) instead.replaceChildren();
      else fillInstead(answer);
      if (isGiven()) restore();
      else mark(answer);
      const text = isGiven() ? "" : sentence(answer);
      if (status.textContent !== text) status.textContent = text;
      if (document.activeElement !== field) field.value = limit === null ? "" : Number(limit.toPrecision(4));
      reset.disabled = isGiven();
      menu.value = choice;
      handle.setAttribute("aria-valuemin", Number(least.toPrecision(3)));
      handle.setAttribute("aria-valuemax", Number(most.toPrecision(3)));
      handle.setAttribute("aria-valuenow", Number(Math.min(limit ?? most, most).toPrecision(4)));
      handle.setAttribute("aria-valuetext", limit === null ? "no limit" : `${short(limit)} ${data.unit}`);
      place();
      return answer;
    }

    /** Sets limit and objective; at once in this chart, and in the others as soon as it rests. */
    let resting = 0;
    let follower = () => {};
    function set(newLimit, newChoice = choice) {
      if (newChoice !== choice) {
        choice = newChoice;
        ranked = ranking.create(data, data.choices[choice]);
        drawStaircase();
      }
      limit = newLimit;
      const answer = update();
      if (view) signal(view, answer);
      follower();
      clearTimeout(resting);
      resting = setTimeout(() => {
        for (const [other, key] of charts.drawn()) if (other !== view && isOwn(key)) signal(other, answer);
      }, 150);
      hash.set(`limit${suffix}`, limit === data.maximum ? null : limit === null ? "off" : String(Number(limit.toPrecision(4))));
      hash.set(`objective${suffix}`, choice ? data.choices[choice].objectives[0][0] : null);
    }

    // ------------------------------------------------------------------ charts

    const isOwn = (key) => key.startsWith(folder) && !key.slice(folder.length).includes("/");

    function signal(chart, answer) {
      chart.signal("budget", limit ?? OFF).signal("recommended", data.start + answer.best);
      chart.runAsync();
    }

    /** Lets the points of a chart follow the limit, instead of that of the run. */
    function adapt(spec) {
      const answer = isGiven() ? given : ranked.at(limit);
      spec.params.push({ name: "budget", value: limit ?? OFF }, { name: "recommended", value: data.start + answer.best });
      const inside = new Map();
      for (const point of spec.data.values) {
        if (!(point.row >= data.start) || point.row >= data.start + ranked.count) continue;
        const row = point.row - data.start;
        if (!inside.has(row)) inside.set(row, [ranked.over(row) ?? -1, !ranked.meetsOthers(row)]);
        [point.over, point.off] = inside.get(row);
      }
      for (const layer of spec.layer) {
        if (layer.mark.style === "noise") layer.transform.push({ filter: "datum.row === recommended" });
        for (const transform of layer.transform ?? []) {
          if (typeof transform.filter !== "string") continue;
          transform.filter = transform.filter
            .replaceAll("datum.misses", "(datum.off || datum.over > budget)")
            .replaceAll("datum.best", "datum.row === recommended");
        }
      }
    }

    const isLimitLine = ({ encoding }, axes) => data.maximum !== null
      && axes.some((axis) => encoding[axis] && encoding[axis].datum === data.maximum);

    /** The pixels from the corner of the chart to that of its axes, without a layout of the page:
        that takes longer than the rest of a step. */
    function origin() {
      const [left, top] = view.origin();
      const padding = view.padding();
      return [left + padding.left, top + padding.top];
    }

    const widthOf = () => view.signal("width");

    function place() {
      if (!view) return;
      const [left, top] = origin();
      const scale = view.scale("x");
      const x = limit === null ? widthOf() : Math.max(0, Math.min(scale(limit), widthOf()));
      handle.style.left = `${left + x}px`;
      handle.style.top = `${top}px`;
      handle.style.height = `${view.signal("height")}px`;
      handle.classList.toggle("off", limit === null);
      const now = staircase.querySelector(".now");
      if (now) now.setAttribute("transform", `translate(${x})`);
    }

    const rounded = (value) => Number(value.toPrecision(3));

    /** The pixels from the corner of the chart to the pointer. */
    function placeOf(event) {
      const box = plot.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    /** The limit at a place of the pointer; none at the right edge. */
    function limitAt(event) {
      const x = placeOf(event)[0] - origin()[0];
      return x >= widthOf() - 2 ? null : rounded(Math.max(view.scale("x").invert(Math.max(x, 0)), 0));
    }

    let next = null; // the last place of the pointer; the browser shows one for each frame
    function drag(event) {
      if (next === null) requestAnimationFrame(() => {
        const last = next;
        next = null;
        set(limitAt(last));
      });
      next = event;
    }
    function grasp(event) {
      handle.setPointerCapture(event.pointerId);
      handle.addEventListener("pointermove", drag);
      handle.focus();
      event.preventDefault();
    }
    handle.addEventListener("pointerdown", grasp);

    /** Whether the pointer is on the line of the limit, and on no point, which lies above it. */
    function isOnLine(event) {
      if (!view || event.pointerType === "touch") return false;
      const [x, y] = placeOf(event).map((each, axis) => each - origin()[axis]);
      const [over, up] = ["x", "y"].map((name) => view.scale(name));
      const line = limit === null ? widthOf() : Math.min(over(limit), widthOf());
      return Math.abs(x - line) <= GRASP && y >= 0 && y <= view.signal("height")
        && !figure.values.some((point) => Math.hypot(over(point.x) - x, up(point.y) - y) <= GRASP);
    }
    live.addEventListener("pointermove", (event) => live.classList.toggle("on-line", isOnLine(event)));
    for (const name of ["pointerup", "pointercancel"]) {
      handle.addEventListener(name, () => handle.removeEventListener("pointermove", drag));
    }

    /** Arrow keys move by a hundredth of the axis, page keys by a tenth; Home and End to its ends. */
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      const scale = view.scale("x");
      const width = widthOf();
      if (event.key === "Home") set(rounded(least));
      else if (event.key === "End") set(null);
      else if (steps) {
        const x = (limit === null ? width : Math.min(scale(limit), width)) + steps * width / 100;
        set(x > width ? null : rounded(Math.max(scale.invert(Math.max(x, 0)), least)));
      } else return;
      event.preventDefault();
    });

    /** Each limit from which a better measurement is allowed, and the best one. */
    function stairs() {
      const sign = data.choices[choice].better[0];
      const steps = [];
      let best = -Infinity;
      const order = rows.filter((row) => ranked.over(row) !== null && ranked.value(row) !== null && ranked.meetsOthers(row))
        .sort((a, b) => ranked.over(a) - ranked.over(b));
      for (const row of order) {
        if (sign * ranked.value(row) <= best) continue;
        best = sign * ranked.value(row);
        steps.push([ranked.over(row), ranked.value(row)]);
      }
      return steps;
    }

    function drawStaircase() {
      if (!view || data.choices[choice].objectives.length > 1) return staircase.replaceChildren();
      const steps = stairs();
      if (steps.length < 2) return staircase.replaceChildren();
      const [left] = origin();
      const [width, height, above] = [widthOf(), 64, 18];
      const scale = view.scale("x");
      const tallest = Math.max(...steps.map(([, value]) => value));
      const yOf = (value) => above + (1 - value / tallest) * (height - above);
      let path = `M${scale(steps[0][0]).toFixed(1)},${height}`;
      for (const [over, value] of steps) path += `H${scale(over).toFixed(1)}V${yOf(value).toFixed(1)}`;
      path += `H${width.toFixed(1)}`;
      const svg = (tag, attributes, ...children) => {
        const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.append(...children);
        return element;
      };
      const box = svg(
        "svg", { width: width + 4, height: height + 2 },
        svg("path", { class: "area", d: `${path}V${height}Z` }), svg("path", { class: "line", d: path }),
        svg("g", { class: "now" }, svg("line", { y1: 0, y2: height })),
        ...labels(steps, scale, yOf).map(([x, y, text]) => svg("text", { x, y }, text)),
      );
      box.style.marginLeft = `${left}px`;
      box.addEventListener("click", (event) => set(limitAt(event)));
      staircase.replaceChildren(box, make("p", { class: "lead" }, `Best ${data.choices[choice].name.toLowerCase()} (${unit()}) within each limit.`));
      return place();
    }

    /** The values of steps that have the space for them. */
    function labels(steps, scale, yOf) {
      let free = -Infinity;
      return steps.flatMap(([over, value], index) => {
        const x = scale(over) + 3;
        const end = index + 1 < steps.length ? scale(steps[index + 1][0]) : widthOf();
        const width = 7 * number(value).length;
        if (x < free || end - x < width) return [];
        free = x + width + 4;
        return [[x.toFixed(1), (yOf(value) - 4).toFixed(1), number(value)]];
      });
    }

    // ------------------------------------------------------------------ a region of the chart

    let listener = () => {};
    let start = null; // where the pointer went down
    let isBrushed = false; // whether the last press drew a region: then it is no click
    const frame = make("div", { class: "region", hidden: true });
    plot.append(frame);

    function brush(event) {
      const end = placeOf(event);
      const sizes = [0, 1].map((axis) => Math.abs(end[axis] - start[axis]));
      if (Math.min(...sizes) < 8 && frame.hidden) return;
      frame.hidden = false;
      isBrushed = true;
      frame.style.left = `${Math.min(start[0], end[0])}px`;
      frame.style.top = `${Math.min(start[1], end[1])}px`;
      [frame.style.width, frame.style.height] = sizes.map((size) => `${size}px`);
    }

    function finishBrush(event) {
      document.removeEventListener("pointermove", brush);
      document.removeEventListener("pointerup", finishBrush);
      if (!isBrushed) return;
      const corners = [start, placeOf(event)];
      const bounds = ["x", "y"].map((name, axis) => {
        const scale = view.scale(name);
        return corners.map((corner) => scale.invert(corner[axis] - origin()[axis])).sort((a, b) => a - b);
      });
      frame.hidden = true;
      listener(regionOf(bounds));
    }

    live.addEventListener("pointerdown", (event) => {
      isBrushed = false;
      if (event.button === 0 && isOnLine(event)) return grasp(event);
      if (event.button !== 0 || event.pointerType === "touch" || !view) return;
      start = placeOf(event);
      document.addEventListener("pointermove", brush);
      document.addEventListener("pointerup", finishBrush);
      event.preventDefault(); // no selection of text
    });

    /** The rows between bounds of both axes. */
    function regionOf([across, up]) {
      const isIn = (value, [low, high]) => value !== null && low <= value && value <= high;
      const height = columns.find(({ key }) => key === data.height);
      return {
        text: `${named} ${short(across[0])} to ${short(across[1])} ${data.unit}, ${height.header} ${short(up[0])} to ${short(up[1])}`,
        has: (row) => row >= data.start && row < data.start + ranked.count
          && isIn(ranked.over(row - data.start), across) && isIn(height.valueOf(row), up),
      };
    }

    function connect(newView) {
      view = newView;
      place();
      drawStaircase();
      setTimeout(() => ranked.at(least)); // the first call is slow: not while the reader drags
      view.addResizeListener(() => requestAnimationFrame(() => { place(); drawStaircase(); }));
    }

    // ------------------------------------------------------------------ start

    field.addEventListener("input", () => {
      const value = Number(field.value);
      const isLimit = field.value === "" ? !field.validity.badInput : value > 0;
      field.setCustomValidity(isLimit ? "" : "A limit is above 0; leave it empty for none");
      if (isLimit) set(field.value === "" ? null : value);
      else field.reportValidity();
    });
    menu.addEventListener("change", () => set(limit, Number(menu.value)));
    reset.addEventListener("click", () => set(data.maximum, 0));
    const [saved, objective] = [hash.get(`limit${suffix}`), hash.get(`objective${suffix}`)];
    if (saved === "off") limit = null;
    else if (Number(saved) > 0) limit = Number(saved);
    const wanted = data.choices.findIndex(({ objectives }, index) => index && objectives[0][0] === objective);
    if (wanted > 0) [choice, ranked] = [wanted, ranking.create(data, data.choices[wanted])];
    update();

    return {
      figure, connect, set, update,
      has: (row) => row >= data.start && row < data.start + ranked.count,
      /** What is said of a row (of the page) at the limit, and what to copy if it is the answer. */
      about(row) {
        const about = ranked.about(row - data.start, limit);
        const gain = gainOf(row - data.start, about);
        const texts = [
          gain ? alternatives.gainText(gain) : "",
          hasLimits() ? (about.passes ? chanceText(about) : "misses the constraints") : "",
        ];
        const answer = ranked.at(limit);
        const command = about.passes && alternatives.commandAt(row, choice, data.limit, limit);
        const uses = answer.best === row - data.start ? deploying(answer) : { "Kubernetes command": alternatives.manifestOf(row, command) };
        return { uses, text: `${atLimit()}: ${texts.filter(Boolean).join("; ")}`, isUnsure: !about.passes || isUnsure(about), isEmpty: !texts.some(Boolean) };
      },
      onSet(newFollower) { follower = newFollower; },
      isBrushed: () => isBrushed,
      onRegion(newListener) { listener = newListener; },
      /** Adapts the specification of a chart, if it is of this kind of hardware. */
      adapt(spec, key) {
        if (!isOwn(key)) return;
        adapt(spec);
        if (key === data.chart) spec.layer = spec.layer.filter((layer) => !isLimitLine(layer, ["x"]));
        // lines of other charts are those of the run
        for (const layer of spec.layer.filter((each) => isLimitLine(each, ["x", "y"]))) {
          layer.mark.opacity = { expr: `budget === ${data.maximum} ? 1 : 0` };
        }
      },
    };
  }

  const all = dom.data("instruments").budgets;
  return all.flatMap((data, index) => {
    const hasAxis = data && columns.some(({ key }) => key === data.limit);
    return hasAxis ? [create(data, all.length > 1 ? `-${index + 1}` : "")] : [];
  });
})();
