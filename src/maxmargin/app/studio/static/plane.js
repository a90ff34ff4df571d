// Two axes in an SVG element: from data to pixels and back, with grid and labels.

const SVG = "http://www.w3.org/2000/svg";
const ROOM = 0.09; // space around the points, as a share of their extent
const MOST_TICKS = 40;
const PER_TICK = { x: 90, y: 60 }; // pixels between labels, at least

export function make(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// The window that shows all points with a little room; [x from, x to, y from, y to].
export function around(points) {
  if (!points.length) return [-3, 3, -3, 3];
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  let [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const extent = Math.max(x1 - x0, y1 - y0) || 2;
  const padX = Math.max(ROOM * extent, (0.3 * extent - (x1 - x0)) / 2);
  const padY = Math.max(ROOM * extent, (0.3 * extent - (y1 - y0)) / 2);
  const decimals = Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(extent))));
  return [x0 - padX, x1 + padX, y0 - padY, y1 + padY].map((v) => Number(v.toFixed(decimals)));
}

// Round numbers from low to high, about `count` of them; two at least, for one is no scale.
export function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const steps = [10, 5, 2, 1, 0.5].map((m) => m * unit);
  const many = (step) => Math.floor(high / step) - Math.ceil(low / step) + 1;
  const wide = steps.filter((step) => step >= rough);
  const step = many(wide.at(-1)) >= 2 ? wide.at(-1) : steps.find((s) => many(s) >= 2) ?? wide.at(-1);
  const places = [];
  const first = Math.ceil(low / step);
  for (let i = 0; i < MOST_TICKS && (first + i) * step <= high; i += 1) {
    places.push(Number(((first + i) * step).toPrecision(10)));
  }
  return places;
}

