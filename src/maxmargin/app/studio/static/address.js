// The state as the fragment of an address, and back.  Only what differs from the defaults is
// written; points are "A1.5,2B3,4": a letter for the class and two numbers.

import { around } from "./plane.js";

const MOST_POINTS = 2000;
const MOST_LETTERS = 60;
const LETTERS = "ABCDE";

const LARGEST = 1e9; // the server's limit, too
const SMALLEST = 1e-9; // a window narrower than this, for its distance from zero, has no digits left

export function encode(state, catalogue) {
  const query = new URLSearchParams();
  if (state.tab !== "playground") query.set("tab", state.tab);
  if (state.picture) query.set("set", state.picture);
  query.set("m", state.method);
  if (state.beside) query.set("with", state.beside);
  for (const [name, knob] of Object.entries(catalogue.parameters)) {
    if (state.values[name] !== knob.default) query.set(name, String(state.values[name]));
  }
  if (state.line) query.set("line", "1");
  if (state.step) query.set("step", String(state.step));
  for (const word of state.names) query.append("n", word);
  for (const word of state.labels) query.append("l", word);
  query.set("w", state.window.join(","));
  query.set("p", state.points.map(([x, y, c]) => `${LETTERS[c]}${x},${y}`).join(""));
  return query.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
}

function knobValue(text, knob) {
  if (knob.kind === "switch") {
    if (text === "true" || text === "false") return text === "true";
  } else if (knob.kind === "choice") {
    if (Object.hasOwn(knob.choices, text)) return text;
  } else {
    const value = Number(text);
    if (text !== "" && value >= knob.low && value <= knob.high) return value;
  }
  throw new Error(`${knob.name} cannot be “${text.slice(0, 30)}”.`);
}

function pointsOf(text, classes) {
  const points = [];
  if (text === "") return points;
  const pattern = /([A-E])(-?[\d.]+(?:e[+-]?\d+)?),(-?[\d.]+(?:e[+-]?\d+)?)/y;
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text);
    if (!found) throw new Error(`its point ${points.length} is damaged.`);
    const [x, y, c] = [Number(found[2]), Number(found[3]), LETTERS.indexOf(found[1])];
    if (!(Math.abs(x) <= LARGEST && Math.abs(y) <= LARGEST)) throw new Error(`its point ${points.length} is damaged.`);
    if (c >= classes) throw new Error(`point ${points.length} has a class without a name.`);
    points.push([x, y, c]);
  }
  if (points.length > MOST_POINTS) throw new Error(`it has more than ${MOST_POINTS} points.`);
  return points;
}

function wordsOf(words, least, most, what) {
  if (what === "classes" && words.length > most) throw new Error(`it has ${words.length} classes, and the playground draws ${most} at most.`);
  if (words.length < least || words.length > most) throw new Error(`it must name ${least} to ${most} ${what}.`);
  return words.map((word) => word.slice(0, MOST_LETTERS));
}

function wide(low, high) {
  const size = Math.max(Math.abs(low), Math.abs(high));
  return size <= 10 * LARGEST && high - low > SMALLEST * size;
}

export function decode(fragment, catalogue) {
  const query = new URLSearchParams(fragment);
  const method = query.get("m");
  const known = catalogue.methods.map((m) => m.name);
  if (!known.includes(method)) throw new Error(`there is no method “${String(method).slice(0, 30)}”.`);
  const beside = query.get("with") ?? "";
  if (beside && !known.includes(beside)) throw new Error(`there is no method “${beside.slice(0, 30)}”.`);
  const values = {};
  for (const [name, knob] of Object.entries(catalogue.parameters)) {
    values[name] = query.has(name) ? knobValue(query.get(name), knob) : knob.default;
  }
  const labels = wordsOf(query.getAll("l"), 2, 5, "classes");
  const names = wordsOf(query.getAll("n"), 2, 2, "axes");
  const points = pointsOf(query.get("p") ?? "", labels.length);
  const window = query.has("w") ? query.get("w").split(",").map(Number) : around(points);
  if (!(window.length === 4 && wide(window[0], window[1]) && wide(window[2], window[3]))) {
    throw new Error("its window is damaged.");
  }
  const step = Number(query.get("step") ?? 0);
  return {
    tab: query.get("tab") ?? "playground", picture: query.get("set") ?? "", names, labels,
    points, window, method, beside, values, line: query.get("line") === "1",
    step: Number.isInteger(step) && step >= 0 ? step : 0,
  };
}
