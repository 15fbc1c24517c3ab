// Files that the reader opens: a run that this page has saved, or one that Python has trained on.

import { SETTINGS } from "./settings.js";

const MOST_BYTES = 2e8; // of all files together
const DAMAGED = "The ZIP file is cut off or damaged, or it is none.";

/** The files of a ZIP file, [name, bytes] each. Source: PKWARE's APPNOTE, 4.3. */
async function unzipped(buffer) {
  const view = new DataView(buffer);
  let end = buffer.byteLength - 22; // where its directory is described, unless a remark follows
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error(DAMAGED);
  const found = [];
  let [at, total] = [view.getUint32(end + 16, true), 0];
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const [long, short] = [(place) => view.getUint32(at + place, true), (place) => view.getUint16(at + place, true)];
    const [method, packed, size, place] = [short(10), long(20), long(24), long(42)];
    const name = new TextDecoder().decode(new Uint8Array(buffer, at + 46, short(28)));
    const start = place + 30 + view.getUint16(place + 26, true) + view.getUint16(place + 28, true);
    total += size;
    check_size(total);
    const bytes = buffer.slice(start, start + packed);
    const stream = () => new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    found.push([name, method ? await new Response(stream()).arrayBuffer() : bytes]);
    if (found.at(-1)[1].byteLength !== size) throw new Error(DAMAGED);
    at += 46 + short(28) + short(30) + short(32);
  }
  return found;
}

function check_size(bytes) {
  if (bytes > MOST_BYTES) throw new Error(`The files have ${Math.round(bytes / 1e6)} MB, and the page reads at most ${MOST_BYTES / 1e6}: they are no model of the bench.`);
}

function json(bytes, name) {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error(`${name} is damaged: it is no JSON.`);
  }
}

/**
 * What the chosen files hold, by name: of a folder's ZIP file what stands at its top, and in its
 * newest checkpoint the newer of two files of one name. JSON is read.
 */
export async function opened(files) {
  check_size([...files].reduce((total, { size }) => total + size, 0));
  const all = [];
  for (const file of files) {
    const bytes = await file.arrayBuffer();
    const zip = /\.zip$/i.test(file.name);
    const read = async () => (zip ? unzipped(bytes) : [[file.name, bytes]]);
    all.push(...(await read().catch((error) => Promise.reject(error.constructor === Error ? error : new Error(DAMAGED)))));
  }
  const rank = ([name]) => Number(name.match(/(?:^|\/)checkpoints\/(\d+)\/[^/]+$/)?.[1] ?? -1);
  const found = {};
  for (const [path, bytes] of all.sort((a, b) => rank(a) - rank(b))) {
    const name = path.split("/").at(-1);
    found[name] = name.endsWith(".json") ? json(bytes, name) : bytes;
  }
  if (!found["model.safetensors"]) throw new Error("There is no model.safetensors among the files: choose it, or the ZIP file of a run.");
  if (Boolean(found["optimizer.safetensors"]) !== Boolean(found["state.json"])) {
    throw new Error("Of a checkpoint the page needs all three files: model.safetensors, optimizer.safetensors and state.json.");
  }
  return found;
}

/** The settings of a run as its files say them; the others stay as they are. */
export function settings_of({ "state.json": state, "config.json": config }, settings) {
  const { max_length, n_encoder_layers: layers, activation = "relu", ...model } = state?.model ?? config?.model ?? {};
  const { name: of, kind, ...lengths } = config?.recipe?.task ?? {};
  const task = of === "captions" ? of : kind;
  if (activation !== "relu") throw new Error(`The model has the activation ${activation}, and the bench has only relu.`);
  const found = { ...settings };
  for (const [name, value] of Object.entries({ ...state?.training, ...model, ...lengths, layers, task })) {
    if (value === undefined || !Object.hasOwn(SETTINGS, name)) continue;
    const { label, values } = SETTINGS[name];
    if (!values.some(([each]) => each === value)) {
      throw new Error(`The run has ${label} ${value}, and the bench has only ${values.map(([each]) => each).join(", ")}.`.slice(0, 300));
    }
    found[name] = value;
  }
  return found;
}
