// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// Buttons that copy a text of the answer, or the address of this view.
"use strict";
(() => {
  const { byId, make } = dom;
  let hiding = 0;

  /** Copies a text; without access to the clipboard (in files of some browsers), as a selection. */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = make("textarea", { class: "copying", readonly: true, "aria-hidden": "true" });
      area.value = text;
      document.body.append(area);
      area.select();
      const isCopied = document.execCommand("copy");
      area.remove();
      return isCopied;
    }
  }

  function announce(message) {
    byId("copied").textContent = message;
    clearTimeout(hiding);
    hiding = setTimeout(() => { byId("copied").textContent = ""; }, 4000);
  }

  // some buttons come with another limit, or with a selected measurement
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    const isCopied = await copy(button.dataset.copy || hash.link());
    button.focus();
    announce(isCopied ? `Copied the ${button.dataset.name}.` : "The browser does not allow to copy.");
  });
})();
