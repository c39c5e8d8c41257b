// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The state of the page in its address, so that a link shows the same view: `#limit=20&search=fast`.
// Plain anchors (`#best`) keep working: beside a state, they become its part `at`.
"use strict";
const hash = (() => {
  const { byId, make } = dom;
  const text = location.hash.slice(1);
  const state = new URLSearchParams(text.includes("=") ? text : "");
  if (text && !text.includes("=")) state.set("at", text);
  let waiting = 0;

  const get = (name) => state.get(name);

  /** Sets a part of the state; null and "" remove it. */
  function set(name, value) {
    if (value === null || value === "") state.delete(name);
    else state.set(name, value);
    clearTimeout(waiting); // browsers limit how often the address may change
    waiting = setTimeout(write, 150);
  }

  function write() {
    clearTimeout(waiting);
    const only = state.size === 1 && state.get("at");
    const fragment = only || String(state);
    if (fragment !== location.hash.slice(1)) {
      history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    }
  }

  /** The address of this view. */
  function link() {
    write();
    return location.href;
  }

  window.addEventListener("hashchange", () => {
    const target = location.hash.slice(1);
    if (target.includes("=")) return location.reload(); // another view
    state.set("at", decodeURIComponent(target));
    return write();
  });

  for (const heading of document.querySelectorAll("h2[id], h3[id]")) {
    if (heading.closest("aside, summary")) continue; // a summary reacts as a whole
    heading.append(" ", make("a", { class: "anchor", href: `#${heading.id}`, "aria-hidden": "true", tabindex: -1 }, "#"));
  }

  /** Opens what is folded around an element. */
  function unfold(element) {
    for (let each = element?.closest("details"); each; each = each.parentElement.closest("details")) each.open = true;
  }

  /** Shows the part of the page that the address names, once all parts are made. */
  function arrive() {
    const target = state.get("at") && byId(state.get("at"));
    unfold(target);
    if (target && text.includes("=")) target.scrollIntoView();
  }

  // also for the part that is in the address already
  document.addEventListener("click", ({ target }) => unfold(byId(target.closest("a[href^='#']")?.hash.slice(1))));

  return { get, set, link, arrive };
})();
