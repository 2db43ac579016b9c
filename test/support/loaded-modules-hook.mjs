/** Resolves nothing itself: it writes down what Node resolves. Runs in a thread of its own, see loaded-modules.mjs. */
import { appendFileSync } from 'node:fs';

let file = '';

export function initialize(data) {
  file = data.file;
}

export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  if (resolved.url.startsWith('file:')) {
    appendFileSync(file, `${JSON.stringify([resolved.url, context.parentURL ?? ''])}\n`);
  }
  return resolved;
}
