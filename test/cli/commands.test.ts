import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, nameOf } from '../../packages/cli/src/command-table.js';
import { readDocuments } from '../../packages/documents/src/index.js';
import { type CliOptions, folderWith, runCli, wordsOf } from '../support/cli.js';
import { suiteService } from '../support/service-suite.js';

const ADMIN = 'admin-key-of-the-command-line';
const VARIABLES = { SERVICE_API_KEY_ENABLED: 'true', SERVICE_ADMIN_API_KEYS: ADMIN };

const CONTROL = `kind: Control
name: card-numbers
data:
  execution: server
  condition: { selector: { path: input }, evaluator: { name: regex, config: { pattern: '\\d{16}' } } }
  action: { decision: deny }
`;
/** Commands whose examples need nothing that happens meanwhile. */
const OWN = [
  'validate',
  'export',
  'init',
  'format',
  'diff',
  'apply',
  'get',
  'list',
  'events search',
  'events export',
  'approvals list',
  'halt set',
  'mcp',
  'halt list',
  'halt lift',
  'keys list',
  'keys create',
  'keys rotate',
  'keys revoke',
  'login',
  'doctor',
  'completion',
  'watch controls',
];

describe('the commands', () => {
  const service = suiteService(VARIABLES, { headers: { 'x-api-key': ADMIN } });
  const own = (): Record<string, string> => ({
    CONTROL_ENFORCEMENT_SERVER: service.url,
    CONTROL_ENFORCEMENT_API_KEY: ADMIN,
  });
  const cli = (line: string, options: CliOptions = {}) =>
    runCli(wordsOf(line), { ...options, env: { ...own(), ...options.env } });
  const json = async (line: string, options: CliOptions = {}) => {
    const { code, stdout, stderr } = await cli(`${line} --output json`, options);
    expect([code, stderr.replaceAll(/warning: .*\n/g, '')]).toEqual([0, '']);
    return JSON.parse(stdout);
  };

  it('apply, diff and export keep a set', async () => {
    const cwd = folderWith({
      'c/a.yaml': `${CONTROL}---\nkind: Policy\nname: p\ncontrols: [card-numbers]\n`,
    });
    const diff = await cli('x diff c --owner main', { cwd });
    expect([diff.code, diff.stdout]).toEqual([2, '+ Control/card-numbers\n+ Policy/p\n']);
    const preview = await cli('x apply c --owner main --dry-run', { cwd });
    expect(preview.stdout).toContain('2 would be created');
    const applied = await json('x apply c --owner main', { cwd });
    expect(applied).toMatchObject({ applied: true });
    expect(await json('x apply c --owner main', { cwd })).toMatchObject({
      applied: false,
      revision: applied.revision,
    });
    expect(await cli('x diff c --owner main', { cwd })).toEqual({ code: 0, stdout: '', stderr: '' });

    const { stdout: exported } = await cli('x export --owner main');
    writeFileSync(path.join(cwd, 'c/a.yaml'), exported);
    expect(await cli('x diff c --owner main --prune', { cwd })).toEqual({ code: 0, stdout: '', stderr: '' });
    expect((await cli('x format --check c', { cwd })).code).toBe(0);

    writeFileSync(path.join(cwd, 'c/a.yaml'), exported.replace('decision: deny', 'decision: observe'));
    const changed = await cli('x diff c --owner main', { cwd });
    expect(changed.stdout).toBe(
      '~ Control/card-numbers\n    data.action.decision\n      - "deny"\n      + "observe"\n',
    );
    expect((await cli('x apply c --owner other', { cwd })).stderr).toMatch(
      /^c\/a\.yaml:\d+:1: Control\/card-numbers: belongs to another owner: main/,
    );
  });

  it('apply deletes only what it may', async () => {
    const cwd = folderWith({
      'a.yaml': CONTROL.replace('card-numbers', 'first'),
      'b.yaml': CONTROL.replace('card-numbers', 'second'),
    });
    await json('x apply a.yaml b.yaml --owner gone', { cwd });
    const refused = await cli('x apply a.yaml --owner gone --prune', { cwd });
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('- Control/second\nerror: 1 object(s) would be deleted\n');
    const done = await cli('x apply a.yaml --owner gone --prune --yes', { cwd });
    expect([done.code, done.stdout.split('\n')[0]]).toEqual([0, '- Control/second']);
    const { code, stderr } = await cli('x get control second');
    expect([code, stderr.split('\n')[0]]).toEqual([1, 'error: there is no control named second']);
  });

  it('apply names a control that does not exist, with its place', async () => {
    const text = `${CONTROL}---\nkind: Policy\nname: q\ncontrols: [card-nubers]\n`;
    const refused = await cli('x apply a.yaml --owner bad', { cwd: folderWith({ 'a.yaml': text }) });
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      expect.stringMatching(/^a\.yaml:10:1: controls: there is no control of this name/),
    ]);
    expect((await cli('x export --owner bad')).stdout).toBe('');
  });

  it('export writes every digit, and tells why it cannot reach a server', async () => {
    const evaluator = { name: 'list', config: { values: ['9007199254740993', 'a: b', ' c', '1'] } };
    const condition = { selector: { path: 'input.id' }, evaluator };
    const data = { execution: 'server', condition, action: { decision: 'deny' } };
    const documents = [
      { kind: 'Control', name: 'numbers', data },
      { kind: 'Policy', name: 'of-numbers', controls: ['numbers'] },
    ];
    await service.call('POST', '/api/v1/configuration/apply', { owner: 'numbers', documents });
    const { stdout } = await cli('x export --owner numbers');
    expect(readDocuments(stdout).documents.map(({ value }) => value)).toMatchObject(documents);
    expect(await json('x export --owner numbers --kind Policy')).toEqual(documents[1]);
    const away = await runCli(['export', '--server', 'http://127.0.0.1:1']);
    expect([away.code, away.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: cannot reach http:\/\/127\.0\.0\.1:1: /),
    ]);
    expect((await runCli(['export'])).stderr).toMatch(/^error: no server is given\n.*--server URL/);
  });

  it('format keeps comments, orders members, and changes nothing twice', async () => {
    const text =
      '# head\ndata:\n      action: { decision: deny }   # why\n      execution: server\n      condition: { selector: { path: input }, evaluator: { name: regex, config: { pattern: a } } }\nname: a\nkind: Control\n';
    const cwd = folderWith({ 'a.yaml': text });
    expect(await cli('x format --check a.yaml', { cwd })).toMatchObject({ code: 1, stdout: 'a.yaml\n' });
    expect(readFileSync(path.join(cwd, 'a.yaml'), 'utf8')).toBe(text);
    expect((await cli('x format a.yaml', { cwd })).code).toBe(0);
    const formatted = readFileSync(path.join(cwd, 'a.yaml'), 'utf8');
    expect(formatted).toBe(
      '# head\nkind: Control\nname: a\ndata:\n  execution: server\n  condition: { selector: { path: input }, evaluator: { name: regex, config: { pattern: a } } }\n  action: { decision: deny } # why\n',
    );
    expect((await cli('x format --check a.yaml', { cwd })).code).toBe(0);
  });

  it('login keeps a checked key that only the user can read, and contexts are used', async () => {
    const cwd = folderWith();
    const env = { CONTROL_ENFORCEMENT_SERVER: '', CONTROL_ENFORCEMENT_API_KEY: '', XDG_CONFIG_HOME: cwd };
    const wrong = await cli(`x login --server ${service.url}`, { cwd, env, stdin: 'not-a-key\n' });
    expect(wrong.code).toBe(1);
    const file = path.join(cwd, 'control-enforcement', 'contexts.json');
    expect(existsSync(file)).toBe(false);
    const { code, stdout } = await cli(`x login --server ${service.url} --context local`, {
      cwd,
      env,
      stdin: `${ADMIN}\n`,
    });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('namespace default. The context local is in'),
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await cli('x list policies', { cwd, env })).code).toBe(0);
    expect((await cli('x list policies --context other', { cwd, env })).stderr).toContain(
      'there is no context other\nThere are: local.',
    );
    // The key of one server is not sent to another.
    const elsewhere = await cli('x list policies --server http://127.0.0.1:1', { cwd, env });
    expect(elsewhere.stderr).toMatch(/cannot reach http:\/\/127\.0\.0\.1:1/);
  });

  it('a key on the command line works with a warning, and the namespace must be that of the key', async () => {
    const env = { CONTROL_ENFORCEMENT_API_KEY: '' };
    const { code, stderr } = await cli(`x list policies --key ${ADMIN}`, { env });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^warning: a key on the command line/)]);
    expect((await cli('x list policies --namespace other')).stderr).toMatch(
      /^error: the key is of the namespace default, not of other/,
    );
  });

  it('doctor tells that all is well, and what is wrong', async () => {
    const { code, stdout, stderr } = await cli('x doctor');
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('ok      database: the database answers')]);
    expect(code).toBe(/^wrong/m.test(stdout) ? 1 : 0);
    const wrong = await cli('x doctor', { env: { CONTROL_ENFORCEMENT_SERVER: 'http://127.0.0.1:1' } });
    expect([wrong.code, wrong.stdout]).toEqual([
      1,
      expect.stringContaining('wrong   connection: cannot reach'),
    ]);
  });

  describe('do what the examples of their --help say', () => {
    const examples = COMMANDS.map((entry) => [nameOf(entry), entry] as const);
    it.each(examples.filter(([name]) => OWN.includes(name)))('%s', async (name, entry) => {
      const { command } = await entry.load();
      expect(command.examples.length).toBeGreaterThan(0);
      const help = await runCli([...name.split(' '), '--help']);
      for (const { line, code = 0, does } of command.examples) {
        const words = wordsOf(line).map((word) => word.replace('http://localhost:8000', service.url));
        expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(line.replaceAll(/\s+/g, ' '));
        const cwd = folderWith();
        await runCli(['init', 'controls'], { cwd });
        if (name === 'validate')
          words.splice(0, words.length, ...words.map((word) => word.replace('*', 'baseline')));
        if (name === 'format' && words.includes('controls')) await cli('x format controls', { cwd });
        await prepare(name, words);
        const result = await runCli(words, { cwd, env: own(), stdin: ADMIN });
        expect([does, result.code, result.stderr], result.stdout).toEqual([does, code, expect.any(String)]);
      }
    });
  });

  /** What an example needs on the server. Ids in it are replaced by those of what it makes. */
  async function prepare(name: string, words: string[]): Promise<void> {
    const setId = (id: unknown): void => {
      words.splice(words.indexOf('1'), 1, String(id));
    };
    if (name === 'get') await json('x apply controls --owner payments/main', { cwd: await made() });
    if (name === 'diff')
      await cli('x apply - --owner payments/main --prune --yes', {
        stdin: CONTROL.replace('card-numbers', 'diffed'),
      });
    if (name === 'halt lift') setId((await json('x halt set namespace --reason test'))[0].id);
    if (name === 'keys rotate' || name === 'keys revoke')
      setId((await json(`x keys create ${name.replace(' ', '-')}-${Date.now()} --role viewer`)).key.id);
    // The old secret of a rotated key expires soon, which doctor tells.
    if (name === 'doctor')
      for (const { id } of (await service.call('GET', '/api/v1/keys')).body.keys)
        await service.call('DELETE', `/api/v1/keys/${id}`);
    if (name === 'watch controls')
      await service.call('POST', '/api/v1/agents/initAgent', {
        agent: { agent_name: 'billing-bot-01' },
        steps: [],
      });
  }

  async function made(): Promise<string> {
    const cwd = folderWith();
    await runCli(['init', 'controls'], { cwd });
    return cwd;
  }
});
