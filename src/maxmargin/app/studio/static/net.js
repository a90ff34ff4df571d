// Asking the server.  Errors become words that can be shown.

async function read(response) {
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The studio answered ${response.status}.`);
  return answer;
}

async function reach(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new Error("The studio does not answer. Is it still running in its terminal?");
  }
}

export const fetchJson = async (path) => read(await reach(path));

export async function ask(path, question) {
  const body = JSON.stringify(question);
  return read(await reach(path, { method: "POST", headers: { "content-type": "application/json" }, body }));
}

// Questions of which only the latest matters: one is on its way, one waits, and one that
// was overtaken while waiting is never asked.  So a drag costs the server one fit at a time.
export class Latest {
  constructor(path, answered, failed) {
    Object.assign(this, { path, answered, failed, busy: false, waiting: null });
  }

  ask(question) {
    this.waiting = question;
    if (!this.busy) this.next();
  }

  async next() {
    const question = this.waiting;
    this.waiting = null;
    this.busy = true;
    try {
      const answer = await ask(this.path, question);
      this.answered(answer, question);
    } catch (error) {
      if (!this.waiting) this.failed(error);
    }
    this.busy = false;
    if (this.waiting) this.next();
  }
}

// A file as it is.
export async function send(path, file) {
  return read(await reach(path, { method: "POST", headers: { "content-type": "application/octet-stream" }, body: file }));
}
