// Your data: a file, a command on it, and what came of it.  All work is done by the command line
// behind the server; names and labels of the file are only ever set as text.

import { html, segments } from "./controls.js";
import { DataView } from "./data_view.js";
import { modelViews } from "./model_view.js";
import { fetchJson } from "./net.js";
import { Outcome } from "./outcome.js";
import { Plan } from "./plan.js";
import { Upload, forget, poll, start } from "./work.js";

export const id = "your-data";
export const title = "Your data";

const MODEL = ".maxmargin";

export function mount(panel) {
  const room = new Room((name) => panel.querySelector(`#data-${name}`));
  room.begin();
  addEventListener("pagehide", (event) => {
    if (!event.persisted) room.forget(); // nothing stays behind
  });
  return { show: () => room.redraw() };
}

class Room {
  constructor(find) {
    this.find = find;
    this.file = null;
    this.job = null;
    this.upload = null;
    this.views = {};
    this.view = "";
    this.kept = {}; // what came of the last fit, comparison and prediction
    this.choose = segments(find("views"), (name) => this.show(name));
    this.plan = new Plan(find, () => this.dataView?.target(this.plan.target));
    this.outcome = new Outcome(find);
  }

  begin() {
    const { find } = this;
    for (const input of [find("file"), find("model")]) {
      input.addEventListener("change", () => {
        if (input.files.length) this.take(input.files, input === find("model"));
        input.value = ""; // the same file may be chosen again
      });
    }
    dropZone(find("sheet"), (files) => this.take(files, false));
    find("close").addEventListener("click", () => this.close());
    find("run").addEventListener("click", () => this.run());
    find("cancel").addEventListener("click", () => this.cancel());
    find("fit-best").addEventListener("click", () => {
      this.plan.choose(JSON.parse(find("fit-best").value));
      this.run();
    });
    find("new").addEventListener("change", () => {
      if (find("new").files.length) this.predict(find("new").files[0]);
      find("new").value = "";
    });
    new ResizeObserver(() => this.redraw()).observe(find("sheet"));
    this.close();
  }

  say(words, bad = false) {
    const box = this.find("message");
    box.textContent = words;
    box.classList.toggle("bad", bad);
  }

  // --- files -------------------------------------------------------------------------------

  async take(files, isModel) {
    if (files.length !== 1) {
      this.say("One file at a time, please.", true);
      return;
    }
    const [file] = files, model = isModel || file.name.endsWith(MODEL);
    this.close();
    this.find("sheet").setAttribute("aria-busy", "true");
    this.say(`Reading ${file.name}…`);
    const upload = this.upload = new Upload(file, model);
    try {
      const told = await upload.send();
      if (upload !== this.upload) {
        if (told.token) forget(`/data/files/${told.token}`);
        return;
      }
      this.say("");
      if (model) this.openModel(told); else this.openData(told);
    } catch (error) {
      if (upload === this.upload) this.say(error.message, true);
    }
    this.find("sheet").setAttribute("aria-busy", "false");
  }

  openData(told) {
    this.file = told;
    this.dataView = new DataView(told);
    this.opened(told.name, { data: ["Data", this.dataView.root] });
    this.plan.open(told);
    this.find("run").disabled = false;
    (told.table ? this.find("target") : this.find("run")).focus();
  }

  openModel(told) {
    this.find("plan").hidden = this.find("exports").hidden = true;
    this.opened(told.name, modelViews(told));
    this.outcome.model(told);
    this.find("views").querySelector("button").focus();
  }

  opened(name, views) {
    this.find("start").hidden = true;
    this.find("name").textContent = name;
    this.find("close").hidden = false;
    this.put(views, Object.keys(views)[0]);
  }

  close() {
    this.cancel();
    this.forget();
    this.file = this.upload = this.dataView = null;
    this.kept = {};
    this.find("start").hidden = false;
    this.find("close").hidden = true;
    this.find("plan").hidden = this.find("exports").hidden = false;
    this.find("name").textContent = "";
    this.find("run").disabled = true;
    this.say("");
    this.plan.close();
    this.outcome.clear();
    this.put({}, "");
    this.find("sheet").setAttribute("aria-busy", "false");
  }

  forget() {
    if (this.file) forget(`/data/files/${this.file.token}`); // and all jobs on it
    if (this.kept.predict) leave(this.kept.predict);
  }

  // --- jobs --------------------------------------------------------------------------------

  run() {
    const asked = { file: this.file.token, ...this.plan.asked(), ...this.dataView.uses() };
    return this.work(async () => asked);
  }

