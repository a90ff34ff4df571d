// What can be taken away: a link, a program, a table.

import { ask } from "./net.js";

export function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const quoted = (word) => (/[",\r\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word);

// Spreadsheets run cells that begin with these; a quote in front keeps them words.  Numbers
// such as −1, a favourite name of classes, are left alone.
const harmless = (word) => (/^[=+\-@\t\r]/.test(word) && Number.isNaN(Number(word)) ? `'${word}` : word);

export function table({ names, labels, points }) {
  const head = [...names, "class"].map((word) => quoted(harmless(word))).join(",");
  const rows = points.map(([x, y, c]) => `${x},${y},${quoted(harmless(labels[c]))}`);
  return [head, ...rows].join("\r\n") + "\r\n";
}

async function copy(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    return false; // no permission: the address is in the address bar all the same
  }
}

export function mountExports({ share, python, csv }, app, address, question) {
  share.addEventListener("click", async () => {
    const link = address();
    history.replaceState(null, "", link);
    const done = await copy(link);
    share.textContent = done ? "Copied" : "In the address bar";
    setTimeout(() => { share.textContent = "Copy link"; }, 1600);
  });
  python.addEventListener("click", async () => {
    try {
      const { program } = await ask("/code", question());
      download("maxmargin_studio.py", "text/x-python", program);
    } catch (error) {
      app.trouble(error.message);
    }
  });
  csv.addEventListener("click", () => download("maxmargin_studio.csv", "text/csv", table(app.store.state)));
}
