/**
 * A server of a benchmark in a process of its own. In the child, `announce` tells its address; the parent asks for the
 * CPU time it has used, and tells it which reply to give.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * Asks for the CPU time; `reply`, in base64, is what to answer calls with.
 * @typedef {{ reply?: string }} Question
 */

/**
 * The address of a server that listens on this machine.
 * @param {import('node:net').Server | import('node:http2').Http2Server} server
 */
export function urlOf(server) {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}`;
}

/**
 * In the child.
 * @param {string} url
 * @param {(reply: Buffer) => void} [onReply]
 */
export function announce(url, onReply = () => {}) {
  process.on('message', (/** @type {Question} */ message) => {
    if (message.reply !== undefined) onReply(Buffer.from(message.reply, 'base64'));
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuSeconds: (user + system) / 1e6 });
  });
  process.once('disconnect', () => process.exit());
  process.send?.({ url });
}

/**
 * In the parent: starts `script`, a file beside this one.
 * @param {string} script
 */
export async function startChild(script) {
  const child = fork(join(import.meta.dirname, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  /** @param {Question} message */
  const ask = async (message) => {
    child.send(message);
    return (await once(child, 'message'))[0];
  };
  const [{ url }] = await once(child, 'message');
  return {
    url,
    cpuSeconds: async () => (await ask({})).cpuSeconds,
    /**
     * Makes it answer with these bytes.
     * @param {Buffer} bytes
     */
    answerWith: (bytes) => ask({ reply: bytes.toString('base64') }),
    stop: async () => void child.kill(),
  };
}
