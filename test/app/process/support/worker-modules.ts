/** Reply of `ECHO`. */
export interface Reply {
  readonly id: number;
  readonly echo?: unknown;
  /** Number of the thread. */
  readonly thread: number;
}

/** A module with this text, as the entry of a thread. */
export function entryOf(text: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

/**
 * Does what requests tell: `echo` something, `afterMs` or `untilAbort`, `crash`, or `loop` without an end. It sends a
 * note of texts that it does not know, and ends after `close`.
 */
export const ECHO = entryOf(`
import { parentPort, threadId, workerData } from 'node:worker_threads';
let abort = () => {};
const reply = (id, echo) => parentPort.postMessage({ id, echo, thread: threadId });
parentPort.on('message', (message) => {
  if (message === 'abort') return abort();
  if (message === 'close') return parentPort.close();
  if (typeof message === 'string') return parentPort.postMessage({ note: message });
  const { id, echo, afterMs, untilAbort, crash, loop } = message;
  if (crash !== undefined) throw new Error(crash);
  while (loop);
  if (untilAbort) abort = () => reply(id, 'aborted');
  else if (afterMs !== undefined) setTimeout(reply, afterMs, id, echo);
  else reply(id, echo);
});
parentPort.postMessage({ ready: workerData ?? 'ready' });
`);
