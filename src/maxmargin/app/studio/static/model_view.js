// The inside of a saved model, as `maxmargin inspect` tells it.

import { html } from "./controls.js";
import { grid } from "./data_view.js";
import { digits } from "./outcome.js";
import { weightsView } from "./weights_view.js";

const facts = (caption, pairs) => grid(caption, [], pairs.map(([name, value]) => html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, value))));

const plain = (value) => (typeof value === "number" ? digits(value) : value === null ? "none" : String(value));

function columnWords(column) {
  if (column.kind === "number") return `number, mean ${digits(column.mean)}, deviation ${digits(column.deviation)}`;
  if (column.kind === "category") return `category: ${column.levels.join(", ")}`;
  return `text of ${column.words} words`;
}

function coefficients(told) {
  return Object.entries(told.coefficients ?? {}).map(([title, rows]) => grid(`What speaks for ${title}`,
    ["feature", "per standard deviation", told.basis ? "" : "per unit"],
    rows.map((row) => html("tr", {}, html("th", { scope: "row" }, html("bdi", {}, row.feature)),
      html("td", { class: "n" }, digits(row.per_deviation)), html("td", { class: "n" }, told.basis ? "" : digits(row.per_unit)))), [1, 2]));
}

export function modelViews(told) {
  const { summary } = told;
  const about = [["kind", told.model], ["written by", told.written_by], ["classes", told.classes.join(", ") || "none"]];
  for (const name of ["data", "rows", "features", "method"]) if (summary[name] !== undefined) about.push([name, plain(summary[name])]);
  if (told.basis) about.push(["basis", told.basis]);
  about.push(["certificate", told.certificate]);
  for (const note of summary.notes ?? []) about.push(["note", note]);
  const root = html("div", { class: "pad" }, facts("What this model is", about));
  if (told.columns.length) root.append(facts("What it reads", told.columns.map((column) => [column.name, columnWords(column)])));
  root.append(facts("Parameters", Object.entries(told.parameters).map(([name, value]) => [name, plain(value)])));
  const views = { model: ["Model", root] };
  if (told.scenes.length) {
    const weights = weightsView(told.scenes);
    weights.append(...coefficients(told));
    views.weights = ["Weights", weights];
  }
  return views;
}
