// What a file holds: its columns, what each is used as, and the first rows.

import { html, options } from "./controls.js";

const KINDS = { number: "number", category: "category", "left out": "left out" };
const count = (value) => value.toLocaleString("en");

export class DataView {
  constructor(told) {
    this.told = told;
    this.selects = told.columns.map((column) => useOf(column));
    const width = told.table ? "columns" : "features";
    const lead = `${count(told.rows)} rows, ${count(told.width)} ${width}, ${told.format}.`;
    const more = told.width - told.columns.length;
    const rest = told.table && more > 0 ? ` ${count(told.columns.length)} columns are listed; the others are used as they are.` : "";
    this.root = html("div", { class: "pad" }, html("p", { class: "lead" }, lead + rest));
    if (told.table) this.root.append(this.columns(), ...this.preview());
  }

  columns() {
    const rows = this.told.columns.map((column, place) => html("tr", {},
      html("th", { scope: "row" }, html("bdi", {}, column.name || "(no name)")),
      html("td", {}, this.selects[place]),
      html("td", {}, column.why ? `left out: ${column.why}` : column.kind === "category" ? `${count(column.distinct)} levels` : KINDS[column.kind] ?? column.kind),
      html("td", { class: "n" }, column.distinct === null ? "–" : count(column.distinct)),
      html("td", { class: "n" }, column.missing ? count(column.missing) : "–")));
    return grid("Columns and their use", ["column", "use as", "seems to be", "values", "missing"], rows, [3, 4]);
  }

  preview() {
    const { columns, preview, width } = this.told;
    if (!preview.length) return [];
    const names = columns.slice(0, preview[0].length);
    const numbers = names.flatMap((column, place) => (column.kind === "number" ? [place] : []));
    const rows = preview.map((row) => html("tr", {}, ...row.map((value, place) => html("td", { class: numbers.includes(place) ? "n" : "" }, value || "–"))));
    const cut = width > names.length ? ` of the first ${names.length} columns` : "";
    return [grid(`First ${rows.length} rows${cut}`, names.map((column) => column.name || "(no name)"), rows, numbers)];
  }

  // The target has no other use.
  target(name) {
    this.told.columns.forEach((column, place) => {
      const select = this.selects[place], here = column.name === name;
      select.disabled = here;
      select.querySelector("[value=target]").hidden = !here;
      if (here) select.value = "target"; else if (select.value === "target") select.value = "";
    });
  }

  uses() {
    const used = { drop: [], category: [], text: [] };
    this.told.columns.forEach((column, place) => used[this.selects[place].value]?.push(column.name));
    return used;
  }
}

function useOf(column) {
  const own = column.kind === "left out" ? "left out" : KINDS[column.kind] ?? column.kind;
  const more = { category: "category", text: "text: its words" };
  if (column.kind === "category") delete more.category;
  if (column.kind !== "left out") more.drop = "leave out";
  return html("select", { "aria-label": `Use of ${column.name}` }, ...options({ "": own, ...more, target: "target" }));
}

// A table that scrolls by itself.
export function grid(caption, heads, rows, numbers = []) {
  const names = heads.map((name, place) => html("th", { scope: "col", class: numbers.includes(place) ? "n" : "" }, name));
  const table = html("table", { class: "grid" }, html("caption", {}, caption));
  if (names.length) table.append(html("thead", {}, html("tr", {}, ...names)));
  table.append(html("tbody", {}, ...rows));
  return html("div", { class: "wide", tabindex: "0", role: "group", "aria-label": caption }, table);
}
