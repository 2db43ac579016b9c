import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';

const STEERS = `kind: Control
name: asks-first
data:
  execution: server
  condition:
    selector: { path: input }
    # lint-disable-next-line COMMENT
    evaluator: { name: secrets, config: {} }
  action: { decision: steer }
`;
const NEVER = STEERS.replace('{ name: secrets, config: {} }', "{ name: regex, config: { pattern: 'a^b' } }");
const plainly = (text: string) => text.replace(/ *# lint.*\n/, '');
const commented = (comment: string) => STEERS.replace('COMMENT', comment);

const lint = (files: Readonly<Record<string, string>>, ...words: string[]) =>
  runCli(['lint', ...words, ...Object.keys(files)], { cwd: folderWith(files) });
const MISSING =
  'a.yaml:8:3: warning: missing-steering-message: data.action: the control steers without a steering_context, so the ' +
  'agent does not learn what to do instead\n';

describe('lint', () => {
  it('prints findings with their places, and accepts warnings', async () => {
    expect(await lint({ 'a.yaml': plainly(STEERS) })).toEqual({
      code: 0,
      stdout:
        'a.yaml:7:33: note: detector-without-threshold: data.condition.evaluator.config: "secrets" has no threshold, so its ' +
        `default applies; write the one that was measured\n${MISSING}`,
      stderr: '',
    });
  });

  it.each([
    [0, plainly(NEVER), ['--max-severity', 'error']],
    [1, plainly(NEVER), []],
    [1, plainly(STEERS), ['--max-severity', 'note']],
    [
      1,
      plainly(STEERS).replace('secrets, config: {}', 'regex, config: { pattern: a }'),
      ['--max-severity', 'note'],
    ],
  ])(
    'ends with %s, as what is found is worse than what is accepted or not: %#',
    async (code, text, words) => {
      expect((await lint({ 'a.yaml': text }, ...words)).code).toBe(code);
    },
  );

  it('prints JSON for other programs', async () => {
    const { stdout } = await lint({ 'a.yaml': plainly(NEVER) }, '--output', 'json');
    expect(JSON.parse(stdout)).toContainEqual({
      file: 'a.yaml',
      line: 7,
      column: 41,
      rule: 'never-true',
      severity: 'error',
      field: 'data.condition.evaluator.config.pattern',
      message: 'data.condition.evaluator.config.pattern: the pattern is found in no text',
    });
  });

  it('finds nothing in what is fine', async () => {
    const text = 'kind: Policy\nname: p\n';
    expect(await lint({ 'a.yaml': text, 'b.yaml': text.replace('p', 'q') })).toEqual({
      code: 0,
      stdout: '2 documents, nothing found.\n',
      stderr: '',
    });
  });

  const AT = 'a.yaml:7:5: ';
  it.each([
    ['detector-without-threshold the default was measured', MISSING],
    [
      'detector-without-threshold',
      `${AT}error: invalid-disable-comment: write a reason behind detector-without-threshold: why is it accepted?\n`,
    ],
    [
      'no-such-rule because',
      `${AT}error: invalid-disable-comment: there is no rule no-such-rule; docs/lint.md lists them\n`,
    ],
    ['', `${AT}error: invalid-disable-comment: there is no rule without a name; docs/lint.md lists them\n`],
    ['never-true because', `${AT}note: unused-disable-comment: never-true finds nothing on line 8\n`],
  ])('heeds the comment: %s', async (comment, line) => {
    const { stdout } = await lint({ 'a.yaml': commented(comment) });
    expect(stdout).toContain(line.replace('a.yaml:8:3', 'a.yaml:9:3'));
    const accepted = comment.includes('measured');
    expect(stdout.includes('note: detector-without-threshold')).toBe(!accepted);
  });

  it('takes a text of several lines for no comment', async () => {
    const text = `${plainly(STEERS)}  description: |\n    # lint-disable-next-line never-true because\n    more\n`;
    expect((await lint({ 'a.yaml': text })).stdout).not.toContain('disable-comment');
  });

  it('refuses documents that are not valid', async () => {
    expect(await lint({ 'a.yaml': STEERS.replace('steer', 'stir') })).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^a\.yaml:9:13: data\.action\.decision: /),
    });
  });

  it('knows windows of other services', async () => {
    const text = `kind: Limit
name: per-week
data:
  execution: server
  condition:
    selector: { path: '*' }
    evaluator: { name: rate, config: { limit: 5, period: 7d, key: [agent] } }
  action: { decision: deny }
`;
    expect((await lint({ 'a.yaml': text })).stdout).toMatch(
      /^a\.yaml:7:\d+: error: window-beyond-retention: /,
    );
    expect((await lint({ 'a.yaml': text }, '--memory-window-hours', '168')).code).toBe(0);
    expect((await lint({ 'a.yaml': text }, '--memory-window-hours', '0')).stderr).toContain(
      '--memory-window-hours',
    );
  });
});
