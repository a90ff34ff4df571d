// What is said beside the picture: numbers of a fixed size, the proof, and the same for the ear.

import { html } from "./controls.js";

const PAUSE_MS = 700; // a voice speaks when the hand rests, not at every pixel
const NONE = "–";

const digits = (value) => (value === null || value === undefined ? NONE : Number(value.toPrecision(4)).toString());
const whole = (value) => (value === null || value === undefined ? NONE : String(value));

// The rule itself: w·x + b, one line for each weight vector.
function equations(weights, names, labels) {
  if (!weights) return "";
  const term = (value, name, first) => `${value < 0 ? "−" : first ? "" : "+"}${first ? "" : " "}${digits(Math.abs(value))}${name ? ` ${name}` : ""}`;
  return weights.W.map((w, i) => {
    const who = weights.W.length === 1 ? "f" : weights.W.length === labels.length ? `f(${labels[i]})` : `f${i + 1}`;
    return `${who} = ${names.map((name, j) => term(w[j], name, j === 0)).join(" ")} ${term(weights.b[i], "", false)}`;
  }).join("\n");
}

// What the model says of one point; nothing of points that came or went since it was asked.
export function pointWords(each, place, points, labels) {
  if (each?.margin.length !== points.length) return "";
  const [x, y, c] = points[place];
  const words = [`${labels[c]} at ${digits(x)}, ${digits(y)}`, `margin ${digits(each.margin[place])}`];
  if (each.slack) words.push(`slack ξ ${digits(each.slack[place])}`);
  if (each.alpha) words.push(`α ${digits(each.alpha[place])}`);
  each.probability?.[place].forEach((p, i) => words.push(`P(${each.labels[i]}) ${(100 * p).toFixed(1)} %`));
  return words.join(" · ");
}

function tile(title) {
  const value = html("dd", {}, NONE);
  return { root: html("div", {}, html("dt", {}, title), value), value };
}

export class Findings {
  constructor(root) {
    const titles = { margin: "margin γ", violations: "margin violations", support: "support vectors", errors: "training errors" };
    this.tiles = Object.fromEntries(Object.entries(titles).map(([name, title]) => [name, tile(title)]));
    root.replaceChildren(...Object.values(this.tiles).map((t) => t.root));
    this.proof = document.getElementById("proof");
    this.verdict = document.getElementById("verdict");
    this.certificate = document.getElementById("certificate");
    this.spoken = document.getElementById("spoken");
    this.message = document.getElementById("message");
    this.equation = document.getElementById("equation");
    this.timer = 0;
  }

  put(name, title, value, small = "") {
    const { root, value: cell } = this.tiles[name];
    root.firstChild.textContent = title;
    cell.replaceChildren(value, html("small", {}, small));
  }

  // Names of the axes and of the classes that have points, as the answer counts them.
  show(answer, names, labels) {
    Object.assign(this, { names, labels });
    this.put("margin", "margin γ", digits(answer.margin), answer.margin ? `width ${digits(2 * answer.margin)}` : "");
    const s = answer.support;
    if (answer.updates !== null) {
      this.put("violations", "updates", whole(answer.updates));
      this.put("support", "bound R²/γ²", answer.bound ? digits(answer.bound) : NONE);
    } else {
      this.put("violations", "margin violations", whole(answer.violations));
      const kinds = s ? `${s.margin} on · ${s.inside} in · ${s.misclassified} wrong` : "";
      this.put("support", "support vectors", s ? whole(s.margin + s.inside + s.misclassified) : NONE, kinds);
    }
    const unknown = answer.undecided === null ? "" : `, ${answer.undecided} unknown`;
    this.put("errors", "training errors", whole(answer.errors), answer.errors === null ? "" : `of ${answer.points}${unknown}`);
    const places = ["margin", "violations", "support"]; // which these methods do not have
    (answer.measures ?? []).forEach(([title, value, small], i) => this.put(places[i], title, digits(value), small));
    this.equation.textContent = equations(answer.weights, this.names, this.labels);
    const { proved, words, verdict } = answer.certificate;
    this.proof.dataset.proved = proved ? "yes" : "no";
    this.verdict.textContent = verdict;
    this.certificate.textContent = words;
    this.message.textContent = "";
    this.say(`${verdict}. Margin ${digits(answer.margin)}, ${whole(answer.errors)} training errors.`);
  }

  fail(words) {
    for (const name of Object.keys(this.tiles)) this.put(name, this.tiles[name].root.firstChild.textContent, NONE);
    this.proof.dataset.proved = "none";
    this.verdict.textContent = "Nothing to prove yet";
    this.certificate.textContent = this.equation.textContent = "";
    this.message.textContent = words;
    this.say(words);
  }

  say(words) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.spoken.textContent = words; }, PAUSE_MS);
  }
}