  // Another file, with the model at hand.  It is forgotten with the job that reads it.
  predict(file) {
    const job = this.kept.fit.token;
    return this.work(async () => {
      const { token } = await new Upload(file, false).send();
      return { command: "predict", job, file: token };
    });
  }

  // What was found before stays until there is something new of its kind.
  async work(question) {
    this.say("");
    this.working(true);
    const job = this.job = {};
    try {
      const asked = await question();
      if (asked.command === "predict") job.file = asked.file;
      if (job !== this.job) return leave(job);
      job.token = (await start(asked)).token;
      if (job !== this.job) return leave(job);
      const last = await poll(job.token, () => job === this.job, (status) => this.progress(status));
      if (job !== this.job) return;
      if (last.state !== "done") throw new Error(last.words);
      await this.finish(job);
    } catch (error) {
      if (job === this.job) {
        this.working(false);
        this.say(error.message, true);
        this.find("run").focus();
      }
    }
  }

  async finish(job) {
    const result = await fetchJson(`/data/jobs/${job.token}/result`);
    const found = { ...await this.outcome.of(result, job.token), file: job.file };
    if (job !== this.job) return;
    this.job = null;
    this.working(false);
    // Predictions are by the model that was there; with another one they go.
    for (const kind of found.kind === "fit" ? ["fit", "predict"] : [found.kind]) {
      if (this.kept[kind]) leave(this.kept[kind]);
      delete this.kept[kind];
    }
    this.kept[found.kind] = found;
    const order = ["fit", "predict", "compare"].flatMap((kind) => (this.kept[kind] ? [this.kept[kind].views] : []));
    this.put(Object.assign({ data: this.views.data }, ...order), Object.keys(found.views)[0]);
    this.find("verdict").focus();
  }

  cancel() {
    if (!this.job) return;
    const busy = this.find("run").hidden;
    leave(this.job);
    this.job = null;
    this.working(false);
    if (busy) {
      const before = Object.keys(this.kept).length > 0;
      this.find("words").textContent = before ? "Cancelled. What was found before is kept." : "Cancelled. Nothing was kept.";
      this.find("run").focus();
    }
  }

  working(busy) {
    const { find } = this;
    find("run").hidden = busy;
    find("cancel").hidden = !busy;
    find("options").disabled = busy;
    find("bar").hidden = !busy;
    find("time").hidden = busy;
    find("words").textContent = "";
    if (busy) {
      find("bar").removeAttribute("value");
      find("cancel").focus();
    }
  }

  progress({ state, place, words, said, seconds }) {
    const bar = this.find("bar"), count = /fit +(\d+) of (\d+)/.exec(said);
    if (count) bar.value = Number(count[1]) / Number(count[2]); else bar.removeAttribute("value");
    const text = state === "waiting" ? `In line, place ${place}: two jobs run at a time.`
      : `${words}, ${Math.floor(seconds)} s.${said ? ` ${said.replace(/ +/g, " ")}` : ""}`;
    if (this.find("words").textContent !== text) this.find("words").textContent = text;
    const heard = state === "waiting" ? text : `${words}.`; // not every second
    if (this.find("heard").textContent !== heard) this.find("heard").textContent = heard;
  }

  // --- what is looked at -------------------------------------------------------------------

  put(views, first) {
    this.views = views;
    const names = Object.keys(views);
    this.find("views").replaceChildren(...names.map((name) => html("button", { type: "button", role: "radio", value: name }, views[name][0])));
    this.find("views").hidden = names.length < 2;
    this.find("view").replaceChildren(...names.map((name) => views[name][1]));
    this.show(first);
  }

  show(view) {
    this.view = view;
    for (const [name, [, root]] of Object.entries(this.views)) root.hidden = name !== view;
    this.choose(view);
    const owner = Object.values(this.kept).find((found) => view in found.views);
    owner?.say(this.kept.fit?.token ?? null);
    this.redraw();
  }

  redraw() {
    const [, root] = this.views[this.view] ?? [];
    root?.dispatchEvent(new Event("look")); // pictures are drawn when they have a size
  }
}

// A job goes with the file that was sent for it alone.
function leave({ token, file }) {
  if (file) forget(`/data/files/${file}`);
  else if (token) forget(`/data/jobs/${token}`);
}

function dropZone(sheet, dropped) {
  const over = (here) => sheet.classList.toggle("over", here);
  sheet.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  sheet.addEventListener("dragleave", () => over(false));
  sheet.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    dropped(event.dataTransfer.files);
  });
  // A file that misses the zone must not replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
}

