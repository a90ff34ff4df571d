// Controls made from the server's catalogue of knobs.

const MOST_DIGITS = 3;

export function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export function options(choices) {
  return Object.entries(choices).map(([value, title]) => html("option", { value }, title));
}

const text = (value) => String(Number(value.toPrecision(MOST_DIGITS)));

// A labelled control for one knob.  `changed(value, settled)` hears of every move; `put(value)`
// shows a value without telling.
export function knob(spec, changed, prefix = "knob") {
  const id = `${prefix}-${spec.name}`;
  const label = html("label", { for: id }, spec.title);
  if (spec.kind === "choice") {
    const select = html("select", { id }, ...options(spec.choices));
    select.addEventListener("change", () => changed(select.value, true));
    return { root: html("div", { class: "knob" }, label, select), put: (value) => { select.value = value; } };
  }
  if (spec.kind === "switch") {
    const box = html("input", { id, type: "checkbox" });
    box.addEventListener("change", () => changed(box.checked, true));
    return { root: html("div", { class: "knob switch" }, box, label), put: (value) => { box.checked = value; } };
  }
  return slider(spec, id, label, changed);
}

function slider(spec, id, label, changed) {
  const log = spec.kind === "log";
  const to = log ? Math.log10 : (value) => value;
  const from = log ? (place) => Number((10 ** place).toPrecision(MOST_DIGITS)) : Number;
  const range = html("input", { id, type: "range", min: to(spec.low), max: to(spec.high), step: spec.step });
  const output = html("output", { for: id });
  const put = (value) => {
    range.value = to(value);
    output.textContent = text(value);
    range.setAttribute("aria-valuetext", text(value));
  };
  const read = () => {
    const value = Math.min(spec.high, Math.max(spec.low, from(Number(range.value))));
    output.textContent = text(value);
    range.setAttribute("aria-valuetext", text(value));
    return value;
  };
  range.addEventListener("input", () => changed(read(), false));
  range.addEventListener("change", () => changed(read(), true));
  return { root: html("div", { class: "knob" }, html("div", { class: "row" }, label, output), range), put };
}

// Buttons of which one is chosen; arrow keys choose too, as in any group of radio buttons.
export function segments(root, chosen) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) chosen(button.value);
  });
  root.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...root.children];
    const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    next.focus();
    chosen(next.value);
    event.preventDefault();
  });
  return (value) => {
    for (const button of root.children) {
      const here = button.value === String(value);
      button.setAttribute("aria-checked", String(here));
      button.tabIndex = here ? 0 : -1;
    }
  };
}
