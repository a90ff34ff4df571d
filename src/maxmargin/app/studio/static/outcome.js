// What came of a job: a few numbers and the proof beside, and views to look into.

import { html } from "./controls.js";
import { grid } from "./data_view.js";
import { fetchJson } from "./net.js";
import { predictionsView } from "./predictions_view.js";
import { rowsView } from "./rows_view.js";
import { weightsView } from "./weights_view.js";

const NONE = "–";
// After the method, its basis and the score that it is ranked by.
const COLUMNS = {
  standard_error: "±", p_value: "p to best",
  fit_seconds: "fit, s", size: "size", gap: "gap", separable: "separable",
};

export const digits = (value, n = 4) => (value === null || value === undefined ? NONE : String(Number(value.toPrecision(n))).replace("-", "−"));
const inWords = (score) => score.replaceAll("_", " ");
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

  // Jobs whose model and whose report can be taken away; null where there is none.
  saved(model, report) {
    const links = { "save-model": [model, "model"], "save-report": [report, "report?download"] };
    for (const [name, [token, path]] of Object.entries(links)) {
      const link = this.find(name), there = Boolean(token);
      link.setAttribute("aria-disabled", String(!there));
      if (there) link.href = `/data/jobs/${token}/${path}`; else link.removeAttribute("href");
    }
    this.find("new").disabled = !model;
    this.find("new-label").setAttribute("aria-disabled", String(!model));
    this.find("fit-best").hidden = true;
  }

  clear() {
    this.tiles(["error", NONE, ""], ["training error", NONE, ""], ["margin γ", NONE, ""], ["support vectors", NONE, ""]);
    this.proof("none", "Nothing fitted yet", "");
    this.saved(null, null);
  }

  // The views of a job, and what is said beside them; `model` is the job whose model is at hand.
  async of(result, token) {
    if (result.predicted !== undefined) {
      return { kind: "predict", token, views: { predictions: ["Predictions", predictionsView(result, token)] }, say: (model) => this.predicted(result, model) };
    }
    if (result.recommendation !== undefined) {
      const views = { comparison: ["Comparison", framed(token, "Comparison")], table: ["Table", compareTable(result)] };
      return { kind: "compare", token, views, say: (model) => this.compared(result, token, model) };
    }
    return { kind: "fit", token, views: await this.fitViews(result, token), say: () => this.fitted(result, token) };
  }

  async fitViews(result, token) {
    const views = { report: ["Report", framed(token, "Report")] };
    const rows = await fetchJson(`/data/jobs/${token}/rows`).catch(() => null);
    if (rows) views.rows = ["Rows", rowsView(rows)];
    if (result.scenes.length) views.weights = ["Weights", weightsView(result.scenes)];
    return views;
  }

  fitted(result, token) {
    this.errors(result);
    const notes = result.notes.map((note) => ` ${note}.`).join("");
    const { status, words, finds } = result.verdict;
    const proof = result.proved ? "Proved" : "Not proved to the tolerance asked";
    this.proof(status === "no better" || !result.proved ? "no" : "yes", words,
      `${finds ? `${finds}. ` : ""}${proof}: ${result.certificate}.${notes}`);
    this.saved(token, token);
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

  predicted({ predicted, counts, labels, notes }, model) {
    const rest = labels > 3 ? `and ${labels - 3} labels more` : "";
    this.tiles(["rows predicted", String(predicted), rest], ...counts.slice(0, 3).map(([label, n]) => [label, String(n), percent(n / predicted)]));
    this.proof("none", "Predicted", notes.length ? notes.map((note) => `${note}.`).join(" ") : "Every value was as in training.");
    this.saved(model, model);
  }

  compared(result, token, model) {
    const best = result.rows[0], { score } = result;
    if (best) {
      this.tiles([score === "accuracy" ? "most accurate" : "best", best.method, best.basis === "as given" ? "" : best.basis],
        [...(score === "accuracy" ? ["its error", percent(1 - best.accuracy)] : [`its ${inWords(score)}`, percent(best[score])]), `± ${percent(best.standard_error)}`],
        ["methods", String(result.rows.length), ""], ["notes", String(result.notes.length), ""]);
    }
    this.proof("none", "Recommendation", [result.recommendation, ...result.notes].join(" "));
    this.saved(model, token);
    const { method, basis } = result.recommended, button = this.find("fit-best");
    button.hidden = false;
    button.textContent = `Fit ${method}${basis === "as given" ? "" : ` on the ${basis} basis`}`;
    button.value = JSON.stringify(result.recommended);
  }

  model(told) {
    this.errors(told.summary);
    const { proved } = told.summary;
    const verdict = proved === undefined ? "Certificate" : proved ? "Proved" : "Not proved to the tolerance asked";
    this.proof(proved === undefined ? "none" : proved ? "yes" : "no", verdict, told.certificate);
    this.saved(null, null);
  }
}

function framed(token, title) {
  return html("div", { class: "framed" }, html("iframe", { src: `/data/jobs/${token}/report`, sandbox: "", title }));
}

function compareTable({ rows, score }) {
  const cell = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : typeof value === "number" ? digits(value, 3) : value ?? NONE);
  const words = ["method", "basis"];
  const columns = { method: "method", basis: "basis", [score]: inWords(score), ...COLUMNS };
  const names = Object.keys(columns), numbers = names.flatMap((name, place) => (words.includes(name) ? [] : [place]));
  const lines = rows.map((row) => html("tr", {}, ...names.map((name) => html("td", { class: words.includes(name) ? "" : "n" }, cell(row[name])))));
  return html("div", { class: "pad" }, grid("Methods side by side, each tuned inside the folds", Object.values(columns), lines, numbers));
}
