// The perceptron, one update at a time, or the linear unit, pass by pass, on the playground's points.

import { knob } from "./controls.js";
import { Latest } from "./net.js";
import { Plane, make } from "./plane.js";
import { MARKERS } from "./points.js";
import { regions } from "./regions.js";
import { drawLegend, drawScene, outline, paint } from "./scene.js";
import { flattened } from "./store.js";

export const id = "stepper";
export const title = "Perceptron stepper";

const KNOBS = ["unit", "order", "seed", "rate", "least"];
const PERCEPTRON_KNOBS = ["order", "seed", "least"]; // of which the linear unit knows nothing
const PLAY_MS = 700; // time to see one update
const WHOLE_RUN_MS = 30000; // a long run plays faster, to end within this

export function mount(panel, app) {
  const find = (name) => panel.querySelector(`#${name}`);
  const { store, catalogue } = app;
  const plane = new Plane(find("run"));
  const chart = new Plane(find("norms"), { equal: false, log: { x: true, y: true }, margin: [10, 12, 40, 52] });
  let run = null, asked = null, timer = 0;

  const change = (name) => (value, settle) => store.set({ values: { ...store.state.values, [name]: value }, step: 0 }, { settle });
  const knobs = Object.fromEntries(KNOBS.map((name) => [name, knob(catalogue.parameters[name], change(name), "run")]));
  find("run-knobs").append(...Object.values(knobs).map((k) => k.root));

  const solver = new Latest("/steps", (answer) => {
    run = answer;
    find("time").max = run.frames.length - 1;
    showChart(chart, run.norms);
    drawLegend(find("norms-legend"), run.norms); // beside the curves, not on them
    find("run-words").textContent = run.words;
    draw();
    find("run").setAttribute("aria-busy", "false");
  }, (error) => {
    run = null;
    drawScene(plane, null);
    plane.points.replaceChildren();
    find("why-title").textContent = "Nothing to step through yet";
    find("why").textContent = error.message;
    find("count").textContent = "0 / 0";
    find("run").setAttribute("aria-busy", "false");
  });

  const last = () => (run ? run.frames.length - 1 : 0);
  const at = () => Math.min(store.state.step, last());
  const go = (step) => store.set({ step: Math.max(0, Math.min(last(), step)) }, { keep: false });
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    find("play").textContent = "Play";
    find("play").setAttribute("aria-label", "Play");
  };
  const play = () => {
    if (timer) return pause();
    if (at() >= last()) go(0);
    find("play").textContent = "Pause";
    find("play").setAttribute("aria-label", "Pause");
    timer = setInterval(() => {
      if (at() >= last()) pause(); else go(at() + 1);
    }, Math.min(PLAY_MS, WHOLE_RUN_MS / Math.max(1, last())));
  };

  const draw = () => {
    if (!run) return;
    const t = at(), frame = run.frames[t], state = flattened(store.state);
    drawScene(plane, { marks: frameMarks(run, t, state, plane.window) });
    plane.points.replaceChildren(...state.points.map(([x, y, c], place) => dot(plane, x, y, c, frame.cause.includes(place))));
    find("time").value = t;
    find("count").textContent = `${t} / ${last()}`;
    find("why-title").textContent = t ? `Update ${t}: why` : "Before the first update";
    find("why").textContent = frame.why;
    against(find, run, t);
    find("first").disabled = find("back").disabled = t === 0;
    find("last").disabled = find("forward").disabled = t === last();
  };

  find("first").addEventListener("click", () => { pause(); go(0); });
  find("back").addEventListener("click", () => { pause(); go(at() - 1); });
  find("forward").addEventListener("click", () => { pause(); go(at() + 1); });
  find("last").addEventListener("click", () => { pause(); go(last()); });
  find("play").addEventListener("click", play);
  find("time").addEventListener("input", (event) => { pause(); go(Number(event.target.value)); });
  addEventListener("keydown", (event) => {
    if (panel.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest?.("input, select, [role=tab]");
    const keys = { ArrowRight: () => go(at() + 1), ArrowLeft: () => go(at() - 1), Home: () => go(0), End: () => go(last()) };
    if (keys[event.key] && !typing) {
      pause();
      keys[event.key]();
    } else if (event.key === " " && !event.target.closest?.("input, select, button")) {
      play();
    } else {
      return;
    }
    event.preventDefault();
  });

  const question = (state) => ({ points: flattened(state).points, labels: state.labels, names: state.names, values: state.values });
  const follow = (state) => {
    if (panel.hidden) return;
    for (const name of KNOBS) knobs[name].put(state.values[name]);
    for (const name of PERCEPTRON_KNOBS) knobs[name].root.hidden = state.values.unit === "linear";
    knobs.seed.root.style.visibility = state.values.order === "cycle" ? "hidden" : "visible";
    plane.look(state.window, state.names);
    const now = JSON.stringify([flattened(state).points, state.labels, KNOBS.map((name) => state.values[name])]);
    if (now === asked) return draw();
    asked = now;
    find("run").setAttribute("aria-busy", "true");
    solver.ask(question(state));
  };
  store.subscribe(follow);
  new ResizeObserver(() => follow(store.state)).observe(find("run"));
  return { show: () => follow(store.state), hide: pause };
}

