/** Evaluations of many agents over HTTP/1.1, each timed, over bare sockets. */
import { once } from 'node:events';
import net from 'node:net';

/** @typedef {{ agent: string, key: string | null }} Caller */

/** @param {string} name @returns {Caller} */
const unkeyed = (name) => ({ agent: name, key: null });

const HEAD_END = '\r\n\r\n';

/**
 * Evaluates a step for each name of an iterator, which connections take in turns. Resolves with the time of each
 * evaluation in milliseconds; rejects on any status but 200, and but 503 with a time to wait: then the evaluation is
 * made again, and its time goes on. `onReply` gets the revision of each verdict. `callerOf` tells which agent a name stands
 * for, and its key; by default, the name is that of the agent, and there is no key.
 * @param {string} url
 * @param {Iterator<string>} names
 * @param {{ connections?: number, onReply?: (revision: number) => void, callerOf?: (name: string) => Caller }} [options]
 */
export async function evaluateEach(url, names, { connections = 16, onReply, callerOf = unkeyed } = {}) {
  const { hostname, port, host } = new URL(url);
  /** @type {number[]} */
  const times = [];
  /** @param {string} name */
  const requestFor = (name) => {
    const step = { type: 'llm', name: 'answer', input: 'a quick brown fox jumps over the lazy dog' };
    const { agent, key } = callerOf(name);
    const body = JSON.stringify({ agent_name: agent, stage: 'pre', step });
    const credential = key === null ? '' : `x-api-key: ${key}\r\n`;
    return `POST /api/v1/evaluation HTTP/1.1\r\nhost: ${host}\r\n${credential}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const run = async () => {
    const socket = net.connect(Number(port), hostname);
    await once(socket, 'connect');
    /** @type {Promise<void>} */
    const evaluated = new Promise((resolve, reject) => {
      let pending = '';
      let begun = 0;
      let request = '';
      const send = () => {
        const next = names.next();
        if (next.done === true) return resolve();
        begun = performance.now();
        request = requestFor(next.value);
        socket.write(request);
      };
      socket.setEncoding('latin1').on('data', (/** @type {string} */ chunk) => {
        pending += chunk;
        const headEnd = pending.indexOf(HEAD_END);
        if (headEnd < 0) return;
        const size = Number(/\r\ncontent-length: *(\d+)/i.exec(pending)?.[1]);
        if (pending.length < headEnd + HEAD_END.length + size) return;
        const waitSeconds = /\r\nretry-after: *(\d+)/i.exec(pending)?.[1];
        if (pending.startsWith('HTTP/1.1 503 ') && waitSeconds !== undefined) {
          pending = '';
          setTimeout(() => socket.write(request), Number(waitSeconds) * 1_000);
          return;
        }
        if (!pending.startsWith('HTTP/1.1 200 ')) return reject(new Error(pending));
        times.push(performance.now() - begun);
        onReply?.(Number(/\r\nx-service-revision: *(\d+)/i.exec(pending)?.[1]));
        pending = '';
        send();
      });
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('a connection was closed')));
      send();
    });
    await evaluated;
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return times;
}
