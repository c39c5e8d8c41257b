// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// What is said of measurements that are not the answer. `reports/alternatives.py` describes the data,
// which is unpacked once the page is there.
"use strict";
const alternatives = (() => {
  const { byId, make, unpacked } = dom;
  const { partOf, variantIn, startOf, number } = measurements;
  let parts = []; // by kind of hardware
  let listener = () => {};

  async function load() {
    parts = JSON.parse(await unpacked("alternatives"));
    listener();
  }
  if ("DecompressionStream" in window) load();

  const within = (row) => [parts[partOf(row)], row - startOf(row)];

  /** The gain of a row over the default, in percent: its text, and a note about it or "". By a choice of
      objectives, over this row of the default (of the same kind); null if there is none. */
  function gainOf(row, { choice, base, passes, basePasses }) {
    const [part, own] = within(row);
    const text = passes && part?.gains[choice]?.[base]?.[own];
    if (!text) return null;
    const isClear = !text.startsWith("~");
    if (!isClear && !basePasses) return null;
    const isNone = !isClear && !text.startsWith("~-");
    const [amount, at] = text.replace("~", "").split("|");
    const notes = [isNone ? "no clear gain" : basePasses ? "" : "default fails the constraints", at];
    return { text: amount, note: notes.filter(Boolean).join(", ") };
  }

  /** The value of a metric of a row, with its noise if that is known. */
  function valueOf(tag, row, value) {
    const [part, own] = within(row);
    return part?.values[tag]?.[own] ?? number(value);
  }

  /** What the configuration of a row changes in the default, its config.pbtxt, and the difference. */
  const variantOf = (row) => within(row)[0]?.variants[variantIn(row)] ?? [[], "", ""];

  /** The command that gives the answer at a limit of a metric (null: none), by a choice. */
  function commandAt(row, choice, tag, limit) {
    const [limited, without] = within(row)[0]?.commands[choice] ?? ["", ""];
    const start = limit === null ? without : limited && `${limited} --constraint '${tag}<${limit}'`;
    return start && `${start} --format kubernetes`;
  }

  /** The command that gives the manifest of a row's configuration: one that meets the limits. */
  function manifestOf(row, command) {
    const name = measurements.title(row).replaceAll("'", "'\\''");
    return command && `${command} --variant '${name}'`;
  }

  /** The changes and the buttons of a row; `texts` are further ones to copy, by name. */
  function usesOf(row, texts = {}) {
    const [changes, configuration, difference] = variantOf(row);
    const copied = { "config.pbtxt": configuration, "config.diff": difference, ...texts };
    const buttonOf = ([name, text]) => make("button", { type: "button", "data-copy": text, "data-name": name }, `Copy ${name}`);
    return [
      ...(changes.length ? [make(
        "ul", { class: "changes", "aria-label": "Changes against the default configuration" },
        ...changes.map(([name, before, after]) => make("li", {}, make("b", {}, name), ` ${before} → ${after}`)),
      )] : []),
      make("p", { class: "actions" },
        ...Object.entries(copied).filter(([, text]) => text).map(buttonOf), buttonOf(["link to this view", ""])),
    ];
  }

  const gainText = ({ text, note }) => `${text} % against the default${note && ` (${note})`}`;

  const chanceText = (chance) => `${chance > 0.99 ? "> 99" : chance < 0.01 ? "< 1" : Math.round(100 * chance)} %`;

  return {
    gainOf, gainText, valueOf, commandAt, manifestOf, usesOf, chanceText,
    commandOf: (row) => within(row)[0]?.command ?? "",
    /** The distribution of the latencies of a row, and their averages over time; both may be empty. */
    latenciesOf: (row) => within(row)[0]?.latencies[within(row)[1]] ?? [[], []],
    defaultOf: (row) => within(row)[0]?.default ?? null,
    onReady(newListener) { listener = newListener; },
  };
})();
