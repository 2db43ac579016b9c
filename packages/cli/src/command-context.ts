import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import type { Clients } from './clients.js';
import type { CommandContext, GlobalArgs } from './context.js';
import { createPaint, hasColours, valueText } from './output.js';
import type { Surroundings } from './surroundings.js';

const CLEAR_LINE = '\r\u001b[2K';

/** What a command works with in these surroundings. */
export function createCommandContext(surroundings: Surroundings, args: GlobalArgs): CommandContext {
  const { stdin, stdout, stderr, env, signal } = surroundings;
  const format = args.output ?? 'table';
  const paintNote = createPaint(hasColours(stderr, env));
  const warn = (text: string): Promise<void> =>
    stderr.write(
      /^[^\n]*?:\d+:\d+: /.test(text) ? `${text}\n` : `${paintNote('yellow', 'warning: ')}${text}\n`,
    );
  let clients: Promise<Clients> | undefined;
  return {
    ...surroundings,
    args,
    namespace: args.namespace,
    format,
    isOnline: args.server !== undefined || args.context !== undefined,
    paint: createPaint(hasColours(stdout, env)),
    warn,
    connect: () => (clients ??= connected(surroundings, args, warn)),
    output: async (value, rows) => stdout.write(await valueText(format, value, rows)),
    say: async (text) => (format === 'table' ? stdout.write(`${text}\n`) : undefined),
    progress: async (text) => (stderr.isTTY === true ? stderr.write(`${CLEAR_LINE}${text}`) : undefined),
    async confirm(question) {
      if (stdin.isTTY !== true || stderr.isTTY !== true) return undefined;
      const lines = createInterface({
        input: stdin as NodeJS.ReadStream,
        output: process.stderr as Writable,
      });
      try {
        return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim());
      } finally {
        lines.close();
      }
    },
  };
}

async function connected(
  surroundings: Surroundings,
  { server, context, key, namespace }: GlobalArgs,
  warn: (text: string) => Promise<void>,
): Promise<Clients> {
  const [{ connectionOf }, { createClients, demandNamespace }] = await Promise.all([
    import('./connection.js'),
    import('./clients.js'),
  ]);
  const clients = createClients(
    await connectionOf({ server, context, key }, surroundings, warn),
    surroundings.signal,
  );
  if (namespace !== undefined) await demandNamespace(clients, namespace);
  return clients;
}
