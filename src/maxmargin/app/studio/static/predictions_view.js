// What a fitted model says of the rows of another file.

import { html } from "./controls.js";
import { grid } from "./data_view.js";

export function predictionsView({ predicted, columns, rows }, token) {
  const numbers = columns.flatMap((_, at) => (rows.every((row) => row[at] === "" || Number.isFinite(Number(row[at]))) ? [at + 1] : []));
  const lines = rows.map((row, place) => html("tr", {}, html("td", { class: "n" }, String(place + 1)),
    ...row.map((value, at) => html("td", { class: numbers.includes(at + 1) ? "n" : "" }, html("bdi", {}, value || "–")))));
  const cut = rows.length < predicted ? `The first ${rows.length} of ${predicted} rows are shown. ` : "";
  return html("div", { class: "pad" },
    html("p", { class: "lead" }, `${cut}The file has all of them, in their order.`),
    html("p", {}, html("a", { class: "button main", href: `/data/jobs/${token}/predictions`, download: "predictions.csv" }, "Save predictions.csv")),
    grid("Predictions", ["row", ...columns], lines, [0, ...numbers]));
}
