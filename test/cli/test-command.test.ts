import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inPackage } from '../../src/contract/runtime/package-root.js';
import { folderWith, runCli } from '../support/cli.js';

const CONTROL = `kind: Control
name: no-cards
data:
  execution: server
  condition: { selector: { path: input.text }, evaluator: { name: regex, config: { pattern: '[0-9]{16}' } } }
  action: { decision: deny }
`;
const suite = (outcome: string) => `kind: Suite
name: cards
controls: [.]
cases:
  - { name: a card, step: { name: note, input: { text: '4111111111111111' } }, expect: { outcome: ${outcome} } }
  - { name: a word, step: { name: note, input: { text: hello } }, expect: { outcome: allow } }
`;
const folder = (outcome = 'deny') =>
  folderWith({ 'controls/cards.yaml': CONTROL, 'controls/cards.test.yaml': suite(outcome) });

describe('control-enforcement test', () => {
  it('ends with 0 if all cases pass, with 2 if one fails, and with 1 if a file is wrong', async () => {
    expect(await runCli(['test', 'controls'], { cwd: folder() })).toMatchObject({ code: 0, stderr: '' });
    const failed = await runCli(['test', 'controls'], { cwd: folder('allow') });
    expect(failed.code).toBe(2);
    expect(failed.stdout).toContain('✗ controls/cards.test.yaml:5:5 a card');
    const wrong = await runCli(['test', 'controls'], { cwd: folder('block') });
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toMatch(
      /^controls\/cards\.test\.yaml:5:\d+: cases\[0\]\.expect\.outcome: must be one of/,
    );
    expect((await runCli(['test', 'nowhere'], { cwd: folder() })).stderr).toMatch(
      /^nowhere:1:1: there is no such file/,
    );
  });

  it('runs the cases that --filter names, and demands that there are some', async () => {
    const one = await runCli(['test', '--filter', 'word', 'controls'], { cwd: folder('allow') });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('1 cases: 1 passed') });
    const none = await runCli(['test', '--filter', 'nothing', 'controls'], { cwd: folder() });
    expect(none).toMatchObject({ code: 1, stderr: 'error: no case has "nothing" in its name\n' });
  });

  it('writes a report to a file, or as JSON', async () => {
    const cwd = folder('allow');
    const { code, stdout } = await runCli(
      ['test', '--reporter', 'junit', '--output-file', 'report.xml', 'controls'],
      { cwd },
    );
    expect([code, stdout]).toEqual([2, '1 passed, 1 failed, 0 skipped; see report.xml\n']);
    expect(readFileSync(path.join(cwd, 'report.xml'), 'utf8')).toContain('failures="1"');
    const json = await runCli(['test', '--output', 'json', 'controls'], { cwd });
    expect(JSON.parse(json.stdout)).toMatchObject({
      passed: 1,
      failed: 1,
      cases: [{ status: 'failed' }, { status: 'passed' }],
    });
  });

  it('ends with 2 where the coverage is below its threshold', async () => {
    const cwd = folder();
    expect(await runCli(['test', '--coverage-min', '100', 'controls'], { cwd })).toMatchObject({ code: 0 });
    const low = await runCli(['test', '--coverage-min', '60', '--filter', 'word', 'controls'], { cwd });
    expect(low).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('coverage is 50.0 %, below the 60 %'),
    });
    expect((await runCli(['test', '--coverage-min', 'all', 'controls'], { cwd })).stderr).toMatch(
      /--coverage-min: must be a percentage/,
    );
  });

  it('runs the cases of packs', async () => {
    const samples = path.join(import.meta.dirname, '..', 'fixtures', 'packs', 'samples');
    const { code, stdout } = await runCli(['test', samples]);
    expect([code, stdout.split('\n').length]).toEqual([0, 5]);
    const builtIn = await runCli(['test', '--filter', 'no such case', 'packs'], { cwd: inPackage('.') });
    expect(builtIn.stderr).toContain('no case has');
  });

  it('demands controls, or a server', async () => {
    const text = suite('deny').replace('controls: [.]', 'agent: billing-bot-01');
    const { code, stderr } = await runCli(['test', 'a.test.yaml'], {
      cwd: folderWith({ 'a.test.yaml': text }),
    });
    expect([code, stderr.split('\n')[0]]).toEqual([
      1,
      'a.test.yaml:1:1: the suite has no controls, and there is no server to ask',
    ]);
  });
});

describe('evaluate, explain and bench', () => {
  const STEP = ['--name', 'note', '--input', '{"text":"4111111111111111"}'];

  it('decide about a step by the controls of files', async () => {
    const cwd = folder();
    const text = await runCli(['evaluate', '--controls', 'controls', ...STEP], { cwd });
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toMatch(/^deny\ndeny control "no-cards" matched.*\n {2}matched no-cards \(deny\): /);
    const json = await runCli(['evaluate', '--output', 'json', '--controls', 'controls', '--step', '-'], {
      cwd,
      stdin: 'name: note\ninput: { text: hello }\n',
    });
    expect(JSON.parse(json.stdout)).toMatchObject({ outcome: 'allow', matches: [], decision: 'none' });
  });

  it('explain how, with secrets masked', async () => {
    const { code, stdout } = await runCli(['explain', '--controls', 'controls', ...STEP], { cwd: folder() });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ input.text regex: Pattern found: [0-9]{16}\n    checked string ***\n');
    expect(stdout).not.toContain('4111');
  });

  it('measure', async () => {
    const words = ['bench', '--output', 'json', '--seconds', '0.05'];
    const { code, stdout } = await runCli([...words, '--controls', 'controls', ...STEP], { cwd: folder() });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ evaluations: expect.any(Number), p50_us: expect.any(Number) });
    const suites = await runCli([...words, '--rate', '1000', '--suite', 'controls'], { cwd: folder() });
    expect(JSON.parse(suites.stdout).evaluations).toBeGreaterThan(0);
  });

  it.each([
    [['--controls', 'controls'], 'error: no step is given\n'],
    [[...STEP], 'error: neither controls nor an agent is given\n'],
    [
      ['--controls', 'controls', '--name', 'a', '--input', '{"a":'],
      'error: the step: the value is no JSON: ',
    ],
    [['--controls', 'controls', '--name', 'a', '--input', 'text'], 'error: the step: '],
    [['--controls', 'controls', '--name', 'a', '--now', 'today'], 'error: --now: must be a time with a zone'],
    [['--agent', 'x', '--name', 'a'], 'error: --agent: x is no name of an agent'],
  ])('tell what is wrong with %j', async (words, problem) => {
    const { code, stderr } = await runCli(['evaluate', ...words], { cwd: folder() });
    expect([code, stderr.startsWith(problem) ? problem : stderr]).toEqual([1, problem]);
  });
});
