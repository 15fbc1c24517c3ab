// One setting and its run, as the page knows it: what it has asked of the worker, and what that has told.

export class Lane {
  /** `changed(what)` is called after each message of the worker, with what the message is. */
  constructor(name, settings, changed) {
    Object.assign(this, { name, settings, changed, estimate: null, refused: "", guess: null });
    this.forget();
  }

  forget() {
    Object.assign(this, { running: null, state: "none", message: "", update: 0, records: [], seen: [], kept: [], switched: [] });
  }

  /** Whether a setting has been changed that takes a new run. */
  get pending() {
    return this.running !== null && Object.keys(this.settings).some((name) => this.settings[name] !== this.running[name]);
  }

  /** Milliseconds an update takes, since the run went on the last time; or nothing. */
  get pace() {
    const done = this.update - (this.began?.update ?? 0);
    return this.state === "running" && done > 4 ? (performance.now() - this.began.at) / done : null;
  }

  post(act, more = {}) {
    if (!this.worker) {
      this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
      this.worker.addEventListener("message", ({ data: { is, ...told } }) => {
        this.told[is].call(this, told);
        this.changed(is, told);
      });
      for (const event of ["error", "messageerror"]) this.worker.addEventListener(event, () => this.lose());
    }
    this.worker.postMessage({ act, ...more });
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  /** The worker itself is lost; the next act begins with a new one. */
  lose() {
    this.end();
    this.forget();
    this.message = "The worker has stopped, or could not be started: check your connection, and begin a new run.";
    this.changed("failed");
  }

  // --- what the page asks ------------------------------------------------------------------------

  /** A new run; or that of a reader's files. */
  begin(files = null) {
    this.forget();
    Object.assign(this, { running: { ...this.settings }, state: "paused" });
    this.post(files ? "load" : "new", { settings: this.running, files });
  }

  train() {
    if (!this.running) this.begin();
    if (this.state !== "paused") return;
    this.state = "running";
    this.began = { at: performance.now(), update: this.update };
    this.post("go");
  }

  step() {
    if (!this.running) this.begin();
    if (this.state === "paused") this.post("step");
  }

  pause() {
    if (this.state === "running") this.post("pause");
  }

  /** A setting: one that a run survives goes to the run at once; `why` names the change. */
  set(name, value, fresh, why) {
    this.settings[name] = value;
    if (!this.running || fresh) return;
    this.running[name] = value;
    this.switched.push([this.update, why]);
    this.post("change", { settings: this.running, why: `before “${why}”` });
    if (this.state === "finished" && this.update < this.running.updates) this.state = "paused";
  }

  // --- what the worker tells ---------------------------------------------------------------------

  told = {
    records({ records }) {
      this.records.push(...records);
      this.update = records.at(-1).update;
    },
    seen(seen) {
      this.seen.push(seen);
    },
    kept({ kept }) {
      this.kept = kept;
    },
    stopped({ why, message = "" }) {
      this.state = { finished: "finished", paused: "paused" }[why] ?? "broken";
      this.message = message;
    },
    /** Back in a kept state: what came after it is no part of this run. */
    returned({ update, settings }) {
      for (const list of ["records", "seen"]) this[list] = this[list].filter((each) => each.update <= update);
      this.seen = this.seen.filter((each) => each.update < update);
      this.switched = this.switched.filter(([at]) => at <= update);
      Object.assign(this, { update, running: settings, settings: { ...settings }, state: "paused", message: "" });
    },
    estimate({ estimate, refused = "" }) {
      Object.assign(this, { estimate, refused });
    },
    weights() {},
    opened({ update }) {
      this.update = update;
      this.state = update < this.running.updates ? "paused" : "finished";
    },
    failed({ message }) {
      this.forget();
      this.message = message;
    },
  };
}
