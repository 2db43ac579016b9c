/**
 * A server of a benchmark in a process of its own. In the child, `announce` tells its address; the parent asks for the
 * CPU time it has used, and tells it which reply to give.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** In the child. */
export function announce(url, onReply = () => {}) {
  process.on('message', (message) => {
    if (message.reply !== undefined) onReply(Buffer.from(message.reply, 'base64'));
    const { user, system } = process.cpuUsage();
    process.send({ cpuSeconds: (user + system) / 1e6 });
  });
  process.once('disconnect', () => process.exit());
  process.send({ url });
}

/** In the parent: starts `script`, a file beside this one. */
export async function startChild(script) {
  const child = fork(join(import.meta.dirname, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const ask = async (message) => {
    child.send(message);
    return (await once(child, 'message'))[0];
  };
  const [{ url }] = await once(child, 'message');
  return {
    url,
    cpuSeconds: async () => (await ask({})).cpuSeconds,
    /** Makes it answer with these bytes. */
    answerWith: (bytes) => ask({ reply: bytes.toString('base64') }),
    stop: () => child.kill(),
  };
}
