/**
 * The worker of the general SQL parser: JavaScript, because a worker cannot load TypeScript when the tests
 * run the sources. It sends `{ ready: true }` once, then receives `{ id, text, dialect }` and answers
 * `{ id, statements }` or `{ id, refused }`.
 */
import { parentPort } from 'node:worker_threads';
import { init, Parser } from '@guanmingchiu/sqlparser-ts';

/** Prefix of the parser's messages. Others are failures of its code, after which its memory is unsound. */
const OWN_ERROR = /^sql parser error:/;

/** @param {unknown} value Removes the places in the text, four fifths of a tree. */
function withoutPlaces(value) {
  if (Array.isArray(value)) {
    for (const item of value) withoutPlaces(item);
  } else if (typeof value === 'object' && value !== null) {
    const node = /** @type {Record<string, unknown>} */ (value);
    for (const key of Object.keys(node)) {
      if (key === 'span' || key.endsWith('_token')) delete node[key];
      else withoutPlaces(node[key]);
    }
  }
}

await init();
parentPort?.on('message', ({ id, text, dialect }) => {
  try {
    const statements = Parser.parse(text, dialect);
    withoutPlaces(statements);
    parentPort?.postMessage({ id, statements });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!OWN_ERROR.test(message)) throw error;
    parentPort?.postMessage({ id, refused: message });
  }
});
parentPort?.postMessage({ ready: true });
