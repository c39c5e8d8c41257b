// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Elements of the page. Each module is one constant; a page has those that it needs, in one script.
"use strict";
const dom = (() => {
  const root = document.documentElement;
  root.classList.add("js");

  const byId = (id) => document.getElementById(id);

  /** The JSON in a script element. */
  const data = (id) => JSON.parse(byId(id).textContent);

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

  /** The text in a script element, which is compressed in the page. */
  async function unpacked(id) {
    const packed = Uint8Array.from(atob(byId(id).textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  return { root, byId, data, make, unpacked };
})();
