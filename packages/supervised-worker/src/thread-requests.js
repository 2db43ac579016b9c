/**
 * The side of the thread. Plain JavaScript, because a thread starts from a file and Node 20 does not read TypeScript.
 */
import { parentPort } from 'node:worker_threads';

/**
 * With `failure`, the request was not carried out.
 * @typedef {{ id: number, failure?: string }} Reply
 */

/**
 * Answers each request with its id, and with the reason if it failed, until the message `close`.
 * @template {{ id: number }} Request
 * @param {{ answer: (request: Request) => Promise<void>, close: () => Promise<void> }} work
 */
export function answerRequests({ answer, close }) {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread');
  port.on('message', async (/** @type {Request | 'close'} */ request) => {
    if (request === 'close') {
      // What cannot be closed ends with the thread.
      await close().catch(() => {});
      port.close();
      return;
    }
    /** @type {Reply} */
    let reply = { id: request.id };
    try {
      await answer(request);
    } catch (error) {
      reply = { id: request.id, failure: reasonOf(error) };
    }
    port.postMessage(reply);
  });
}

/**
 * The messages of an error and of all errors behind it.
 * @param {unknown} error
 * @returns {string}
 */
function reasonOf(error) {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors : [];
  const causes = error.cause === undefined ? inner : [...inner, error.cause];
  const { serverErrorMessage } = /** @type {{ serverErrorMessage?: unknown }} */ (error);
  const own = typeof serverErrorMessage === 'string' ? [serverErrorMessage] : [];
  return [error.message, ...own, ...new Set(causes.map(reasonOf))].join(' ');
}
