// The playground: points, a method, and what is proved about it, while one drags.

import { encode } from "./address.js";
import { html, knob, options, segments } from "./controls.js";
import { mountExports } from "./exports.js";
import { Findings, pointWords } from "./findings.js";
import { Latest, fetchJson } from "./net.js";
import { Plane, around, make } from "./plane.js";
import { MARKERS, PointLayer } from "./points.js";
import { drawLegend, drawScene, outline, paint } from "./scene.js";
import { flattened, start } from "./store.js";

export const id = "playground";
export const title = "Playground";

const TOOLS = { draw: "Draw", erase: "Erase", relabel: "Relabel" };
const SLOW_MS = 1500; // after this the page says why it takes so long
const RIVALS = ["svm", "logistic", "least-squares", "fisher", "perceptron"];

export const question = (state, plane, hurry = false) => ({
  points: state.points, labels: state.labels, names: flattened(state).names, window: plane.window,
  method: state.method, values: state.values, beside: state.beside, line: state.line, hurry,
});

// The classes that have points, by name.
const present = ({ points, labels }) => labels.filter((_, c) => points.some((point) => point[2] === c));

export function mount(panel, app) {
  const find = (name) => panel.querySelector(`#${name}`);
  const { store, catalogue } = app;
  const plane = new Plane(find("plane"));
  const findings = new Findings(find("readouts"));
  const hand = { tool: "draw", active: 0 };
  let shown = null; // the state last drawn: what did not change is not done again
  let hurried = false; // the last answer was a quick one, to be made good when the hand rests

  const layer = new PointLayer(plane, {
    moved: (points, settle) => store.set({ points, picture: "" }, { settle }),
    active: () => hand.active, tool: () => hand.tool,
    labels: () => store.state.labels, said: (words) => findings.say(words),
    told: (place) => pointWords(each, place, flattened(store.state).points, store.state.labels),
    pointed: (words) => { find("pointed").textContent = words; },
  });
  let each = null; // what the last answer says of every point
  let slow = 0; // the timer after which the page says why it takes so long
  const done = (draw) => {
    clearTimeout(slow);
    draw();
    find("plane").setAttribute("aria-busy", String(Boolean(solver.waiting)));
  };
  // While a point is dragged every answer is shown, a little late; an answer to what is no longer
  // there, such as other points or another window, is dropped.
  const still = (asked) => asked.points.length === store.state.points.length
    && asked.method === store.state.method && asked.window === plane.window;
  const solver = new Latest("/solve", (answer, asked) => done(() => {
    if (!still(asked)) return;
    drawScene(plane, answer.scene);
    drawLegend(find("legend"), answer.scene);
    layer.draw(store.state.points, answer.kinds);
    each = answer.each && { ...answer.each, labels: present(asked) };
    layer.resize(asked.values.sizes ? each?.alpha : null);
    if (layer.at !== null) find("pointed").textContent = layer.told(layer.at);
    findings.show(answer, asked.line ? asked.names.slice(0, 1) : asked.names, present(asked));
  }), (error) => done(() => {
    drawScene(plane, null);
    drawLegend(find("legend"), null);
    each = null;
    find("pointed").textContent = "";
    findings.fail(error.message);
  }));
  const solve = () => {
    clearTimeout(slow);
    slow = setTimeout(() => {
      findings.message.textContent = "Still at work. A method that is used for the first time on this machine is compiled, which takes some seconds.";
    }, SLOW_MS);
    find("plane").setAttribute("aria-busy", "true");
    hurried = store.moving;
    solver.ask(question(store.state, plane, hurried));
  };

  const bars = {
    controls: methodControls(find, app),
    classes: classButtons(find, app, hand),
    pictures: pictureButtons(find("pictures"), app),
  };
  toolButtons(find, hand);
  buttons(panel, find, app);
  mountExports({ share: find("share"), python: find("python"), csv: find("csv") }, app,
    () => `${location.origin}/#${encode(store.state, catalogue)}`, () => question(store.state, plane));

  const look = (state) => {
    plane.flat = state.line;
    const { window, names } = flattened(state);
    plane.look(window, names);
  };
  const follow = (state) => {
    if (panel.hidden) return;
    const old = shown ?? {};
    shown = state;
    const looked = old.window !== state.window || old.names !== state.names || old.line !== state.line;
    if (looked) look(state);
    if (looked || old.points !== state.points || old.labels !== state.labels) layer.draw(state.points, null);
    for (const show of Object.values(bars)) show(state);
    find("undo").disabled = !store.past.length;
    find("redo").disabled = !store.future.length;
    find("line").setAttribute("aria-pressed", String(state.line));
    const asked = ["points", "labels", "window", "method", "values", "beside", "names", "line"];
    if (asked.some((name) => old[name] !== state[name]) || (hurried && !store.moving)) solve();
  };
  store.subscribe(follow);
  new ResizeObserver(() => {
    if (panel.hidden || !shown) return;
    look(store.state);
    layer.draw(store.state.points);
    solve();
  }).observe(find("plane"));
  return { show: () => { shown = null; follow(store.state); } };
}

