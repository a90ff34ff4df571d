// The page: its state, its rooms, light and dark.
//
// A room (tab) is a module with `id`, `title` and `mount(panel, app)`.  `mount` may return
// { show(), hide() }, called when the room is entered and left.  To add one: import it, put it
// into TABS, and (if it asks the server questions) its functions into QUESTIONS of server.py.
// The panel is <section id="…"> of index.html, or made here if there is none.  `app` has
//   store      the state that is in the address: points, method, knobs (store.js)
//   catalogue  methods, knobs and data sets, from the server
//   trouble(words)  says what went wrong at the top of the page; "" takes it back
import * as playground from "./playground.js";
import * as stepper from "./stepper.js";
import * as yourData from "./your_data.js";
import { fetchJson } from "./net.js";
import { decode, encode } from "./address.js";
import { Store, start } from "./store.js";

const TABS = [playground, stepper, yourData];
const FIRST_PICTURE = "overlap";
const SETTLE_MS = 250; // the address follows when the hand rests

function trouble(words) {
  const bar = document.getElementById("trouble");
  bar.textContent = words;
  bar.hidden = !words;
}

// Browsers that keep nothing throw when asked to; then the choice lasts as long as the page.
const memory = {
  get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* see above */ } },
};

function theme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { root.dataset.theme = memory.get("theme") ?? (dark.matches ? "dark" : "light"); };
  follow();
  dark.addEventListener("change", follow);
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    memory.set("theme", root.dataset.theme);
  });
}

// The state of the address; what is wrong with it is said, and the first picture is shown.
async function stateOf(hash, catalogue) {
  let state = null;
  if (hash.length > 1) {
    try {
      state = decode(hash.slice(1), catalogue);
    } catch (error) {
      trouble(`This link cannot be read: ${error.message} The first picture is shown instead.`);
    }
  }
  return state ?? start(catalogue, FIRST_PICTURE, await fetchJson(`/pictures/${FIRST_PICTURE}`));
}

function keepAddress(store, catalogue) {
  let waiting = 0;
  const page = document.documentElement;
  const write = () => {
    history.replaceState(null, "", "#" + encode(store.state, catalogue));
    page.dataset.address = "written";
  };
  write();
  store.subscribe(() => {
    page.dataset.address = "behind";
    clearTimeout(waiting);
    waiting = setTimeout(write, SETTLE_MS);
  });
  addEventListener("hashchange", async () => {
    if (location.hash.slice(1) === encode(store.state, catalogue)) return;
    trouble("");
    const state = await stateOf(location.hash, catalogue);
    const words = document.getElementById("trouble").textContent;
    store.set(state);
    trouble(words);
  });
}

function rooms(app) {
  const list = document.querySelector(".tabs");
  const mounted = TABS.map((tab) => {
    let panel = document.getElementById(tab.id);
    if (!panel) {
      panel = document.createElement("section");
      panel.id = tab.id;
      panel.className = "room";
      panel.hidden = true;
      document.querySelector("main").append(panel);
    }
    const button = document.createElement("button");
    button.type = "button";
    button.id = `tab-${tab.id}`;
    button.textContent = tab.title;
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", tab.id);
    panel.setAttribute("aria-labelledby", button.id);
    panel.setAttribute("role", "tabpanel");
    list.append(button);
    return { id: tab.id, panel, button, room: tab.mount(panel, app) ?? {} };
  });
  const enter = (id) => {
    for (const entry of mounted) {
      const here = entry.id === id;
      entry.button.setAttribute("aria-selected", String(here));
      entry.button.tabIndex = here ? 0 : -1;
      if (entry.panel.hidden === here) entry.panel.hidden = !here;
      if (here) entry.room.show?.(); else entry.room.hide?.();
    }
  };
  const ids = mounted.map((entry) => entry.id);
  const here = () => (ids.includes(app.store.state.tab) ? app.store.state.tab : ids[0]);
  for (const [place, entry] of mounted.entries()) {
    entry.button.addEventListener("click", () => app.store.set({ tab: entry.id }, { keep: false }));
    entry.button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = mounted[(place + step + mounted.length) % mounted.length];
      app.store.set({ tab: next.id }, { keep: false });
      next.button.focus();
    });
  }
  let current = null;
  const follow = () => {
    if (here() !== current) enter(current = here());
  };
  app.store.subscribe(follow);
  follow();
}

async function begin() {
  theme();
  try {
    const catalogue = await fetchJson("/catalogue");
    const store = new Store(await stateOf(location.hash, catalogue));
    rooms({ store, catalogue, trouble });
    store.subscribe(() => trouble("")); // whoever goes on has read it
    keepAddress(store, catalogue);
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    trouble(error.message);
  }
}

begin();
