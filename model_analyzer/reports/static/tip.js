// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The tooltip beside the pointer.
"use strict";
const tip = (() => {
  const { byId, make } = dom;
  const box = byId("tip");

  /** Shows a title and lines of text beside the pointer. */
  function show(event, title, lines) {
    box.hidden = false;
    box.replaceChildren(make("strong", {}, title), ...lines.map((line) => make("div", {}, line)));
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    box.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
    const below = event.clientY + 18;
    box.style.top = `${below + height > innerHeight ? event.clientY - height - 12 : below}px`;
  }

  function hide() {
    box.hidden = true;
  }

  return { show, hide };
})();
