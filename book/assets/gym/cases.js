// What the gym asks next, and with which options. Nothing here knows the page.

const LEVELS = [1, 2, 3];
const IN_A_ROW = 3; // right at once, and it becomes harder
const [AGAIN, GOOD] = [1, 3]; // grades, as memory.js keeps them

/** Every question: {id, fault, task, level, group}. In a group each fault is asked once, with the same options. */
export const questions = ({ asked }) =>
  Object.entries(asked).flatMap(([task, levels]) =>
    levels.flatMap((groups, i) =>
      groups.flatMap((group) => group.faults.map((fault) => ({ id: `gym/${fault}-${task}/${LEVELS[i]}`, fault, task, level: LEVELS[i], group }))),
    ),
  );

/** The same in another order. */
export function shuffled(list, random = Math.random) {
  const mixed = [...list];
  for (let i = mixed.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}

/**
 * The options of a question: [{fault: of the group, shown: what stands there}]. In the place of a fault may stand
 * one that no look tells from it: which one says nothing about what is right.
 */
export const options_of = ({ group }, random = Math.random) =>
  shuffled(group.faults, random).map((fault) => ({ fault, shown: shuffled([fault, ...(group.alike[fault] ?? [])], random)[0] }));

const of_gym = (answers) => Object.entries(answers).filter(([id]) => id.startsWith("gym/"));

/** How hard it is to be by now: up after three that were right at once, down after two misses in a row. */
export function level_of(answers) {
  const log = of_gym(answers).flatMap(([, entries]) => entries);
  let [level, right, missed] = [1, 0, 0];
  for (const [, grade] of log.sort((a, b) => a[0] - b[0])) {
    if (grade === GOOD) [right, missed] = [right + 1, 0];
    if (grade === AGAIN) [right, missed] = [0, missed + 1];
    if (right === IN_A_ROW) [level, right] = [Math.min(3, level + 1), 0];
    if (missed === 2) [level, missed] = [Math.max(1, level - 1), 0];
  }
  return level;
}

/** How many cases (a fault and a task, on whatever level) are solved, and how many of them at once. */
export function solved(answers) {
  const best = new Map();
  for (const [id, log] of of_gym(answers)) {
    const name = id.split("/")[1];
    for (const [, grade] of log) best.set(name, Math.max(best.get(name) ?? 0, grade));
  }
  const grades = [...best.values()];
  return { solved: grades.filter((grade) => grade > AGAIN).length, at_once: grades.filter((grade) => grade === GOOD).length };
}

/** The question to ask: new ones of the reader's level, then missed ones, then other levels. `last`: not this one. */
export function next_question(all, answers, last = "", random = Math.random) {
  const level = level_of(answers);
  const known = (question) => answers[question.id]?.length;
  const missed = (question) => known(question) && answers[question.id].at(-1)[1] < GOOD;
  const others = all.filter(({ id }) => id !== last);
  const here = others.filter((question) => question.level === level);
  const pool = [here.filter((q) => !known(q)), here.filter(missed), others.filter((q) => !known(q)), others].find((each) => each.length);
  return shuffled(pool, random)[0];
}
