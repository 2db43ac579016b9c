import { readFileSync, statSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { COMMANDS } from '../../packages/cli/src/command-table.js';
import { folderWith } from '../support/cli.js';
import { runShell, startCommand } from '../support/cli-process.js';
import { suiteDeviceIssuer } from '../support/device-issuer.js';
import { AUDIENCE } from '../support/issuer.js';
import { denyWord } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const ADMIN = 'admin-key-of-the-processes';
const ESCAPE = '\u001b[';

describe('the built command, in a process of its own', () => {
  const issuer = suiteDeviceIssuer();
  const service = suiteService(
    () => ({
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_ADMIN_API_KEYS: ADMIN,
      SERVICE_OIDC_ISSUER: issuer.url,
      SERVICE_OIDC_AUDIENCE: AUDIENCE,
      SERVICE_OIDC_ADMIN_ROLES: 'control-admin',
      OBSERVABILITY_FLUSH_INTERVAL_SECONDS: '0.1',
    }),
    { headers: { 'x-api-key': ADMIN } },
  );
  const own = (): Record<string, string> => ({
    CONTROL_ENFORCEMENT_SERVER: service.url,
    CONTROL_ENFORCEMENT_API_KEY: ADMIN,
  });
  const start = (...words: string[]) => startCommand(words, { env: own() });
  const shell = (script: string, more: Record<string, string> = {}) =>
    runShell(script, { env: { ...own(), ...more } });

  it('tells its version and its commands, and completes them', async () => {
    const { version } = JSON.parse(readFileSync('packages/cli/package.json', 'utf8'));
    const printed = await shell('control-enforcement --version; control-enforcement -h');
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(printed.stdout.startsWith(`${version}\n`)).toBe(true);
    for (const { usage } of COMMANDS) expect(printed.stdout).toContain(`\n  ${usage.split(' ')[0]} `);
  });

  it.each([
    ['ap', 'apply approvals'],
    ['approvals ', 'list approve deny'],
    ['keys ro', 'rotate'],
    ['--server http://localhost:1 keys ro', 'rotate'],
    ['completion ', 'bash zsh'],
    ['apply --dry', '--dry-run'],
    ['export --kind P', 'Policy Pack'],
    ['list --output ', 'table json yaml'],
    ['diff --owner apply ', ''],
    ['validate contr', ''],
  ])('completes "%s" in bash with "%s"', async (typed, found) => {
    const words = ['control-enforcement', ...typed.split(' ')];
    const { code, stdout, stderr } = await shell(`
      source <(control-enforcement completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length - 1}
      _control_enforcement
      echo "\${COMPREPLY[@]}"`);
    expect([code, stderr, stdout]).toEqual([0, '', `${found}\n`]);
  });

  it('ends without an error when the reader of its output has gone', async () => {
    const documents = Array.from({ length: 400 }, (_, index) => ({
      kind: 'Control',
      name: `long-${index}`,
      data: denyWord('word', { description: 'x'.repeat(900) }),
    }));
    await service.call('POST', '/api/v1/configuration/apply', { owner: 'long', documents });
    const { stdout, stderr } = await shell('control-enforcement export | head -1; echo "${PIPESTATUS[@]}"');
    expect([stdout, stderr]).toEqual(['kind: Control\n0 0\n', '']);
  });

  it('watches controls until Ctrl-C, and ends with 130', async () => {
    await service.seed.linked('watched-bot-01', 'watched-first');
    const { child, printed, ended } = start('watch', 'controls', 'watched-bot-01');
    await until(
      () => printed.stdout,
      (text) => text.includes('watched-first'),
    );
    await service.seed.link('watched-bot-01', await service.seed.control('watched-second'));
    await until(
      () => printed.stdout,
      (text) => text.includes('changed watched-second'),
    );
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('watches events, as lines of JSON', async () => {
    await service.seed.linked('asking-bot-01', 'no-secrets', denyWord('secret'));
    const words = ['watch', 'events', '--agent', 'asking-bot-01', '--decision', 'deny', '--count', '1'];
    const { child, ended } = start(...words, '--output', 'json');
    await until(
      () =>
        service.call('POST', '/api/v1/evaluation', {
          agent_name: 'asking-bot-01',
          stage: 'pre',
          step: { type: 'llm', name: 'answer', input: 'a secret' },
        }),
      () => child.exitCode !== null,
    );
    const { code, stdout } = await ended;
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ control_name: 'no-secrets', action: 'deny', matched: true }),
    ]);
  });

  it.each(['approve', 'deny'])('decides approvals: %s', async (word) => {
    const data = denyWord('large', {
      scope: { stages: ['pre'] },
      action: { decision: 'deny', approval: { approvers: ['role:admin'], separate: false } },
    });
    await service.seed.linked(`paying-bot-${word}`, `asks-${word}`, data);
    const { body } = await service.call('POST', '/api/v1/evaluation', {
      agent_name: `paying-bot-${word}`,
      stage: 'pre',
      accepts: ['steer', 'ask', 'modify'],
      step: { type: 'tool', name: 'pay', input: { amount: 'large' } },
    });
    expect(body).toMatchObject({ outcome: 'ask', approval: { state: 'pending' } });
    const { id } = body.approval;
    const decided = await start('approvals', word, String(id), '--comment', 'looked at', '--output', 'json')
      .ended;
    expect([decided.stderr, decided.code]).toEqual(['', 0]);
    const state = word === 'approve' ? 'approved' : 'denied';
    expect(JSON.parse(decided.stdout)).toMatchObject([{ id, state }]);
    const again = await start('approvals', word, String(id)).ended;
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^error: /)]);
    expect((await start('approvals', 'list', '--state', state).ended).stdout).toContain(`paying-bot-${word}`);
  });

  it('asks on a terminal only, and --yes answers', async () => {
    const cwd = folderWith({
      'a.json': JSON.stringify({ kind: 'Control', name: 'goes', data: denyWord('a') }),
      'b.json': JSON.stringify({ kind: 'Control', name: 'stays', data: denyWord('b') }),
    });
    const run = (script: string, stdin = '') => runShell(script, { cwd, env: own(), stdin });
    expect((await run('control-enforcement apply . --owner asked')).code).toBe(0);
    const prune = 'control-enforcement apply b.json --owner asked --prune';
    const piped = await run(prune, 'y\n');
    expect([piped.code, piped.stderr]).toEqual([
      1,
      '- Control/goes\nerror: 1 object(s) would be deleted\nLook at --dry-run, then give --yes.\n',
    ]);
    const onTerminal = (answer: string) =>
      run(`(sleep 0.1; echo ${answer}) | script -qec '${prune}' /dev/null`, '');
    const refused = await onTerminal('n');
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringMatching(/Delete 1 object\(s\)\? \[y\/N\] .*nothing was applied/s),
    ]);
    expect((await run('control-enforcement get control goes')).code).toBe(0);
    expect((await run(`${prune} --yes`)).code).toBe(0);
    expect((await run('control-enforcement get control goes')).code).toBe(1);
  });

  it('has colours on a terminal only, and none with NO_COLOR', async () => {
    const line = 'control-enforcement doctor';
    const onTerminal = `script -qec '${line}' /dev/null`;
    const colours = await shell(onTerminal, { TERM: 'xterm' });
    expect(colours.stdout).toContain(`${ESCAPE}32mok`);
    for (const plain of [
      await shell(onTerminal, { TERM: 'xterm', NO_COLOR: '1' }),
      await shell(onTerminal, { TERM: 'dumb' }),
      await shell(line, { TERM: 'xterm' }),
    ]) {
      expect(plain.stdout).toContain('ok      database');
      expect(plain.stdout + plain.stderr).not.toContain(ESCAPE);
    }
  });

  it('logs in by the device flow, and uses the token', async () => {
    const cwd = folderWith();
    issuer.errors.push('authorization_pending', 'authorization_pending');
    const words = ['login', '--server', service.url, '--issuer', issuer.url, '--client-id', 'the-command'];
    const login = await startCommand([...words, '--context', 'work'], { cwd }).ended;
    expect(login.stderr).toBe(`Open ${issuer.url}/activate and enter the code WDJB-MJHT\n`);
    expect([login.code, login.stdout]).toEqual([0, expect.stringContaining('The context work is in')]);
    expect(issuer.asked.map((body) => [body.get('device_code'), body.get('client_id')])).toEqual(
      Array.from({ length: 3 }, () => ['a-device-code', 'the-command']),
    );
    const file = path.join(cwd, '.config', 'control-enforcement', 'contexts.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const list = await startCommand(['list', 'policies', '--output', 'json'], { cwd }).ended;
    expect(list).toMatchObject({ code: 0, stderr: '' });

    issuer.errors.push('access_denied');
    const denied = await startCommand(words, { cwd: folderWith() }).ended;
    expect([denied.code, denied.stderr]).toEqual([
      1,
      expect.stringMatching(/error: the login at .* failed: the issuer says access_denied\nCheck --issuer/),
    ]);
  });

  it.each([
    [-5_000, 'behind'],
    [5_000, 'ahead of'],
  ])('doctor tells that the clock of a server is %i ms off', async (offMs, where) => {
    const server = http.createServer((_, response) => {
      response.sendDate = false;
      const date = new Date(Date.now() + offMs).toUTCString();
      response.writeHead(200, { date, 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, stdout } = await startCommand(['doctor', '--server', url]).ended;
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^wrong   clock: the clock of the server is at least \\d\\.\\d s ${where} this one\\n +Set the`,
          'm',
        ),
      ),
    ]);
  });
});
