// Runs the browser's model outside the browser: jobs in, as JSON on standard input, results out.
//
//     node run.mjs RULES < groups.json > results.json
//
// RULES is the folder with unicode.json and spacy-….json. Each group is {modules, jobs}: the folder
// with the modules (a damaged copy, perhaps), and what to do with them: see operations.mjs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { done } from "./operations.mjs";

const rules = new Map(); // read once for all groups
const results = [];
for (const { modules, jobs } of JSON.parse(readFileSync(0, "utf8"))) {
  const means = {
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
  results.push(await done(jobs, means));
}
process.stdout.write(JSON.stringify(results));
