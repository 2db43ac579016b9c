import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';

const CONTROL = `kind: Control
name: no-card-numbers
data:
  execution: server
  condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '\\d{16}' } } }
  action: { decision: deny }
`;

const validate = (files: Readonly<Record<string, string | Uint8Array>>, ...words: string[]) =>
  runCli(['validate', ...words, ...(words.includes('x') ? [] : Object.keys(files))], {
    cwd: folderWith(files),
  });

describe('validate', () => {
  it('accepts documents of every file and folder', async () => {
    const cwd = folderWith({
      'controls/a.yaml': `${CONTROL}---\nkind: Policy\nname: baseline\ncontrols: [no-card-numbers]\n`,
      'controls/deep/b.json': '{"kind": "AgentLinks", "name": "billing-bot-01", "policies": ["baseline"]}',
      'controls/a.test.yaml': 'no: document\n',
    });
    expect(await runCli(['validate', 'controls'], { cwd })).toEqual({
      code: 0,
      stdout: '3 documents are valid.\n',
      stderr: '',
    });
  });

  const CARD = 'no-card-numbers';
  it.each([
    [
      'an unknown kind',
      CONTROL.replace('Control', 'Contrl'),
      'a.yaml:1:1: kind: must be one of: Control, Template, Limit, Approval, Policy, Pack, AgentLinks; did you mean Control?',
    ],
    ['an unknown member', CONTROL.replace('execution:', 'executoin:'), 'a.yaml:4:3: data.executoin: '],
    [
      'a wrong type',
      CONTROL.replace('name: no-card-numbers', 'name: 5'),
      'a.yaml:2:1: name: must be a string',
    ],
    ['a broken pattern', CONTROL.replace("'\\d{16}'", "'('"), /^a\.yaml:5:\d+: data\./],
    ['a member that occurs twice', `${CONTROL}name: b\n`, 'a.yaml:7:1: Map keys must be unique'],
    [
      'a tab',
      CONTROL.replace('  execution', '\texecution'),
      /^a\.yaml:4:1: Tabs are not allowed as indentation/,
    ],
    ['an alias', 'a: &x [1]\nb: *x\n', 'a.yaml:2:4: aliases such as *x are not read; write the value out'],
    [
      'a bomb of aliases',
      `a0: &a0 [1]\n${Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`,
      'a.yaml:2:10: aliases such as *a0',
    ],
    ['nothing', '# a comment\n', 'a.yaml:1:1: the file has no document'],
    ['a list', '- a\n', 'a.yaml:1:1: a document must be an object'],
    [
      'the same object twice',
      `${CONTROL}---\n${CONTROL}`,
      `a.yaml:9:1: name: the document in a.yaml:1 is the same object`,
    ],
    [
      'a kind that it is not',
      CONTROL.replace('Control', 'Limit'),
      'a.yaml:1:1: kind: is Limit, and no condition checks',
    ],
    [
      'too many bytes',
      Buffer.alloc(10 * 1024 * 1024, 'a: 1 # x\n'),
      'a.yaml:1:1: the file has 10485760 bytes; the limit is 4194304. Split it',
    ],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('kind: Control\nname: ä'), Buffer.from([0xc3, 0x28])]),
      'a.yaml:2:8: the file is not UTF-8 from here on',
    ],
  ])('refuses %s, with the place', async (_, content, problem) => {
    const { code, stdout, stderr } = await validate({ 'a.yaml': content });
    expect([code, stdout]).toEqual([1, '']);
    if (typeof problem === 'string') expect(stderr.slice(0, problem.length)).toBe(problem);
    else expect(stderr).toMatch(problem);
  });

  it('tells the problems of all files at once', async () => {
    const files = {
      'a.yaml': 'kind: X\nname: a\n',
      'b.yaml': CONTROL.replace(CARD, 'Not A Name'),
      'c.yaml': CONTROL,
    };
    const { code, stderr } = await validate(files);
    expect(code).toBe(1);
    expect(stderr.split('\n').map((line) => line.split(':', 2).join(':'))).toEqual([
      'a.yaml:1',
      'b.yaml:2',
      '',
    ]);
  });

  it('reads the standard input, and names what does not exist', async () => {
    expect((await runCli(['validate', '-'], { stdin: CONTROL })).code).toBe(0);
    expect((await runCli(['validate', '-'], { stdin: 'a: [' })).stderr).toMatch(/^stdin:\d+:\d+: /);
    const { code, stderr } = await runCli(['validate', 'missing'], { cwd: folderWith() });
    expect([code, stderr.split('\n')[0]]).toEqual([1, 'missing:1:1: there is no such file or folder']);
  });

  it('leaves variables as they are unless it is told to expand them', async () => {
    const files = { 'a.yaml': CONTROL.replace('\\d{16}', '${PATTERN}') };
    const cwd = folderWith(files);
    const place = 'a.yaml:5:84: ';
    const asText = await runCli(['validate', 'a.yaml'], { cwd, env: { PATTERN: '(' } });
    expect(asText.stderr).toContain(`${place}warning: \${PATTERN} stays as it is written`);
    const words = ['validate', '--expand-env', 'a.yaml'];
    const expanded = await runCli(words, { cwd, env: { PATTERN: '(' } });
    expect(expanded.stderr).toContain(`${place}\${PATTERN} is replaced`);
    expect(expanded.code).toBe(1);
    expect(await runCli(words, { cwd })).toMatchObject({
      code: 1,
      stderr: `${place}the environment has no variable PATTERN\n`,
    });
  });

  it('takes warnings for errors if it is told to, and demands the namespace', async () => {
    const never = { 'a.yaml': CONTROL.replace('\\d{16}', 'a^') };
    expect((await validate(never)).stderr).toMatch(
      /^a\.yaml:5:\d+: warning: data\.condition\.evaluator\.config/,
    );
    expect((await validate(never, '--strict')).code).toBe(1);
    const { stderr } = await validate({ 'a.yaml': `namespace: b\n${CONTROL}` }, '--namespace', 'a');
    expect(stderr).toBe('a.yaml:1:1: namespace: must be a, as --namespace says\n');
  });
});
