// What a page has to keep so that everybody can use it. Each check returns complaints.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const short = (node) => `${node.tagName.toLowerCase()}${node.id ? `#${node.id}` : ""}${node.classList[0] ? `.${node.classList[0]}` : ""} "${(node.getAttribute("aria-label") ?? node.textContent).trim().slice(0, 40)}"`;

  /// Whether something is drawn of an element. Headings for screen readers alone are not.
  function isShown(node) {
    const box = node.getBoundingClientRect();
    return node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && box.width > 0 && box.height > 0 && !node.closest(".unseen");
  }

  // Colors: red, green, blue from 0 to 255, and how much they cover.
  function color(text) {
    const found = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    if (!found) throw new Error(`not a color: ${text}`);
    const [r, g, b, a] = found.slice(1).map((part) => Number(part ?? 1));
    return { rgb: [r, g, b], a };
  }

  const over = (top, under) => under.map((c, i) => top.rgb[i] * top.a + c * (1 - top.a));

  // https://www.w3.org/TR/WCAG21/#dfn-relative-luminance, #dfn-contrast-ratio
  function luminance(rgb) {
    const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function ratio(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }

  /// What may lie behind an element: one color, or black and white where it lies on a picture.
  function behind(node) {
    const layers = [];
    let grounds = null;
    for (let at = node; at && !grounds; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") throw new Error(`a picture as a background: ${short(at)}`);
      if (at !== node && at.querySelector(":scope > canvas, :scope > img")) grounds = [[0, 0, 0], [255, 255, 255]];
      else {
        const layer = color(style.backgroundColor);
        if (layer.a === 1) grounds = [layer.rgb];
        else if (layer.a > 0) layers.unshift(layer);
      }
    }
    grounds ??= [color(getComputedStyle(document.body).backgroundColor).rgb];
    return grounds.map((ground) => layers.reduce((under, layer) => over(layer, under), ground));
  }

  function opacity(node) {
    let product = 1;
    for (let at = node; at; at = at.parentElement) product *= Number(getComputedStyle(at).opacity);
    return product;
  }

  function textContrast(node, ink, size, weight, what) {
    const large = size >= 24 || (size >= 18.66 && weight >= 700);
    const wanted = large ? 3 : 4.5;
    const grounds = behind(node);
    const found = Math.min(...grounds.map((ground) => ratio(over({ rgb: ink.rgb, a: ink.a * opacity(node) }, ground), ground)));
    return found >= wanted ? [] : [`contrast ${found.toFixed(2)} instead of ${wanted}: ${what}`];
  }

  /// The contrast of all text that is shown, and of what stands in fields. WCAG 2.1, 1.4.3: 4.5, and 3 for large text.
  function contrast() {
    const complaints = [];
    let texts = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !isShown(node) || node.closest("script, style, select, title, :disabled")) continue;
      const style = getComputedStyle(node);
      const ink = color(node instanceof SVGElement ? style.fill : style.color);
      texts += 1;
      complaints.push(...textContrast(node, ink, parseFloat(style.fontSize), Number(style.fontWeight), short(node)));
    }
    for (const field of all("input, select, textarea").filter((node) => isShown(node) && !node.disabled)) {
      for (const part of [null, "::placeholder"]) {
        const style = getComputedStyle(field, part);
        texts += 1;
        complaints.push(...textContrast(field, color(style.color), parseFloat(style.fontSize), Number(style.fontWeight), `${short(field)}${part ?? ""}`));
      }
    }
    return texts ? [...new Set(complaints)] : ["there is no text"];
  }

  /// Language, title, headings that skip no level, pictures with a text.
  function structure() {
    const complaints = [];
    if (!/^[a-z]{2}/.test(document.documentElement.lang)) complaints.push("no language");
    if (!document.title.trim()) complaints.push("no title");
    const headings = all("h1, h2, h3, h4, h5, h6").filter((node) => node.checkVisibility() || node.closest(".unseen")?.checkVisibility());
    let level = 0;
    for (const node of headings) {
      const next = Number(node.tagName[1]);
      if (next > level + 1) complaints.push(`level ${next} after ${level}: ${short(node)}`);
      level = next;
    }
    if (headings.filter((node) => node.tagName === "H1").length !== 1) complaints.push("not one h1");
    for (const node of all("img, svg, canvas").filter(isShown)) {
      const isHidden = node.closest("[aria-hidden=true]") !== null;
      if (!isHidden && !(node.getAttribute("alt") ?? node.getAttribute("aria-label"))) complaints.push(`a picture without text: ${short(node)}`);
    }
    for (const [name, nodes] of Map.groupBy(all("[id]"), (node) => node.id)) if (nodes.length > 1) complaints.push(`${nodes.length} elements are #${name}`);
    return complaints;
  }

  /// What reaches beyond the width of the window without a way to scroll there.
  function overflow() {
    const width = document.documentElement.clientWidth;
    const page = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`] : [];
    const dialog = document.querySelector("dialog[open]");
    return dialog && dialog.scrollWidth > dialog.clientWidth ? [...page, `the dialog is ${dialog.scrollWidth} wide`] : page;
  }

  /// What moves by itself, or not at once.
  function motion() {
    const moves = (style) => [...style.transitionDuration.split(","), ...(style.animationName === "none" ? [] : style.animationDuration.split(","))].some((time) => parseFloat(time) > 0);
    const moving = all("*").filter((node) => moves(getComputedStyle(node)) || getComputedStyle(node).scrollBehavior === "smooth");
    return [...new Set(moving.map(short))];
  }

  /// Elements that Tab leads to, in the order of the document.
  function stops() {
    const root = document.querySelector("dialog[open]") ?? document;
    const can = (node) => node.tabIndex >= 0 && !node.disabled && node.checkVisibility({ visibilityProperty: true });
    return all("a[href], button, input, select, textarea, summary, [tabindex]", root).filter(can);
  }

  /// The place among them of the element that has the focus.
  const place = () => stops().indexOf(document.activeElement);
  const at = (position) => short(stops()[position]);

  /// Whether one sees that the element with the focus has it: a ring of 2 pixels and a contrast of 3 to what is around it
  /// (WCAG 2.1, 1.4.11), which nothing cuts off.
  function focusRing() {
    const node = document.activeElement, style = getComputedStyle(node);
    const [width, offset] = [parseFloat(style.outlineWidth), parseFloat(style.outlineOffset)];
    if (!node.matches(":focus-visible") || style.outlineStyle === "none" || width < 2) return [`no ring: ${short(node)}`];
    const around = behind(offset < 0 ? node : node.parentElement);
    const least = Math.min(...around.map((ground) => ratio(over(color(style.outlineColor), ground), ground)));
    if (least < 3) return [`a ring of contrast ${least.toFixed(2)}: ${short(node)}`];
    const own = node.getBoundingClientRect(), more = width + offset - 0.5;
    const ring = { left: own.left - more, right: own.right + more, top: own.top - more, bottom: own.bottom + more };
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement) {
      const edge = box.getBoundingClientRect(), { overflowX, overflowY } = getComputedStyle(box);
      const cut = (overflowX !== "visible" && (ring.left < edge.left || ring.right > edge.right))
        || (overflowY !== "visible" && (ring.top < edge.top || ring.bottom > edge.bottom));
      if (cut) return [`a ring that is cut off by ${short(box)}: ${short(node)}`];
    }
    return ring.left < 0 || ring.right > innerWidth || ring.top < 0 || ring.bottom > innerHeight ? [`a ring out of view: ${short(node)}`] : [];
  }

  window.audit = { contrast, structure, overflow, motion, stops, place, at, focusRing };
})();
