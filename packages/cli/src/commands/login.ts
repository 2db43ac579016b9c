import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { createClients, serverInfo } from '../clients.js';
import { defineCommand } from '../command.js';
import { checkedServer, demandSendable, VARIABLES } from '../connection.js';
import type { CommandContext } from '../context.js';
import { readContexts, type SavedContext, writeContexts } from '../contexts.js';
import { CliError } from '../errors.js';

const MAX_KEY_LENGTH = 4_096;

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement login --server http://localhost:8000 --context local',
      does: 'Ask for a key, check it and keep it',
    },
  ],
  options: {
    issuer: { type: 'string', describe: 'Log in at this OIDC issuer instead, with the device flow' },
    'client-id': { type: 'string', describe: 'Client of the issuer, for the device flow' },
    scope: { type: 'string', default: 'openid', describe: 'Scope that the device flow asks for' },
  },
  async run(context, { issuer, clientId, scope }) {
    const { args } = context;
    const address = args.server ?? context.env[VARIABLES.server];
    if (address === undefined) throw new CliError('no server is given', 'Give --server URL.');
    const server = checkedServer(address);
    const credential: Pick<SavedContext, 'key' | 'token'> =
      issuer === undefined
        ? { key: await readKey(context) }
        : {
            token: await (await import('../device-login.js')).deviceLogin(context, {
              issuer,
              clientId,
              scope,
            }),
          };
    const headers: Record<string, string> =
      credential.key === undefined
        ? { authorization: `Bearer ${credential.token?.value}` }
        : { 'x-api-key': credential.key };
    const info = await serverInfo(createClients({ server, headers, context: undefined }, context.signal));
    const contexts = await readContexts(context.env, context.warn);
    const name = args.context ?? new URL(server).hostname;
    contexts.contexts[name] = { server, ...credential };
    contexts.current = name;
    const file = await writeContexts(context.env, contexts);
    const who = info.callerName ?? info.role ?? 'a caller without a name';
    await context.output(
      { context: name, server, namespace: info.namespace, file },
      `Logged in to ${server} as ${who}, namespace ${info.namespace}. The context ${name} is in ${file}.\n`,
    );
    return 0;
  },
});

/** A key from the standard input; on a terminal it is asked for, and not shown. */
async function readKey({ stdin, stderr, signal }: CommandContext): Promise<string> {
  let text = '';
  if (stdin.isTTY === true) {
    await stderr.write('API key: ');
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: stdin as NodeJS.ReadStream, output, terminal: true });
    try {
      text = await lines.question('', { signal });
    } finally {
      lines.close();
      await stderr.write('\n');
    }
  } else {
    for await (const chunk of stdin) {
      text += chunk.toString();
      if (text.length > MAX_KEY_LENGTH) break;
    }
  }
  const key = text.trim();
  if (key === '') throw new CliError('no key was given', 'Pipe it in, or type it when it is asked for.');
  return demandSendable(key);
}
