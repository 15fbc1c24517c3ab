// Asks the worker, for a page.

import { Asking } from "./widgets/asking.js";

export class WorkerClient extends Asking {
  start() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.worker.addEventListener("message", ({ data: { id, ...answer } }) => this.answered(id, answer));
    for (const event of ["error", "messageerror"]) this.worker.addEventListener(event, () => this.lose());
  }

  /** The worker itself is lost: say so, and begin with a new one at the next question. */
  lose() {
    this.worker?.terminate();
    this.worker = null;
    const message = "The model has stopped, or could not be started: check your connection, and load it again.";
    for (const id of [...this.open.keys()]) this.answered(id, { state: "failed", message, lost: true });
  }

  post(question) {
    if (!this.worker) this.start();
    this.worker.postMessage(question);
  }

  cancel() {
    this.worker?.postMessage({ task: "cancel" });
  }
}
