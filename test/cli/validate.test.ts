import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';

const CONTROL = `kind: Control
name: no-card-numbers
data:
  execution: server
  condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '\\d{16}' } } }
  action: { decision: deny }
`;

const validate = (files: Readonly<Record<string, string>>, ...words: string[]) =>
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

  it('tells the problems of all files at once', async () => {
    const files = {
      'a.yaml': 'kind: X\nname: a\n',
      'b.yaml': CONTROL.replace('no-card-numbers', 'Not A Name'),
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
