// Rows by how badly the model does on them, some at a time.

import { html, options } from "./controls.js";
import { grid } from "./data_view.js";

const PAGE = 50;

export function rowsView({ rows, columns, total, errors, measure }) {
  const labels = [...new Set(rows.map((row) => row.label))].sort();
  const filter = html("select", { id: "data-which" }, ...options({ all: "all rows", wrong: "errors only" }),
    ...labels.map((label, place) => html("option", { value: `label ${place}` }, `of ${label}`)));
  const back = html("button", { type: "button", class: "quiet" }, "‹ Back");
  const forward = html("button", { type: "button", class: "quiet" }, "Next ›");
  const where = html("span", { class: "count", role: "status" });
  const place = html("div", {});
  const numeric = columns.map((_, at) => rows.every((row) => row.values[at] === "" || Number.isFinite(Number(row.values[at]))));
  const right = [0, 3, ...columns.flatMap((_, at) => (numeric[at] ? [4 + at] : []))];
  let page = 0;

  const draw = () => {
    const [kind, which] = filter.value.split(" ");
    const chosen = rows.filter((row) => kind === "all" || (kind === "wrong" ? row.wrong : row.label === labels[Number(which)]));
    const shown = chosen.slice(page * PAGE, (page + 1) * PAGE);
    back.disabled = page === 0;
    forward.disabled = (page + 1) * PAGE >= chosen.length;
    where.textContent = shown.length ? `${page * PAGE + 1}–${page * PAGE + shown.length} of ${chosen.length}` : "none";
    const lines = shown.map((row) => html("tr", { class: row.wrong ? "wrong" : "" },
      html("td", { class: "n" }, String(row.row)), html("td", {}, html("bdi", {}, row.label)),
      html("td", {}, html("bdi", {}, row.prediction), row.wrong ? " ✗" : ""), html("td", { class: "n" }, String(row.lead).replace("-", "−")),
      ...row.values.map((value, at) => html("td", { class: numeric[at] ? "n" : "" }, value || "–"))));
    place.replaceChildren(grid("Rows, the worst first", ["row", "label", "prediction", measure, ...columns], lines, right));
  };
  filter.addEventListener("change", () => { page = 0; draw(); });
  back.addEventListener("click", () => { page -= 1; draw(); });
  forward.addEventListener("click", () => { page += 1; draw(); });
  draw();

  const cut = rows.length < total ? ` The ${rows.length} worst are listed.` : "";
  const words = measure === "distance"
    ? "Distance is to the boundary of the row's own class, in the units the model sees; it is negative on the wrong side."
    : "Lead is by how much the score of the row's own class exceeds the best other one.";
  return html("div", { class: "pad" },
    html("p", { class: "lead" }, `${errors} of ${total} rows of the file are misclassified, the worst first.${cut} ${words}`),
    html("div", { class: "toolbar" }, html("label", { for: "data-which" }, "Show"), filter, html("span", { class: "spring" }), where, back, forward),
    place);
}
