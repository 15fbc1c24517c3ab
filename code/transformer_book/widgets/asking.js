// Questions to a model and their answers, whoever gives them: a worker of the page, or Python.

/** The sentence about the rare words of a text; empty if there are none, or nobody knows. */
export const seldom_met = (rare) => (rare?.length ? `Seldom or never seen in training: ${rare.join(", ")}.` : "");

/** Asks through `post`; an answer is a promise, and steps on the way are handed to `step`. */
export class Asking {
  /** `name` begins each question's id, where others may hear the answers, too. */
  constructor(name = "") {
    this.name = name;
    this.open = new Map();
    this.last = 0;
    this.unheard = "What computes here cannot be reached: reload the page.";
  }

  /** What has come back for the question `id`. */
  answered(id, answer) {
    const asked = this.open.get(id);
    if (!asked) return;
    if (answer.state === "step" || answer.state === "progress") {
      asked.step(answer);
      return;
    }
    this.open.delete(id);
    asked.resolve(answer);
  }

  ask(task, question, step = () => {}) {
    const id = `${this.name}${(this.last += 1)}`;
    const answer = new Promise((resolve) => this.open.set(id, { resolve, step }));
    try {
      this.post({ id, task, ...question });
    } catch {
      this.answered(id, { state: "failed", message: this.unheard });
    }
    return answer;
  }
}
