// The state of the page, with undo.  States are never changed, only replaced.

import { around } from "./plane.js";

const MOST_UNDO = 300;

// What a data set of the server looks like as a state.
export function start(catalogue, name, picture) {
  const values = Object.fromEntries(Object.entries(catalogue.parameters).map(([key, p]) => [key, p.default]));
  return {
    tab: "playground", picture: name, names: picture.names, labels: picture.labels,
    points: picture.points, line: picture.line, window: around(picture.points), method: picture.method, beside: picture.beside,
    values: { ...values, ...picture.values }, step: 0,
  };
}

// On a line: one feature, and the score above and below.
const SCORES = [-3, 3];
export const flattened = (state) => (state.line
  ? { ...state, points: state.points.map(([x, , c]) => [x, 0, c]), names: [state.names[0], "score"], window: [state.window[0], state.window[1], ...SCORES] }
  : state);

export class Store {
  constructor(state) {
    this.state = state;
    this.settled = state;
    this.past = [];
    this.future = [];
    this.listeners = [];
  }

  subscribe(listener) {
    this.listeners.push(listener);
  }

  // `settle: false` while a gesture goes on: undo takes back gestures, not pixels.
  // `keep: false` for what undo should not bring back, such as the room one is in.
  set(patch, { settle = true, keep = true } = {}) {
    const moving = this.moving;
    this.state = { ...this.state, ...patch };
    if (!keep) this.settled = moving ? { ...this.settled, ...patch } : this.state;
    else if (settle) this.settle();
    this.tell();
  }

  // A gesture is going on.
  get moving() {
    return this.state !== this.settled;
  }

  settle() {
    const changed = Object.keys(this.state).some((name) => this.state[name] !== this.settled[name]);
    if (changed) {
      this.past.push(this.settled);
      if (this.past.length > MOST_UNDO) this.past.shift();
      this.future = [];
    }
    this.settled = this.state;
  }

  undo() {
    this.travel(this.past, this.future);
  }

  redo() {
    this.travel(this.future, this.past);
  }

  travel(from, to) {
    if (!from.length) return;
    to.push(this.settled);
    this.settled = this.state = { ...from.pop(), tab: this.state.tab };
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener(this.state);
  }
}
