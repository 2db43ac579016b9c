import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Interceptor } from '@connectrpc/connect';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { CliError, messageOf } from '../errors.js';
import { VERSION } from '../version.js';

const ACTIONS = ['serve', 'init', 'check', 'tools', 'approve'] as const;

const STARTER = `# Settings of control-enforcement mcp; docs/mcp-gateway.md has all of them.
listen:
  port: 8300
service:
  url: http://127.0.0.1:8000
  # The variable with the key of the service.
  key_env: CONTROL_ENFORCEMENT_API_KEY
upstreams:
  - name: files
    url: http://127.0.0.1:3001/mcp
    # Or a server that is started: command: npx, args: [ server-of-files, /srv/files ]
mapping:
  # The registered agent whose controls decide.
  agent: { fixed: files-agent-1 }
pins:
  # Remembers the descriptions and schemas of tools.
  file: mcp-pins.json
`;

export const command = defineCommand({
  examples: [
    {
      line: 'control-enforcement mcp init --config gateway.yaml',
      does: 'Write a file of settings to begin with',
    },
  ],
  positionals: {
    action: {
      type: 'string',
      choices: ACTIONS,
      default: 'serve',
      describe:
        'serve: run the gateway. tools: list what is known of tools. approve: let changed tools be used',
    },
    tools: { type: 'string', array: true, default: [], describe: 'approve: tools as UPSTREAM/TOOL' },
  },
  options: {
    config: {
      type: 'string',
      demandOption: true,
      describe: 'File with the settings of the gateway, in YAML',
    },
    all: { type: 'boolean', default: false, describe: 'approve: every tool that waits' },
  },
  async run(context, { action, tools, config: file, all }) {
    const where = path.resolve(context.cwd, file);
    if (tools.length > 0 && action !== 'approve') throw new CliError(`mcp ${action} takes no names of tools`);
    if (action === 'init') {
      await writeFile(where, STARTER, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
        throw error.code === 'EEXIST' ? new CliError(`${file} exists already`, 'Name another file.') : error;
      });
      await context.output({ file }, `Made ${file}. Next:\n  control-enforcement mcp --config ${file}\n`);
      return 0;
    }
    const gateway = await import('../../../mcp-gateway/src/index.js');
    let config: ReturnType<typeof gateway.readGatewayConfig>;
    try {
      config = gateway.readGatewayConfig(await readFile(where, 'utf8'), file, context.env);
    } catch (error) {
      throw new CliError(messageOf(error), 'docs/mcp-gateway.md describes the file.', { cause: error });
    }
    const besideConfig = (name: string): string => path.resolve(path.dirname(where), name);
    const pinFile = config.pins.file === undefined ? undefined : besideConfig(config.pins.file);
    if (action === 'check') {
      await context.output({ file, valid: true }, `${file} is valid.\n`);
      return 0;
    }
    if (action === 'serve') {
      const pins = { ...config.pins, file: pinFile };
      return serve(context, gateway, { ...config, pins }, besideConfig);
    }
    if (pinFile === undefined)
      throw new CliError(`${file} has no pins.file, so nothing is remembered`, 'Set pins.file.');
    if (action === 'tools') {
      const known = Object.entries(await gateway.readPins(pinFile));
      const rows = known.map(([tool, { approved, pending, at }]) => {
        const state = pending === undefined ? 'approved' : approved === null ? 'new' : 'changed';
        return { tool, state, since: at, sha256: (pending ?? approved ?? '').slice(0, 12) };
      });
      await context.output(rows, rows);
      return 0;
    }
    if ((tools.length === 0) !== all)
      throw new CliError('mcp approve needs either names of tools or --all', 'List them with mcp tools.');
    const approved = await gateway.approvePins(pinFile, all ? 'all' : tools);
    const others = tools.filter((tool) => !approved.includes(tool));
    if (others.length > 0)
      throw new CliError(
        `nothing waits for an approval of ${others.join(', ')}`,
        'List them with mcp tools.',
      );
    await context.output(
      approved,
      approved.map((tool) => `${tool} may be used.\n`).join('') || 'No tool waits.\n',
    );
    return 0;
  },
});

type Module = typeof import('../../../mcp-gateway/src/index.js');

/** Runs until it is interrupted, or its client over stdio has gone. Writes only to the standard error: the output is MCP. */
async function serve(
  context: CommandContext,
  { startGateway }: Module,
  config: Parameters<Module['startGateway']>[0]['config'],
  besideConfig: (name: string) => string,
): Promise<0> {
  const { createClient } = await import('../../../client/src/node.js');
  // Each call waits for its decisions: they are sent at once.
  const client = createClient({
    ...(await clientOptions(context, config.service, besideConfig)),
    batchWindowMs: 0,
  });
  const log = (level: string, message: string, more: object = {}): void => {
    const line = { time: new Date().toISOString(), level, message, ...more };
    void context.stderr.write(`${JSON.stringify(line)}\n`);
  };
  const { state_key_env: variable } = config.approvals;
  const stateKey = variable === undefined ? undefined : context.env[variable];
  if (variable !== undefined && (stateKey ?? '').length < 32)
    throw new CliError(
      `the variable ${variable} must have at least 32 characters: it is the secret of states of calls`,
    );
  // Connect for Node.js leaves a socket without a listener when it gives up connecting, and a refusal after that would end the
  // process. The call that wanted the connection has failed already.
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    log('error', error.stack ?? error.message);
    if (error.syscall !== 'connect') process.exit(1);
  });
  const gateway = await startGateway({ config, client, version: VERSION, log, stateKey });
  log('info', gateway.url === undefined ? 'serves MCP over stdio' : `serves MCP at ${gateway.url}`);
  if (gateway.metricsUrl !== undefined) log('info', `serves metrics at ${gateway.metricsUrl}`);
  await new Promise<void>((resolve) => {
    context.signal.addEventListener('abort', () => resolve(), { once: true });
    // As process 1 of a container it would not end by itself.
    process.once('SIGTERM', () => resolve());
    void gateway.ended.then(resolve);
    if (context.signal.aborted) resolve();
  });
  await gateway.close();
  client.close();
  return 0;
}

/** The service of the file, or that of flags, variables and contexts, as other commands have it. */
async function clientOptions(
  context: CommandContext,
  { url, key_env, key_file, ca_file }: Parameters<Module['startGateway']>[0]['config']['service'],
  besideConfig: (name: string) => string,
) {
  const ca = ca_file === undefined ? undefined : await readFile(besideConfig(ca_file), 'utf8');
  if (url === undefined) {
    const { server, headers } = (await context.connect()).connection;
    const withCredential: Interceptor = (next) => (request) => {
      for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
      return next(request);
    };
    return { baseUrl: server, ca, interceptors: [withCredential] };
  }
  if (key_env !== undefined && context.env[key_env] === undefined)
    throw new CliError(
      `the variable ${key_env} of service.key_env is not set`,
      'Set it, or leave key_env out if the service asks for no keys.',
    );
  const read = key_file === undefined ? undefined : besideConfig(key_file);
  const apiKey =
    read === undefined
      ? key_env === undefined
        ? undefined
        : context.env[key_env]
      : // Read again when the service refuses it, so that a rotated key is found.
        async () => (await readFile(read, 'utf8')).trim();
  return { baseUrl: url.replace(/\/$/, ''), ca, apiKey };
}