// The regions after update t, the boundary before it, and the points that caused it.
function frameMarks(run, t, state, window) {
  if (t === 0) return [];
  const outlines = (frame) => regions(frame.W, frame.b, window).filter((ring) => ring.length > 2);
  const closed = (rings, name, dash, width) => rings.map((ring) => ({
    kind: "Line", x: [...ring, ring[0]].map((p) => p[0]), y: [...ring, ring[0]].map((p) => p[1]), paint: name, dash, width, label: name,
  }));
  const now = regions(run.frames[t].W, run.frames[t].b, window);
  const areas = now.map((ring, i) => ({ kind: "Area", rings: [ring], paint: `class ${run.classes[i]}`, opacity: 0.14 }));
  const before = t > 1 ? closed(outlines(run.frames[t - 1]), "muted", "dashed", 1.4) : [];
  const cause = run.frames[t].cause.map((place) => state.points[place]).filter(Boolean);
  const ring = { kind: "Points", x: cause.map((p) => p[0]), y: cause.map((p) => p[1]), paint: "bad", marker: "circle", size: 12, hollow: true, label: "cause" };
  return [...areas.filter((area) => area.rings[0].length > 2), ...before, ...closed(outlines(run.frames[t]), "ink", "solid", 2), ring];
}

function dot(plane, x, y, c, large) {
  const mark = make("path", { class: "dot", d: outline(MARKERS[c], plane.px(x), plane.py(y), large ? 7 : 5.5) });
  mark.style.fill = paint(`class ${c}`);
  return mark;
}

function against(find, run, t) {
  const meter = find("against");
  meter.max = run.bound ?? Math.max(1, run.frames.length - 1);
  meter.value = t;
  find("against-words").textContent = run.frames[t].told ?? (run.bound === null
    ? `${t} updates; for these points and this rule there is no bound.`
    : `${t} of at most ${Number(run.bound.toPrecision(4))}: R = ${Number(run.radius.toPrecision(4))}, γ = ${Number(run.gamma.toPrecision(4))}.`);
}

function showChart(chart, scene) {
  const xs = [], ys = [];
  for (const mark of scene.marks) {
    mark.x.forEach((x, i) => {
      if (x > 0 && mark.y[i] > 0) { xs.push(x); ys.push(mark.y[i]); }
    });
  }
  if (!xs.length) return chart.scene.replaceChildren();
  const grow = ([low, high]) => (low < high ? [low / 1.3, high * 1.3] : [low / 2, high * 2]);
  chart.look([...grow([Math.min(...xs), Math.max(...xs)]), ...grow([Math.min(...ys), Math.max(...ys)])], [scene.x.label, scene.y.label.split(",")[0]]);
  drawScene(chart, scene);
  return undefined;
}