function methodControls(find, { store, catalogue }) {
  const select = find("method");
  for (const group of new Set(catalogue.methods.map((m) => m.group))) {
    const own = catalogue.methods.filter((m) => m.group === group);
    select.append(html("optgroup", { label: group }, ...options(Object.fromEntries(own.map((m) => [m.name, m.title])))));
  }
  select.addEventListener("change", () => store.set({ method: select.value }));
  const change = (name) => (value, settle) => store.set({ values: { ...store.state.values, [name]: value } }, { settle });
  const knobs = Object.fromEntries(Object.values(catalogue.parameters).map((p) => [p.name, knob(p, change(p.name))]));
  find("price").append(knobs.C.root);
  const switches = html("div", { class: "switches" });
  const isSwitch = (name) => catalogue.parameters[name].kind === "switch";
  const titles = Object.fromEntries(catalogue.methods.map((m) => [m.name, m.title]));
  const rivals = knob({ name: "beside", title: "Compare with", kind: "choice",
    choices: { "": "nothing", ...Object.fromEntries(RIVALS.map((name) => [name, titles[name]])) } },
  (value) => store.set({ beside: value }));

  return (state) => {
    const method = catalogue.methods.find((m) => m.name === state.method);
    select.value = state.method;
    find("method-words").textContent = method.words;
    const wanted = visible(method, state);
    knobs.C.root.style.visibility = wanted.includes("C") ? "visible" : "hidden";
    const others = wanted.filter((name) => name !== "C" && !isSwitch(name));
    fill(switches, wanted.filter(isSwitch).map((name) => knobs[name].root));
    fill(find("knobs"), [...others.map((name) => knobs[name].root), rivals.root, switches]);
    for (const name of wanted) knobs[name].put(state.values[name]);
    rivals.put(state.beside);
  };
}

// Replacing children takes the focus away, so they are left alone when they are the same.
function fill(parent, children) {
  const same = parent.children.length === children.length && children.every((child, i) => parent.children[i] === child);
  if (!same) parent.replaceChildren(...children);
}

// Which knobs matter: a degree without powers, or a seed without chance, would only puzzle.
function visible(method, state) {
  const v = state.values;
  const many = new Set(state.points.map((p) => p[2])).size > 2;
  const powers = method.kernelised ? v.kernel === "poly" : v.basis === "polynomial";
  const bumps = method.kernelised ? v.kernel !== "linear" : v.basis === "radial";
  const matters = {
    degree: powers, gamma: bumps, centers: v.basis === "radial", rule: many, duels: many,
    arrow: method.kernelised || v.basis === "none", seed: v.order !== "cycle", C: !(method.parameters.includes("hard") && v.hard),
  };
  return method.parameters.filter((name) => matters[name] ?? true);
}

function classButtons(find, app, hand) {
  const { store } = app;
  const root = find("classes");
  const choose = segments(root, (value) => { hand.active = Number(value); choose(hand.active); });
  const letters = "abcde";
  find("more").addEventListener("click", () => {
    if (store.state.labels.length >= MARKERS.length) {
      app.trouble(`The playground draws ${MARKERS.length} classes at most. “Your data” takes any number.`);
      return;
    }
    const labels = [...store.state.labels];
    labels.push([...letters].find((letter) => !labels.includes(letter)) ?? `class ${labels.length}`);
    hand.active = labels.length - 1;
    store.set({ labels });
  });
  find("fewer").addEventListener("click", () => {
    const labels = store.state.labels.slice(0, -1);
    store.set({ labels, points: store.state.points.filter((p) => p[2] < labels.length) });
  });
  let known = null;
  return ({ labels }) => {
    find("more").setAttribute("aria-disabled", String(labels.length >= MARKERS.length));
    find("fewer").disabled = labels.length <= 2;
    if (hand.active >= labels.length) hand.active = 0;
    if (labels !== known) {
      known = labels;
      root.replaceChildren(...labels.map((label, c) => {
        const mark = make("path", { d: outline(MARKERS[c], 7, 7, 5.5) });
        mark.style.fill = paint(`class ${c}`);
        return html("button", { type: "button", role: "radio", value: c, title: `New points are of class ${label}` },
          make("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, mark), label);
      }));
    }
    choose(hand.active);
  };
}

function toolButtons(find, hand) {
  const root = find("tools");
  root.append(...Object.entries(TOOLS).map(([value, name]) => html("button", { type: "button", role: "radio", value }, name)));
  const choose = segments(root, (value) => {
    hand.tool = value;
    find("plane").dataset.tool = value;
    choose(value);
  });
  find("plane").dataset.tool = hand.tool;
  choose(hand.tool);
}

function pictureButtons(root, app) {
  const { store, catalogue } = app;
  root.append(...catalogue.pictures.map(({ name, title: words, words: more }) => {
    const button = html("button", { type: "button", title: more, value: name }, words);
    button.addEventListener("click", async () => {
      try {
        const picture = start(catalogue, name, await fetchJson(`/pictures/${name}`));
        store.set({ ...picture, tab: store.state.tab });
      } catch (error) {
        app.trouble(error.message);
      }
    });
    return button;
  }));
  return ({ picture }) => {
    for (const button of root.children) button.setAttribute("aria-pressed", String(button.value === picture));
  };
}

function buttons(panel, find, { store }) {
  find("undo").addEventListener("click", () => store.undo());
  find("redo").addEventListener("click", () => store.redo());
  find("zoom").addEventListener("click", () => store.set({ window: around(store.state.points) }));
  find("line").addEventListener("click", () => store.set({ line: !store.state.line }));
  find("clear").addEventListener("click", () => store.set({ points: [], picture: "" }));
  addEventListener("keydown", (event) => {
    if (panel.hidden || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) store.undo();
    else if (key === "y" || (key === "z" && event.shiftKey)) store.redo();
    else return;
    event.preventDefault();
  });
}
