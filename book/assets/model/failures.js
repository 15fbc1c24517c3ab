// What went wrong, in one sentence: what, and what to do about it.

/**
 * The sentence of an error. What this code throws on purpose is an Error with its sentence; anything
 * else is a mistake of the code, or the browser's, and its own words help no reader.
 */
export function sentence_of(error) {
  if (error?.constructor === Error) return error.message;
  if (error instanceof RangeError && /alloc|memory|Array buffer/i.test(error.message)) {
    return "The browser has not enough memory for this model: close other pages, or choose a smaller one.";
  }
  console.warn(error); // for who looks for the mistake
  return "The model has failed with a mistake of its own: load it again; if that does not help, please report what you did.";
}

/** The sentence about a file that did not come. */
export const unreachable = "The site cannot be reached: check your connection, and load the model again.";

/** Code that comes when it is needed: what `import` promises. */
export const needed = (code) => code.catch(() => Promise.reject(new Error(unreachable)));
