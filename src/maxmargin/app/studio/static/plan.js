// What to do with a file: fit or compare, target, method and its options.

import { html, options, segments } from "./controls.js";

const COMMANDS = { fit: "Fit", compare: "Compare" };
const METHODS = {
  svm: "Support vector machine", logistic: "Logistic regression", "least-squares": "Least squares",
  fisher: "Fisher discriminant", quadratic: "A Gaussian for each class", "linear-unit": "Linear unit (delta rule)",
  perceptron: "Perceptron (averaged)", "kernel-svm": "SVM with a kernel",
  "kernel-ridge": "Ridge with a kernel", "kernel-perceptron": "Perceptron with a kernel",
};
const PRICED = ["svm", "logistic", "least-squares", "kernel-svm", "kernel-ridge"];
const KERNELS = { rbf: "Gaussian (rbf)", poly: "polynomial", laplacian: "Laplacian", cosine: "cosine", linear: "linear" };
const BASES = { "": "as given", quadratic: "quadratic", "polynomial:3": "cubic", polar: "polar", "radial:50": "50 radial" };
const RULES = { "": "joint, max", sum: "joint, sum", rest: "one vs rest", pairs: "one vs one" };
const HOLDOUT = { 0: "none", 0.2: "20 % of the rows", 0.3: "30 % of the rows" };
const PRICES = { tune: "cross-validation", given: "me", hard: "none: hard margin" };
const BUDGETS = { "60s": "60 seconds", "10m": "10 minutes", "": "no limit" };
const COMPARED = { all: "all that suit", "svm,logistic,least-squares,fisher": "four linear ones", "svm,logistic,perceptron,least-squares,fisher,kernel-svm,kernel-ridge": "one of each kind" };
const COMPARED_BASES = { "as given": "as given", all: "all that suit", "as given,quadratic": "as given and quadratic" };

const choice = (name, title, choices, wide = false) => {
  const select = html("select", { id: `data-${name}` }, ...options(choices));
  return html("div", { class: wide ? "knob wide" : "knob" }, html("label", { for: select.id }, title), select);
};

// Who chooses C, and beside it the C that is given.
function priceChoice() {
  const knob = choice("price", "C chosen by", PRICES);
  const box = html("input", { id: "data-C", type: "number", min: "0", step: "any", value: "1", inputmode: "decimal", "aria-label": "C" });
  knob.append(html("div", { class: "pair-of" }, knob.lastChild, box));
  return knob;
}

export class Plan {
  constructor(find, targeted) {
    Object.assign(this, { find, targeted, command: "fit", told: null });
    find("knobs").append(
      choice("method", "Method", METHODS, true), priceChoice(),
      choice("kernel", "Kernel", KERNELS), choice("basis", "Basis", BASES), choice("multiclass", "Many classes", RULES),
      choice("holdout", "Held out to judge", HOLDOUT),
      choice("methods", "Methods", COMPARED, true), choice("bases", "Bases", COMPARED_BASES, true),
    );
    find("budget").append(...options(BUDGETS));
    const group = find("command");
    group.append(...Object.entries(COMMANDS).map(([value, title]) => html("button", { type: "button", role: "radio", value }, title)));
    this.put = segments(group, (name) => { this.command = name; this.follow(); });
    for (const name of ["method", "price"]) find(name).addEventListener("change", () => this.follow());
    find("target").addEventListener("change", () => { this.follow(); targeted(); });
  }

  open(told) {
    this.told = told;
    const select = this.find("target");
    // By number: a name may be anything, also nothing.
    select.replaceChildren(...told.columns.map((column, place) => html("option", { value: place }, column.name || "(no name)")));
    const at = told.columns.findIndex((column) => column.name === told.target);
    select.value = String(Math.max(0, at));
    this.find("options").disabled = false;
    select.disabled = !told.table;
    this.follow();
    this.targeted();
  }

  close() {
    this.told = null;
    this.find("target").replaceChildren();
    this.find("options").disabled = true;
    this.follow();
  }

  get target() {
    return this.told?.table ? this.told.columns[Number(this.find("target").value)].name : null;
  }

  follow() {
    const { find } = this, fit = this.command === "fit", method = find("method").value;
    const kernel = method.startsWith("kernel");
    this.put(this.command);
    const shown = {
      method: fit, holdout: fit, methods: !fit, bases: !fit, price: fit && PRICED.includes(method),
      kernel: fit && kernel, basis: fit && !kernel, multiclass: fit && (method === "svm" || method === "kernel-svm"),
    };
    for (const [name, wanted] of Object.entries(shown)) find(name).closest(".knob").hidden = !wanted;
    find("C").hidden = find("price").value !== "given";
    const hard = find("price").querySelector("[value=hard]");
    hard.disabled = !method.endsWith("svm");
    if (hard.disabled && hard.selected) find("price").value = "tune";
    find("run").textContent = COMMANDS[this.command];
    find("target-words").textContent = this.told ? targetWords(this.told, this.target) : "Drop a file first.";
  }

  // As if it had been chosen by hand; a comparison may name what the lists do not offer.
  choose({ method, basis }) {
    const put = (name, value) => {
      const select = this.find(name);
      if (![...select.options].some((option) => option.value === value)) select.append(html("option", { value }, value));
      select.value = value;
    };
    this.command = "fit";
    put("method", method);
    put("basis", basis === "as given" ? "" : basis);
    this.find("price").value = "tune";
    this.find("multiclass").value = "";
    this.follow();
  }

  asked() {
    const { find } = this;
    const asked = { command: this.command, target: this.target, budget: find("budget").value };
    const names = this.command === "fit" ? ["method", "kernel", "basis", "multiclass"] : ["methods", "bases"];
    for (const name of names) if (!find(name).closest(".knob").hidden) asked[name] = find(name).value;
    if (this.command === "compare") return asked;
    asked.holdout = Number(find("holdout").value);
    const price = find("price").closest(".knob").hidden ? "tune" : find("price").value;
    if (price === "hard") asked.C = "inf";
    if (price === "given") asked.C = find("C").valueAsNumber || 0; // refused in words
    return asked;
  }
}

function targetWords(told, target) {
  if (!told.table) return `Labels are known: ${told.classes.map(([label, count]) => `${label} (${count})`).join(", ")}.`;
  const { distinct, missing } = told.columns.find((column) => column.name === target);
  const lost = missing ? ` ${missing} rows have none and are left out.` : "";
  return distinct === null ? "" : `${distinct} different values.${lost}`;
}
