import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { folderWith } from '../support/cli.js';
import { suiteService } from '../support/service-suite.js';

const AGENT = 'exact-stdio-agent-01';
const COMMAND = path.resolve(import.meta.dirname, '../../packages/cli/bin/control-enforcement.js');
const UPSTREAM = path.join(import.meta.dirname, 'raw-stdio-upstream.mjs');

const service = suiteService();
beforeAll(async () => {
  await service.seed.linked(AGENT, 'no-993', {
    execution: 'server',
    condition: {
      selector: { path: 'input.id' },
      evaluator: { name: 'regex', config: { pattern: '^9007199254740993$' } },
    },
    action: { decision: 'deny' },
  });
});

it('numbers are exact between a client and a server over stdio, and what readers could differ in is refused', async () => {
  const settings = {
    listen: { transport: 'stdio' },
    service: { url: service.url, timeout_seconds: 300 },
    upstreams: [
      { name: 'own', command: process.execPath, args: [UPSTREAM], timeout_seconds: 300, answer_seconds: 300 },
    ],
    mapping: { agent: { fixed: AGENT }, tool_names: 'plain' },
  };
  const cwd = folderWith({ 'gateway.yaml': JSON.stringify(settings) });
  const gateway = spawn(process.execPath, [COMMAND, 'mcp', '--config', 'gateway.yaml'], {
    cwd,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => void gateway.kill());
  const lines = createInterface({ input: gateway.stdout })[Symbol.asyncIterator]();
  const ask = async (line: string | Buffer): Promise<string> => {
    gateway.stdin.write(line);
    gateway.stdin.write('\n');
    return (await lines.next()).value ?? '';
  };
  const call = (given: string, id = '1') =>
    ask(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"run","arguments":${given}}}`);
  const info = '"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}';
  expect(await ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{${info}}}`)).toContain(
    '"result"',
  );

  const given =
    '{"id":9007199254740992,"f":1.0,"z":-0,"e":1E2,"s":"\\ud800","__proto__":{"d":0.12345678901234567890}}';
  const reply = await call(given, '9007199254740995');
  expect(reply).toContain(`"structuredContent":${given}`);
  expect(reply).toContain(JSON.stringify(given));
  expect(reply).toContain('"id":9007199254740995');
  expect(await call('{"id":9007199254740993}')).toContain('no-993');
  expect(await call('{"word":"twice"}')).toMatch(/-32013.*more than once/);
  for (const refused of ['{"id":1,"id":2}', '{"id":1e400}', '{"id":NaN}'])
    expect(await call(refused)).toMatch(/"id":null.*-32700/);
  const body = '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run"},"Params":{}}';
  for (const refused of [
    body,
    `\ufeff${body}`,
    Buffer.from('{"jsonrpc":"2.0","id":3,"method":"\xff"}', 'latin1'),
  ])
    expect(await ask(refused)).toMatch(/"id":null.*-32700/);
  expect(await call('{"id":2.0}')).toContain('"structuredContent":{"id":2.0}');
});
