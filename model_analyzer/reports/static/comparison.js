// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// A comparison: charts that react to the pointer, and tables that the reader sorts. Without scripts,
// tables keep their order and charts are images.
"use strict";
(() => {
  function narrowed(config, spec) {
    for (const { encoding } of spec.layer) {
      if (encoding.y.axis) delete encoding.y.axis.labelLimit;
      for (const channel of [encoding.color, encoding.shape]) {
        if (channel && channel.legend) delete channel.legend.columns;
      }
    }
    const axis = { ...config.axis, labelLimit: 120 };
    return { ...config, axis, legend: { ...config.legend, columns: 2 } };
  }

  /** Shows what the mark under the pointer stands for. */
  function point(event, item) {
    const [title, ...lines] = charts.datumOf(item)?.tip || [];
    if (title === undefined) tip.hide();
    else tip.show(event, title, lines);
  }

  charts.start({
    narrowed,
    connect(view) {
      view.addEventListener("pointermove", point);
      view.addEventListener("pointerout", tip.hide);
    },
  });
  document.querySelectorAll("table.sortable").forEach(sortable.connect);
})();
