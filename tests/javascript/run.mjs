// Runs the browser's model outside the browser: jobs in, as JSON on standard input, results out.
//
//     node run.mjs RULES < groups > results
//
// RULES is the folder with unicode.json and spacy-….json. Each line is a group, {modules, jobs}: the
// folder with the modules (a damaged copy, perhaps), and what to do with them: see operations.mjs.
// It is answered by a line before the next one is read: who asks may stop as soon as it is enough.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { done } from "./operations.mjs";

const rules = new Map(); // read once for all groups
let [of, means] = [null, null]; // of the folder that was asked last
for await (const line of createInterface({ input: process.stdin })) {
  const { modules, jobs } = JSON.parse(line);
  if (of !== modules) {
    of = modules;
    means = {
      module: (name) => import(pathToFileURL(join(modules, `${name}.js`)).href),
      async file(folder, name) {
        const { buffer, byteOffset, byteLength } = readFileSync(join(folder, name));
        return buffer.slice(byteOffset, byteOffset + byteLength);
      },
      async rule(name) {
        if (!rules.has(name)) rules.set(name, JSON.parse(readFileSync(join(process.argv[2], `${name}.json`), "utf8")));
        return rules.get(name);
      },
    };
  }
  process.stdout.write(`${JSON.stringify(await done(jobs, means))}\n`);
}
