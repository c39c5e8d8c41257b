// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Light and dark colours: those of the system, until the reader switches.
"use strict";
const theme = (() => {
  const { root, byId } = dom;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const listeners = [];

  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const onChange = (listener) => listeners.push(listener);

  function label() {
    byId("theme").textContent = isDark() ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
  }

  function changed() {
    label();
    for (const listener of listeners) listener();
  }

  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  system.addEventListener("change", changed);
  label();

  return { isDark, onChange };
})();
