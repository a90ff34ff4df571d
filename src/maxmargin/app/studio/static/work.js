// Files and jobs on their way to the server and back.

import { ask, fetchJson, send } from "./net.js";

const QUICK_MS = 250, SLOW_MS = 1000; // between questions after a job, at first and later
const MEGA = 1e6;

export class Upload {
  constructor(file, model) {
    Object.assign(this, { file, path: model ? "/data/models" : "/data/files" });
  }

  // A file that is too large is not even sent: browsers show no answer while they still send.
  async send() {
    const { bytes } = await fetchJson("/data/limits");
    if (this.file.size > bytes) {
      throw new Error(`${this.file.name} has ${Math.ceil(this.file.size / MEGA)} MB; the studio takes ${bytes / MEGA} MB at most. ` +
        "Start it with --max-upload for more, or use the command line: maxmargin fit.");
    }
    return send(`${this.path}?name=${encodeURIComponent(this.file.name)}`, this.file);
  }
}

export const start = (asked) => ask("/data/jobs", asked);

// `keepalive`: also when the page is being closed.  What is gone already need not be forgotten.
export function forget(path) {
  fetch(path, { method: "DELETE", keepalive: true }).catch(() => {});
}

// Asks until it is over, as long as anybody is `waiting` for it; `heard` is told every answer.
export async function poll(token, waiting, heard) {
  let status = null;
  while (waiting()) {
    status = await fetchJson(`/data/jobs/${token}`);
    if (!waiting() || status.state === "done" || status.state === "failed") break;
    heard(status);
    await new Promise((done) => { setTimeout(done, status.seconds < 5 ? QUICK_MS : SLOW_MS); });
  }
  return status;
}
