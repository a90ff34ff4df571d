// The points one can take hold of: with a mouse, a finger, or the keyboard.

import { make } from "./plane.js";
import { outline, paint } from "./scene.js";

export const MARKERS = ["circle", "square", "triangle", "diamond", "cross"];
const RADIUS = 5.5;
const HIT = 13; // what a mouse hits without aiming
const LEAST_SIZE = 0.5, MOST_SIZE = 1.6; // of a point with no multiplier, and with the largest
const FINGER = 22; // half a thumb: the nearest point within it is meant
const KINDS = { margin: "on the margin", inside: "inside the margin", misclassified: "misclassified" };

function element(point, place) {
  const dot = make("path", { class: "dot", d: outline(MARKERS[point[2]], 0, 0, RADIUS) });
  dot.style.fill = paint(`class ${point[2]}`);
  return make("g", { class: "point", role: "img", tabindex: place === 0 ? 0 : -1, "data-place": place },
    make("circle", { class: "hit", r: HIT }), make("circle", { class: "focus", r: RADIUS + 5 }), dot);
}

export class PointLayer {
  // `moved(points, settled)` gets new points; `active()` is the class of new ones, `tool()` the tool.
  // `told(place)` is what is known of a point, `pointed(words)` hears it of the one pointed at.
  constructor(plane, { moved, active, tool, labels, said, told, pointed }) {
    Object.assign(this, { plane, moved, active, tool, labels, said, told, pointed, points: [], kinds: null, held: null, at: null });
    plane.svg.addEventListener("pointerover", (event) => this.point(event.target.closest(".point")));
    plane.svg.addEventListener("pointerleave", () => this.point(null));
    plane.svg.addEventListener("pointerdown", (event) => this.press(event));
    plane.svg.addEventListener("pointermove", (event) => this.drag(event));
    plane.svg.addEventListener("pointerup", (event) => this.release(event));
    plane.svg.addEventListener("pointercancel", (event) => this.release(event));
    plane.svg.addEventListener("keydown", (event) => this.key(event));
    // On the element around the picture: Chromium puts whatever in an SVG listens for focus into
    // the order of Tab, and the keyboard would end on a group instead of a point.
    plane.svg.parentElement.addEventListener("focusin", (event) => this.rove(event.target.closest(".point")));
    plane.svg.parentElement.addEventListener("focusout", () => this.point(null));
  }

  draw(points, kinds = this.kinds) {
    const layer = this.plane.points;
    const same = points.length === this.points.length && points.every((p, i) => p[2] === this.points[i][2]);
    const focused = document.activeElement?.closest?.(".point") ? Number(document.activeElement.dataset.place) : null;
    if (!same) layer.replaceChildren(...points.map(element));
    points.forEach((point, place) => {
      const node = layer.children[place];
      node.setAttribute("transform", `translate(${this.plane.px(point[0]).toFixed(1)} ${this.plane.py(this.height(point)).toFixed(1)})`);
      const kind = KINDS[kinds?.[place]];
      node.setAttribute("aria-label", `Point ${place}, class ${this.labels()[point[2]]}, at ${point[0]}${this.plane.flat ? "" : `, ${point[1]}`}${kind ? ", " + kind : ""}`);
    });
    // Without points the picture itself is the stop of Tab, for A adds one.
    if (points.length) this.plane.svg.removeAttribute("tabindex"); else this.plane.svg.setAttribute("tabindex", 0);
    this.points = points;
    this.kinds = kinds;
    if (!same && focused !== null && points.length) this.focus(Math.min(focused, points.length - 1));
  }

  focus(place) {
    this.plane.points.children[(place + this.points.length) % this.points.length]?.focus();
  }

  // Only one point is in the order of Tab; N and P go on from there.
  rove(target) {
    if (!target) return;
    this.point(target);
    for (const node of this.plane.points.children) node.setAttribute("tabindex", node === target ? 0 : -1);
  }

  // On a line points have no height; they keep the one they had in the plane.
  height(point) {
    return this.plane.flat ? 0 : point[1];
  }

