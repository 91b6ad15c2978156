// Comfort for the console's pages; each of them works without it.
"use strict";

(() => {
  const quiet = (node) => node.closest("input, textarea, select, [contenteditable]");

  // "/" goes to the field of the page, Escape leaves it.
  document.addEventListener("keydown", (e) => {
    if (e.metaKey || e.ctrlKey || e.altKey) return;
    if (e.key === "/" && !quiet(e.target)) {
      const field = document.querySelector("input[type=search], form.lookup input");
      if (field) {
        e.preventDefault();
        field.focus();
        field.select();
      }
    } else if (e.key === "Escape" && quiet(e.target)) {
      e.target.blur();
    }
  });

  // Ids are copied by a button.
  if (navigator.clipboard) {
    for (const button of document.querySelectorAll("button.copy")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(button.dataset.copy);
          const label = button.textContent;
          button.textContent = document.body.dataset.copied;
          setTimeout(() => { button.textContent = label; }, 1500);
        } catch { /* the browser doesn't allow it; the id can be selected */ }
      });
    }
  }

  // A form isn't sent twice.
  document.addEventListener("submit", (e) => {
    if (e.target.method !== "post") return;
    const button = e.submitter;
    if (button) setTimeout(() => { button.disabled = true; }, 0);
  });

  // What was just done is said once, not after each reload.
  const here = new URL(location.href);
  if (here.searchParams.has("done")) {
    here.searchParams.delete("done");
    history.replaceState(null, "", here);
  }

  // The values of a chart show under the pointer.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const rule = document.createElement("i");
  rule.className = "rule";
  const hide = () => { tip.hidden = true; rule.remove(); };
  document.addEventListener("pointermove", (e) => {
    const canvas = e.target instanceof Element && e.target.closest(".canvas");
    if (!canvas || !canvas.dataset.points) return hide();
    const box = canvas.getBoundingClientRect();
    const x = 100 * (e.clientX - box.left) / box.width;
    let best = null;
    for (const row of canvas.dataset.points.trim().split("\n")) {
      const [at, ...said] = row.split("|");
      const off = Math.abs(at - x);
      if (at >= -1 && (!best || off < best.off)) best = { off, at, said };
    }
    if (!best) return hide();
    tip.replaceChildren(...best.said.map((text, i) => {
      const line = document.createElement(i ? "span" : "b");
      line.textContent = text;
      return line;
    }));
    tip.hidden = false;
    const left = box.left + box.width * best.at / 100;
    tip.style.left = Math.min(Math.max(8, left + 12), innerWidth - tip.offsetWidth - 8) + scrollX + "px";
    tip.style.top = box.top + scrollY - tip.offsetHeight - 6 + "px";
    rule.style.left = best.at + "%";
    if (rule.parentNode !== canvas) canvas.append(rule);
  });
  document.addEventListener("scroll", hide, { passive: true });

  // The overview is drawn anew while it is looked at.
  if (document.getElementById("live")) {
    setInterval(async () => {
      const live = document.getElementById("live");
      if (document.hidden || live.contains(document.activeElement) || !tip.hidden) return;
      try {
        const answer = await fetch(location.href, { credentials: "same-origin" });
        if (!answer.ok) return;
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
        if (fresh) live.replaceWith(fresh);
      } catch { /* the server is away; the next try may find it */ }
    }, 15000);
  }
})();
