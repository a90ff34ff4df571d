// Coefficients as bars, one picture for each row of weights.

import { html } from "./controls.js";
import { Plane, make } from "./plane.js";
import { drawLegend, drawScene } from "./scene.js";

const PER_BAR = 24, FRAME = 30; // pixels
const ROOM = 0.06; // beyond the longest bar
let number = 0;

function span(marks) {
  const ends = marks.flatMap((mark) => mark.length);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const room = ROOM * (high - low) || 1;
  return [low - (low < 0 ? room : 0), high + (high > 0 ? room : 0)];
}

function picture(scene) {
  number += 1;
  const svg = make("svg", { id: `weights-${number}`, role: "img", "aria-label": scene.words });
  const box = html("div", { class: "bars" }, svg);
  box.style.height = `${FRAME + PER_BAR * scene.y.ticks.length}px`;
  const legend = html("ul", { class: "legend" });
  drawLegend(legend, scene);
  const draw = () => {
    const left = Math.min(200, box.clientWidth * 0.42);
    const plane = new Plane(svg, { equal: false, margin: [4, 14, 22, left] });
    const letters = Math.max(6, Math.floor(left / 7.2));
    plane.words = new Map(scene.y.ticks.map(([at, name]) => [at, name.length > letters ? `${name.slice(0, letters - 1)}…` : name]));
    plane.look([...span(scene.marks), ...scene.y.limits], ["", ""]);
    drawScene(plane, scene);
  };
  return { root: html("figure", {}, html("figcaption", {}, scene.title, html("small", {}, ` (${scene.x.label})`)), box, legend), draw };
}

export function weightsView(scenes) {
  const pictures = scenes.map(picture);
  const root = html("div", { class: "pad" }, ...pictures.map((p) => p.root));
  root.addEventListener("look", () => { for (const p of pictures) p.draw(); });
  return root;
}
