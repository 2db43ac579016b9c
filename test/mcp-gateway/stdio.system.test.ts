import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../support/cli.js';
import { suiteService } from '../support/service-suite.js';
import { textOf, VERSIONS } from './gateway.support.js';

const AGENT = 'stdio-agent-01';
const COMMAND = path.resolve(import.meta.dirname, '../../packages/cli/bin/control-enforcement.js');
const UPSTREAM = path.join(import.meta.dirname, 'stdio-upstream.mjs');

const service = suiteService();
beforeAll(async () => {
  const deny = {
    execution: 'server',
    condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: 'bad' } } },
    action: { decision: 'deny' },
  };
  await service.seed.linked(AGENT, 'no-bad-names', deny);
});

it.each(VERSIONS)(
  'the built command stands between a client and a server over stdio, version %s',
  async (version) => {
    const settings = {
      listen: { transport: 'stdio', max_body_bytes: 50_000 },
      service: { url: service.url, timeout_seconds: 300 },
      upstreams: [
        {
          name: 'own',
          command: process.execPath,
          args: [UPSTREAM],
          env: { OWN: '${GIVEN}' },
          max_result_bytes: 50_000,
          answer_seconds: 300,
          timeout_seconds: 300,
        },
        // The log tells that it cannot be reached.
        { name: 'gone', url: 'http://127.0.0.1:1/' },
      ],
      mapping: { agent: { fixed: AGENT } },
    };
    const cwd = folderWith({ 'gateway.yaml': JSON.stringify(settings) });
    const mode = version === '2026-07-28' ? { pin: version } : ('legacy' as const);
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StdioClientTransport({
      // Its log has no reader.
      command: 'bash',
      args: ['-c', 'exec "$0" "$@" 2> >(:)', process.execPath, COMMAND, 'mcp', '--config', 'gateway.yaml'],
      env: {
        PATH: process.env.PATH ?? '',
        GIVEN: 'given',
        CONTROL_ENFORCEMENT_API_KEY: 'a-secret-of-the-gateway',
      },
      cwd,
      stderr: 'ignore',
    });
    await client.connect(transport);
    onTestFinished(() => client.close());
    const call = async (name: string) => textOf(await client.callTool({ name }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
      'own__who',
      'own__long',
      'own__bad_word',
    ]);
    const [own, key, pid] = (await call('own__who')).split(' ');
    // The server is given its own variables, and not the key of the gateway.
    expect([own, key]).toEqual(['given', 'none']);
    expect(await call('own__bad_word')).toContain('denied before it ran by "no-bad-names"');
    // A line that is too long ends the server; the next call starts it again.
    await expect(call('own__long')).rejects.toMatchObject({ code: -32_013 });
    const [, , newPid] = (await call('own__who')).split(' ');
    expect(newPid).not.toBe(pid);
    // One of the client ends the gateway, which could read nothing after it.
    const long = { name: 'own__who', arguments: { text: 'x'.repeat(100_000) } };
    await expect(client.callTool(long)).rejects.toThrow(/closed/i);
  },
);