  // As large as their multipliers say, or all alike.
  resize(alpha) {
    const most = Math.max(...(alpha ?? [0]), 1e-300);
    [...this.plane.points.children].forEach((node, place) => {
      const size = alpha ? LEAST_SIZE + (MOST_SIZE - LEAST_SIZE) * Math.sqrt(alpha[place] / most) : 1;
      node.querySelector(".dot").setAttribute("transform", `scale(${size.toFixed(2)})`);
    });
  }

  point(node) {
    this.at = node ? Number(node.dataset.place) : null;
    this.pointed(this.at === null ? "" : this.told(this.at));
  }

  // The point under a mouse, or the one nearest to a finger.
  meant(event) {
    if (event.pointerType !== "touch") return event.target.closest(".point");
    const frame = this.plane.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const away = this.points.map((point) => Math.hypot(this.plane.px(point[0]) - x, this.plane.py(this.height(point)) - y));
    const nearest = Math.min(...away);
    return nearest <= FINGER ? this.plane.points.children[away.indexOf(nearest)] : null;
  }

  press(event) {
    if (event.button !== 0) return;
    const node = this.meant(event);
    const tool = this.tool();
    if (!node) {
      if (tool === "draw" && this.plane.inside(event.clientX, event.clientY)) {
        event.preventDefault();
        this.add(this.plane.at(event.clientX, event.clientY), false);
        this.hold(event, this.points.length - 1);
      }
      return;
    }
    event.preventDefault();
    const place = Number(node.dataset.place);
    node.focus({ preventScroll: true });
    if (tool === "erase") this.remove(place);
    else if (tool === "relabel") this.relabel(place, this.active());
    else this.hold(event, place);
  }

  hold(event, place) {
    this.held = { place, pointer: event.pointerId };
    this.plane.svg.setPointerCapture(event.pointerId);
    this.plane.points.children[place].classList.add("held");
  }

  drag(event) {
    if (this.held?.pointer !== event.pointerId) return;
    this.put(this.held.place, this.plane.at(event.clientX, event.clientY), false);
  }

  release(event) {
    if (this.held?.pointer !== event.pointerId) return;
    this.plane.points.children[this.held.place]?.classList.remove("held");
    this.held = null;
    this.moved(this.points, true);
  }

  key(event) {
    const node = event.target.closest(".point");
    const place = node ? Number(node.dataset.place) : -1;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "a" || event.key === "A") {
      const [x0, x1, y0, y1] = this.plane.window;
      this.add([this.plane.round((x0 + x1) / 2), this.plane.round((y0 + y1) / 2)], true);
      this.focus(this.points.length - 1);
    } else if (!node) {
      return;
    } else if (event.key.startsWith("Arrow")) {
      const step = this.plane.pixel * (event.shiftKey ? 24 : 6);
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      const [x, y] = this.points[place];
      this.put(place, [this.plane.round(x + dx * step), this.plane.round(y + dy * step)], true);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.remove(place);
    } else if (event.key >= "1" && event.key <= String(this.labels().length)) {
      this.relabel(place, Number(event.key) - 1);
    } else if ("nN".includes(event.key)) {
      this.focus(place + 1);
    } else if ("pP".includes(event.key)) {
      this.focus(place - 1);
    } else {
      return;
    }
    event.preventDefault();
  }

  put(place, [x, y], settled) {
    const [, old, c] = this.points[place];
    this.moved(this.points.map((p, i) => (i === place ? [x, this.plane.flat ? old : y, c] : p)), settled);
  }

  add([x, y], settled) {
    this.moved([...this.points, [x, this.plane.flat ? 0 : y, this.active()]], settled);
  }

  remove(place) {
    this.moved(this.points.filter((p, i) => i !== place), true);
    this.said(`Point ${place} removed.`);
  }

  relabel(place, c) {
    this.moved(this.points.map((p, i) => (i === place ? [p[0], p[1], c] : p)), true);
    this.said(`Point ${place} is now of class ${this.labels()[c]}.`);
  }
}
