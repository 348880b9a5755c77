() => {
  const found = [];
  const seen = element => { const box = element.getBoundingClientRect(); return box.width > 1 && box.height > 1; };
  const name = element => {
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 50);
    return element.tagName.toLowerCase() + "." + String(element.className).split(" ")[0] + ": " + text;
  };
  const add = (what, element, by) => found.push([what, name(element), Math.round(by)]);
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth + 1) add("page wider than its window", page, page.scrollWidth - page.clientWidth);
  if (document.querySelector("body > section.shown") && page.scrollHeight > page.clientHeight + 1)
    add("slide higher than its window", page, page.scrollHeight - page.clientHeight);
  // The browser's own boxes for what it reads aloud are a pixel large, and icons have no text.
  const skipped = element => element.closest("mjx-assistive-mml, .visually-hidden, .sr-only, svg, .headerlink, .copybtn");
  const article = document.querySelector(".bd-article") || document.body;
  const right = article.getBoundingClientRect().right;
  for (const element of article.querySelectorAll("*")) {
    if (!seen(element) || skipped(element)) continue;
    const style = getComputedStyle(element);
    // On a telephone a formula, a table or code may be scrolled to the side; elsewhere all of it is to be seen.
    const cuts = way => ["hidden", "clip", ...(innerWidth < 600 ? [] : ["auto", "scroll"])].includes(way);
    if (element.tagName !== "IMG" && !element.tagName.startsWith("MJX")) {
      if (cuts(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
        add("wider than its box", element, element.scrollWidth - element.clientWidth);
      if (cuts(style.overflowY) && element.scrollHeight > element.clientHeight + 1)
        add("higher than its box", element, element.scrollHeight - element.clientHeight);
    }
    const box = element.getBoundingClientRect();
    const scrolled = innerWidth < 600 && element.closest(".math, .pst-scrollable-table-container, table, pre, dl, .live-panels");
    const bar = element.closest(".live-bar");  // a bar may be at the window's lower end instead
    if (box.right > right + 1 && !scrolled && !(bar && getComputedStyle(bar).position === "fixed")) add("beyond the page's column", element, box.right - right);
  }
  for (const element of document.querySelectorAll(".math")) {
    if (!element.querySelector("mjx-container")) add("formula not drawn", element, 0);
    else if (element.querySelector("mjx-merror, [data-mjx-error]")) add("formula with an error", element, 0);
  }
  const texts = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode())
    if (/\\\[|\\\(/.test(node.textContent) && !node.parentElement.closest("pre, code, script, style"))
      add("formula not drawn", node.parentElement, 0);
  // A word of a cell or a heading is broken where its letters are on two lines.
  for (const element of article.querySelectorAll("td, th, h1, h2, h3, .live-bar, figcaption")) {
    if (!seen(element) || skipped(element)) continue;
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (node.parentElement.closest("mjx-container, code, pre, svg, script, a.reference.download")) continue;
      for (const word of node.textContent.matchAll(/(?<![\p{L}\d_.])[\p{L}]{3,14}(?![\p{L}\d_.])/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) add("word broken", element, 0);
      }
    }
  }
  // What stands in a picture that is part of the page is inside it.
  for (const text of article.querySelectorAll("svg text")) {
    const own = text.getBoundingClientRect(), around = text.closest("svg").getBoundingClientRect();
    if (!own.width || !around.width) continue;
    const by = Math.max(around.left - own.left, own.right - around.right, around.top - own.top, own.bottom - around.bottom);
    if (by > 1) add("text beyond its picture", text, by);
  }
  for (const element of article.querySelectorAll(".sphx-glr-script-out .highlight pre"))
    if (/^Traceback /m.test(element.textContent)) add("example that failed", element, 0);
  for (const image of document.querySelectorAll("img"))
    if (image.complete && !image.naturalWidth) add("picture not there", image, 0);
  const leaves = selector => [...document.querySelectorAll(selector)].filter(
    element => seen(element) && !skipped(element) && getComputedStyle(element).visibility !== "hidden");
  const parts = leaves(".bd-header .navbar-brand, .bd-header .nav-item > a, .bd-header .nav-item > button, "
    + ".bd-header .search-button-field, .bd-header .search-button, .bd-header .theme-switch-button, .bd-header .version");
  parts.forEach((one, k) => {
    if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 1) add("header item cut", one, 0);
    for (const other of parts.slice(k + 1)) {
      if (one.contains(other) || other.contains(one)) continue;
      const a = one.getBoundingClientRect(), b = other.getBoundingClientRect();
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 1) add("header items overlap", one, across);
    }
  });
  for (const element of document.querySelectorAll(".bd-sidebar-primary a, .bd-sidebar-secondary a")) {
    if (seen(element) && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
      add("sidebar item cut", element, element.scrollWidth - element.clientWidth);
  }
  return found;
}
