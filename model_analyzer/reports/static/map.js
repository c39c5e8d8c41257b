// SPDX-FileCopyrightText: 2026 The model-analyzer authors
// SPDX-License-Identifier: Apache-2.0
// The menus above maps of a search: each shows one of the tables below it.
"use strict";
for (const menu of document.querySelectorAll("select.map-pair")) {
  const grids = document.getElementById(menu.getAttribute("aria-controls")).querySelectorAll("table.grid");
  const show = () => grids.forEach((grid, index) => { grid.hidden = index !== menu.selectedIndex; });
  menu.addEventListener("change", show);
  show(); // a browser may restore the choice when it loads the page again
}