function decades(low, high) {
  const places = [];
  for (let e = Math.ceil(low); e <= high; e += 1) places.push(e);
  const every = Math.ceil(places.length / 6);
  return places.filter((e, i) => i % every === 0);
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (e) => "10" + (e < 0 ? "⁻" : "") + [...String(Math.abs(e))].map((d) => RAISED[d]).join("");

export const short = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

export class Plane {
  constructor(svg, { equal = true, log = { x: false, y: false }, margin = [12, 14, 42, 52] } = {}) {
    Object.assign(this, { svg, equal, log, margin, names: ["x", "y"], asked: [-1, 1, -1, 1], words: null, flat: false });
    this.axes = make("g", { "aria-hidden": "true" });
    this.id = `clip-${svg.id}`;
    this.clip = make("rect");
    const defs = make("defs", {}, make("clipPath", { id: this.id }, this.clip), hatch(svg.id));
    this.scene = make("g", { "clip-path": `url(#${this.id})`, "pointer-events": "none", "aria-hidden": "true" });
    this.points = make("g", { "clip-path": `url(#${this.id})` });
    svg.replaceChildren(defs, this.axes, this.scene, this.points);
    this.measure();
  }

  // Where the element is now, and the window that fills it with equal units.
  measure() {
    const { width, height } = this.svg.getBoundingClientRect();
    const [top, right, bottom, left] = this.margin;
    this.box = { left, top, width: Math.max(40, width - left - right), height: Math.max(40, height - top - bottom) };
    this.svg.setAttribute("viewBox", `0 0 ${Math.max(1, width)} ${Math.max(1, height)}`);
    for (const [key, value] of Object.entries({ x: left, y: top, width: this.box.width, height: this.box.height })) {
      this.clip.setAttribute(key, value);
    }
    let [x0, x1, y0, y1] = this.asked;
    if (this.log.x) [x0, x1] = [Math.log10(x0), Math.log10(x1)];
    if (this.log.y) [y0, y1] = [Math.log10(y0), Math.log10(y1)];
    if (this.equal && !this.flat) {
      const unit = Math.max((x1 - x0) / this.box.width, (y1 - y0) / this.box.height);
      const growX = (unit * this.box.width - (x1 - x0)) / 2, growY = (unit * this.box.height - (y1 - y0)) / 2;
      [x0, x1, y0, y1] = [x0 - growX, x1 + growX, y0 - growY, y1 + growY];
    }
    this.window = [x0, x1, y0, y1];
  }

  look(window, names) {
    this.asked = window;
    this.names = names;
    this.measure();
    this.drawAxes();
  }

  px(x) {
    const [x0, x1] = this.window;
    return this.box.left + ((this.log.x ? Math.log10(x) : x) - x0) / (x1 - x0) * this.box.width;
  }

  py(y) {
    const [, , y0, y1] = this.window;
    return this.box.top + (y1 - (this.log.y ? Math.log10(y) : y)) / (y1 - y0) * this.box.height;
  }

  // Data at a place of the screen, or at the nearest place inside the picture: what is dragged
  // out of sight could not be taken hold of again.
  at(clientX, clientY) {
    const frame = this.svg.getBoundingClientRect();
    const [x0, x1, y0, y1] = this.window;
    const share = (value) => Math.min(1, Math.max(0, value));
    const x = x0 + share((clientX - frame.left - this.box.left) / this.box.width) * (x1 - x0);
    const y = y1 - share((clientY - frame.top - this.box.top) / this.box.height) * (y1 - y0);
    return [this.round(x), this.round(y)];
  }

  // One pixel in data units.
  get pixel() {
    return (this.window[1] - this.window[0]) / this.box.width;
  }

  // Rounded to less than a pixel, so that addresses stay short.
  round(value) {
    const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(this.pixel * 0.3))));
    return Number(value.toFixed(digits));
  }

  // What of a place is inside the picture.
  inside(clientX, clientY) {
    const frame = this.svg.getBoundingClientRect();
    const x = clientX - frame.left - this.box.left, y = clientY - frame.top - this.box.top;
    return x >= 0 && y >= 0 && x <= this.box.width && y <= this.box.height;
  }

  // Powers of ten that would be long are written as such.
  word(value, log) {
    const e = Math.round(Math.log10(value));
    return log && Math.abs(e) > 2 ? power(e) : short(value);
  }

  drawAxes() {
    const { left, top, width, height } = this.box;
    const [x0, x1, y0, y1] = this.window;
    const marks = [];
    const xs = this.log.x ? decades(x0, x1).map((e) => 10 ** e) : ticks(x0, x1, width / PER_TICK.x);
    // `words`, a map from places to words, where numbers on the y axis will not do.
    const ys = this.words ? [...this.words.keys()]
      : this.log.y ? decades(y0, y1).map((e) => 10 ** e) : ticks(y0, y1, height / PER_TICK.y);
    for (const x of xs) {
      const at = this.px(x);
      marks.push(make("line", { class: "grid", x1: at, x2: at, y1: top, y2: top + height }),
        make("text", { x: at, y: top + height + 16, "text-anchor": "middle" }, this.word(x, this.log.x)));
    }
    for (const y of ys) {
      const at = this.py(y);
      marks.push(make("line", { class: "grid", x1: left, x2: left + width, y1: at, y2: at }),
        make("text", { x: left - 7, y: at + 4, "text-anchor": "end" }, this.words?.get(y) ?? this.word(y, this.log.y)));
    }
    const middle = top + height / 2;
    marks.push(
      make("text", { class: "axis-label", x: left + width / 2, y: top + height + 34, "text-anchor": "middle" }, this.names[0]),
      make("text", { class: "axis-label", x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, this.names[1]),
    );
    this.axes.replaceChildren(...marks);
  }
}

function hatch(id) {
  const lines = make("path", { d: "M-1,7 L7,-1 M-1,1 L1,-1 M5,7 L7,5", class: "hatch" });
  lines.style.stroke = "var(--unknown)";
  lines.style.strokeWidth = "1.1";
  return make("pattern", { id: `hatch-${id}`, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, lines);
}
