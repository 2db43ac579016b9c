import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGatewayConfig } from '../../packages/mcp-gateway/src/index.js';
import { folderWith, runCli } from '../support/cli.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/mcp-gateway.md'), 'utf8');
const MINIMAL = `upstreams:
  - { name: files, url: http://127.0.0.1:3001 }
mapping: { agent: { fixed: files-agent-1 } }
`;

describe('the settings of a gateway', () => {
  it('are read from the examples', () => {
    const [, text = ''] = /```yaml gateway\n(.*?)```/s.exec(PAGE) ?? [];
    const config = readGatewayConfig(text, 'gateway.yaml', { FILES_TOKEN: 'secret' });
    expect(config.upstreams[0]).toMatchObject({
      headers: { authorization: 'Bearer secret' },
      timeout_seconds: 60,
    });
    const file = path.join(ROOT, 'examples/mcp-gateway/gateway.yaml');
    expect(readGatewayConfig(readFileSync(file, 'utf8'), file, {}).listen.host).toBe('127.0.0.1');
  });

  it('have the defaults that the page says', () => {
    const { listen, pins, approvals, upstreams, service } = readGatewayConfig(MINIMAL, 'gateway.yaml', {});
    const rows = [
      ['listen.max_body_bytes', listen.max_body_bytes],
      ['listen.max_sessions', listen.max_sessions],
      ['listen.session_idle_seconds', listen.session_idle_seconds],
      ['listen.max_calls', listen.max_calls],
      ['service.timeout_seconds', service.timeout_seconds],
      ['upstreams[].max_result_bytes', upstreams[0]?.max_result_bytes],
      ['pins.refresh_seconds', pins.refresh_seconds],
    ];
    for (const [name, value] of rows) expect(PAGE).toContain(`| \`${name}\` | ${value} |`);
    const times = [approvals.wait_seconds, approvals.retry_hold_seconds, approvals.state_seconds].join(', ');
    expect(PAGE).toContain(`\`state_seconds\` | ${times} |`);
  });

  it.each([
    ['listn: {}', 'gateway.yaml:4:1: listn: is not known; did you mean listen?'],
    ['listen: { prot: 1 }', 'gateway.yaml:4:11: listen.prot: is not known; did you mean port?'],
    ['auth: { issuers: [] }', 'gateway.yaml:4:9: auth.issuers: is not known; did you mean issuer?'],
    ['checks: { tools: never }', 'gateway.yaml:4:11: checks.tools: Invalid option'],
    ['listen: { host: 0.0.0.0 }', 'auth: is missing: 0.0.0.0 is reached from other machines'],
    ['service: { key_env: A, key_file: b }', 'service: has key_env and key_file: give one'],
    ['mapping: {}', 'mapping occurs twice'],
    ['approvals: { page: somewhere }', 'approvals.page: must be an address with {id}'],
  ])('refuse %s', (line, problem) => {
    expect(() => readGatewayConfig(`${MINIMAL}${line}\n`, 'gateway.yaml', {})).toThrow(problem);
  });

  it.each([
    ['url: http://127.0.0.1:3001', 'url: http://a, command: b', 'upstreams.0: needs either url or command'],
    ['name: files', 'name: Files_', 'upstreams.0.name: must have 1 to 32 lower-case letters'],
    ['fixed: files-agent-1', 'claim: sub', 'mapping.agent.claim: needs auth'],
    ['fixed: files-agent-1', 'fixed: a, header: b', 'mapping.agent: needs exactly one of'],
    [
      'url: http://127.0.0.1:3001',
      'url: http://a, headers: { a: "${NONE}" }',
      'the variable NONE is not set',
    ],
    [
      'url: http://127.0.0.1:3001',
      'url: http://a, timeout_seconds: 900',
      'must not be more than max_seconds',
    ],
    ['} }\n', '}, tool_names: plain }\n', ''],
  ])('with %s as %s say "%s"', (from, to, problem) => {
    const text = MINIMAL.replace(from, to);
    if (problem === '') expect(readGatewayConfig(text, 'g.yaml', {}).mapping.tool_names).toBe('plain');
    else expect(() => readGatewayConfig(text, 'g.yaml', {})).toThrow(problem);
  });
});

describe('control-enforcement mcp', () => {
  const cli = (line: string, cwd: string, env = {}) => runCli(['mcp', ...line.split(' ')], { cwd, env });

  it('writes a file that it finds valid, and says what is wrong with another one', async () => {
    const cwd = folderWith({ 'bad.yaml': 'upstream: []\n' });
    expect((await cli('init --config gateway.yaml', cwd)).code).toBe(0);
    expect((await cli('init --config gateway.yaml', cwd)).stderr).toContain('exists already');
    expect((await cli('check --config gateway.yaml', cwd)).stdout).toBe('gateway.yaml is valid.\n');
    const { code, stderr } = await cli('check --config bad.yaml', cwd);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('bad.yaml:1:1: upstream: is not known; did you mean upstreams?'),
    ]);
    expect((await cli('serve --config gateway.yaml', cwd)).stderr).toContain(
      'the variable CONTROL_ENFORCEMENT_API_KEY',
    );
  });

  it('lists and approves tools', async () => {
    const cwd = folderWith();
    mkdirSync(path.join(cwd, 'etc'));
    writeFileSync(path.join(cwd, 'etc/g.yaml'), `${MINIMAL}pins: { file: pins.json }\n`);
    const at = '2026-11-27T12:00:00.000Z';
    const tools = {
      'files/read': { approved: 'aaaa', at },
      'files/write': { approved: 'bbbb', pending: 'cccc', at },
      'files/drop': { approved: null, pending: 'dddd', at },
    };
    writeFileSync(path.join(cwd, 'etc/pins.json'), JSON.stringify({ version: 1, tools }));
    const listed = await cli('tools --config etc/g.yaml', cwd);
    expect(listed.stdout.split('\n').map((line) => line.split(/ +/).slice(0, 2).join(' '))).toEqual([
      ...['TOOL STATE', 'files/read approved', 'files/write changed', 'files/drop new', ''],
    ]);
    expect((await cli('approve --config etc/g.yaml', cwd)).stderr).toContain(
      'needs either names of tools or --all',
    );
    expect((await cli('approve files/read --config etc/g.yaml', cwd)).stderr).toContain('nothing waits');
    expect((await cli('approve files/write --config etc/g.yaml', cwd)).stdout).toBe(
      'files/write may be used.\n',
    );
    expect((await cli('approve --all --config etc/g.yaml', cwd)).stdout).toBe('files/drop may be used.\n');
    writeFileSync(path.join(cwd, 'etc/pins.json'), '{}');
    expect((await cli('tools --config etc/g.yaml', cwd)).stderr).toContain('is not a file of pins');
  });
});
