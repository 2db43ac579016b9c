import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS, GROUPS, groupOf, HEADINGS, nameOf } from '../../packages/cli/src/command-table.js';
import { helpText } from '../../packages/cli/src/help-text.js';
import { folderWith, runCli, wordsOf } from '../support/cli.js';

const PAGE = readFileSync(path.join(import.meta.dirname, '../../docs/controls-as-code.md'), 'utf8');

describe('the list of commands', () => {
  it('is that of docs/controls-as-code.md', () => {
    const rows = COMMANDS.map(({ usage, summary }) => `| \`${usage}\` | ${summary} |`);
    const [, table = ''] = /\| Command \| \|\n\|---\|---\|\n((?:\|.*\n)*)/.exec(PAGE) ?? [];
    expect(table.trimEnd().split('\n')).toEqual(rows);
  });

  it('has each command and group once in --help, below a heading', async () => {
    const words = [...new Set(COMMANDS.map((entry) => nameOf(entry).split(' ')[0] ?? ''))];
    const lines = helpText().split('\n');
    const [first, ...others] = lines.slice(lines.indexOf('Files:'));
    const listed = [first, ...others.slice(0, others.indexOf('Options of every command:'))];
    expect(listed.flatMap((line = '') => /^ {2}(\w+)/.exec(line)?.[1] ?? [])).toEqual(words);
    expect(listed.filter((line) => line?.endsWith(':'))).toEqual(
      Object.values(HEADINGS).map((heading) => `${heading}:`),
    );
    const groups = COMMANDS.flatMap((entry) => groupOf(entry) ?? []);
    expect(new Set(groups)).toEqual(new Set(Object.keys(GROUPS)));
    for (const flag of ['--help', '-h'])
      expect(await runCli([flag])).toEqual({ code: 0, stdout: helpText(), stderr: '' });
  });

  it('has lines that fit a terminal', () => {
    expect(
      helpText()
        .split('\n')
        .filter((line) => line.length > 110),
    ).toEqual([]);
  });

  it.each([
    [[], /^error: name a command\nSee control-enforcement --help\.\n$/],
    [['keys'], /^error: name a command of keys\n/],
    [['aply'], /^error: did you mean apply\?\n/],
    [
      ['diff', 'a.yaml'],
      /^error: missing required argument: owner\nSee control-enforcement diff --help\.\n$/,
    ],
    [
      ['apply', 'a.yaml', '--owner', 'a', '--dryrun'],
      /^error: unknown option --dryrun; did you mean --dry-run\?\n/,
    ],
    [['mcp', '--confg', 'x'], /^error: unknown option --confg; did you mean --config\?\n/],
    [['mcp', 'check'], /^error: missing required argument: config\n/],
    [['get', 'thing', 'a'], /^error: invalid values:/],
    [['list', 'controls', '--server', 'a', '--server', 'b'], /^error: --server is given more than once\n/],
  ])('refuses %j, and says what to do', async (words, problem) => {
    const { code, stdout, stderr } = await runCli(words);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(problem)]);
  });

  /** Commands that ask no server, or do so only if they are told to judge by it. */
  const OFFLINE = ['init', 'validate', 'format', 'test', 'evaluate', 'explain', 'mcp', 'completion'];
  // `bench` measures for seconds.
  const examples = COMMANDS.filter((entry) => nameOf(entry) !== 'bench').map(
    (entry) => [nameOf(entry), entry] as const,
  );

  it.each(examples)(
    '%s ends with 1 for an option that it has not, and without its server',
    async (name, entry) => {
      const { examples } = (await entry.load()).command;
      for (const { line } of examples) {
        const words = wordsOf(line.replace('*.yaml', 'baseline.yaml'));
        const cwd = folderWith();
        await runCli(['init'], { cwd });
        const wrong = await runCli([...words, '--no-such-option'], { cwd });
        expect([line, wrong.code, wrong.stdout]).toEqual([line, 1, '']);
        expect(wrong.stderr).toContain(`See control-enforcement ${name} --help.`);
        if (OFFLINE.includes(name)) continue;
        const given = words.filter((word, index) => word !== '--server' && words[index - 1] !== '--server');
        const away = await runCli([...given, '--server', 'http://127.0.0.1:1'], { cwd, stdin: 'a-key' });
        const printed = name === 'doctor' ? away.stdout : away.stderr;
        expect([line, away.code, printed]).toEqual([
          line,
          1,
          expect.stringContaining('cannot reach http://127.0.0.1:1'),
        ]);
      }
    },
  );
});
