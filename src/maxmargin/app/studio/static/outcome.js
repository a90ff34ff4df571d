// What came of a job: a few numbers and the proof beside, and views to look into.

import { html } from "./controls.js";
import { grid } from "./data_view.js";
import { fetchJson } from "./net.js";
import { rowsView } from "./rows_view.js";
import { weightsView } from "./weights_view.js";

const NONE = "–";
const COLUMNS = {
  method: "method", basis: "basis", accuracy: "accuracy", standard_error: "±", p_value: "p to best",
  fit_seconds: "fit, s", size: "size", gap: "gap", separable: "separable",
};

export const digits = (value, n = 4) => (value === null || value === undefined ? NONE : String(Number(value.toPrecision(n))).replace("-", "−"));
export const percent = (share) => `${Number((100 * share).toFixed(2))} %`;
const between = ({ low, high }) => `95 %: ${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)} %`;

export class Outcome {
  constructor(find) {
    this.find = find;
  }

  tiles(...pairs) {
    const four = [...pairs, ...Array(4)].slice(0, 4);
    this.find("readouts").replaceChildren(...four.map((pair) => {
      const [name, value, small] = pair ?? ["\u00a0", NONE, ""];
      return html("div", {}, html("dt", {}, name), html("dd", { title: `${value} ${small}`.trim() }, value, html("small", {}, small)));
    }));
  }

  proof(proved, verdict, words) {
    this.find("proof").dataset.proved = proved;
    this.find("verdict").textContent = verdict;
    this.find("certificate").textContent = words;
  }

  saved(token, files) {
    for (const [name, path] of Object.entries({ "save-model": "model", "save-report": "report?download" })) {
      const link = this.find(name), there = token !== null && files.includes(path.split("?")[0]);
      link.setAttribute("aria-disabled", String(!there));
      if (there) link.href = `/data/jobs/${token}/${path}`; else link.removeAttribute("href");
    }
  }

  clear() {
    this.tiles(["error", NONE, ""], ["training error", NONE, ""], ["margin γ", NONE, ""], ["support vectors", NONE, ""]);
    this.proof("none", "Nothing fitted yet", "");
    this.saved(null, []);
  }

  async views(result, token) {
    const report = html("div", { class: "framed" },
      html("iframe", { src: `/data/jobs/${token}/report`, sandbox: "", title: "Report" }));
    if (result.recommendation !== undefined) {
      this.compared(result, token);
      return { report: ["Report", report], table: ["Table", compareTable(result)] };
    }
    this.fitted(result, token);
    const views = { report: ["Report", report] };
    const rows = await fetchJson(`/data/jobs/${token}/rows`).catch(() => null);
    if (rows) views.rows = ["Rows", rowsView(rows)];
    if (result.scenes.length) views.weights = ["Weights", weightsView(result.scenes)];
    return views;
  }

  fitted(result, token) {
    this.errors(result);
    const notes = result.notes.map((note) => ` ${note}.`).join("");
    this.proof(result.proved ? "yes" : "no", result.proved ? "Proved" : "Not proved to the tolerance asked",
      `${result.certificate}.${notes}`);
    this.saved(token, ["model", "report"]);
  }

  errors({ test, expected, training, margin, C, alpha, support }) {
    let judged = ["test error", NONE, "hold rows out"];
    if (test) judged = ["test error", percent(test.error), between(test)];
    else if (expected) judged = ["error on new rows", percent(expected.error), `${between(expected)}, ${expected.way}`];
    const price = C !== null && C !== undefined ? `C ${digits(C, 3)}` : alpha ? `α ${digits(alpha, 3)}` : "";
    const total = support ? Object.values(support).reduce((a, b) => a + b, 0) : null;
    const kinds = support ? `${support.margin ?? 0} on · ${support.inside ?? 0} in · ${support.misclassified ?? 0} wrong` : "";
    this.tiles(judged, ["training error", training ? percent(training.error) : NONE, training ? `${training.wrong} of ${training.rows}` : ""],
      ["margin γ", digits(margin), price], ["support vectors", total === null ? NONE : String(total), kinds]);
  }

  compared(result, token) {
    const best = result.rows.reduce((a, b) => (b.accuracy > a.accuracy ? b : a), result.rows[0]);
    if (best) {
      this.tiles(["most accurate", best.method, best.basis === "as given" ? "" : best.basis],
        ["its error", percent(1 - best.accuracy), `± ${percent(best.standard_error)}`],
        ["methods", String(result.rows.length), ""], ["notes", String(result.notes.length), ""]);
    }
    this.proof("none", "Recommendation", [result.recommendation, ...result.notes].join(" "));
    this.saved(token, ["report"]);
  }

  model(told) {
    this.errors(told.summary);
    const { proved } = told.summary;
    const verdict = proved === undefined ? "Certificate" : proved ? "Proved" : "Not proved to the tolerance asked";
    this.proof(proved === undefined ? "none" : proved ? "yes" : "no", verdict, told.certificate);
    this.saved(null, []);
  }
}

function compareTable({ rows }) {
  const cell = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : typeof value === "number" ? digits(value, 3) : value ?? NONE);
  const words = ["method", "basis"];
  const names = Object.keys(COLUMNS), numbers = names.flatMap((name, place) => (words.includes(name) ? [] : [place]));
  const lines = rows.map((row) => html("tr", {}, ...names.map((name) => html("td", { class: words.includes(name) ? "" : "n" }, cell(row[name])))));
  return html("div", { class: "pad" }, grid("Methods side by side, each tuned inside the folds", Object.values(COLUMNS), lines, numbers));
}
