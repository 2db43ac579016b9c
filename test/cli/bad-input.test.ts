import { describe, expect, it } from 'vitest';
import { folderWith, runCli } from '../support/cli.js';
import { suiteService } from '../support/service-suite.js';

const CONTROL = `kind: Control
name: no-card-numbers
data:
  execution: server
  condition: { selector: { path: input }, evaluator: { name: regex, config: { pattern: '\\d{16}' } } }
  action: { decision: deny }
`;
const POLICY = 'kind: Policy\nname: baseline\ncontrols: [no-card-numbers]\n';
const changed = (from: string, to: string): string => {
  expect(CONTROL).toContain(from);
  return CONTROL.replace(from, to);
};
const LAUGHS = `a0: &a0 [1]\n${Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join('')}`;
const BROKEN = Buffer.concat([Buffer.from('kind: Control\nname: ä'), Buffer.from([0xc3, 0x28])]);

/** What a file has, and what is said about it: the place, what is wrong, and what to do. */
const CASES: readonly (readonly [what: string, content: () => string | Uint8Array, problem: RegExp])[] = [
  ['a bomb of aliases', () => LAUGHS, /^2:10: aliases such as \*a0 are not read; write the value out/],
  ['a bomb of merges', () => 'a: &a {b: 1}\nc:\n  <<: *a\n', /^3:7: aliases such as \*a are not read; write/],
  [
    'brackets without end',
    () => `a:\n  ${'['.repeat(100_000)}`,
    /^2:\d+: must not nest deeper than \d+ levels/,
  ],
  [
    'objects in objects',
    () => `a: ${'{a: '.repeat(600)}1${'}'.repeat(600)}`,
    /^1:\d+: must not nest deeper than/,
  ],
  [
    'a member twice',
    () => `${CONTROL}name: b\n`,
    /^7:1: Map keys must be unique: name occurs twice; remove or/,
  ],
  [
    'a tab',
    () => changed('  execution', '\texecution'),
    /^4:1: Tabs are not allowed as indentation; use blanks/,
  ],
  [
    'an unknown kind',
    () => changed('Control', 'Contrl'),
    /^1:1: kind: must be one of: .*; did you mean Control\?/,
  ],
  ['no kind', () => changed('kind: Control\n', ''), /^1:1: kind: must be one of: Control, /],
  [
    'an unknown member of a policy',
    () => POLICY.replace('controls', 'contrls'),
    /^3:1: contrls: a document of the kind Policy has no such member; did you mean controls\?/,
  ],
  [
    'an unknown member',
    () => changed('execution:', 'executoin:'),
    /^4:3: data\.executoin: .*did you mean execution\?/,
  ],
  [
    'an unknown member deep inside',
    () => changed('selector: { path', 'selector: { pth'),
    /^5:28: data\.condition\.selector\.pth: .*did you mean path\?/,
  ],
  [
    'an unknown decision',
    () => changed('deny', 'denny'),
    /^6:13: data\.action\.decision: must be one of: deny, steer/,
  ],
  ['a number for a name', () => changed('name: no-card-numbers', 'name: 5'), /^2:1: name: must be a string/],
  [
    'a number for an object',
    () => changed('selector: { path: input }', 'selector: 5'),
    /^5:16: data\.condition\.selector: must be an object/,
  ],
  ['a text for a list', () => POLICY.replace(/\[(.*)\]/, '$1'), /^3:1: controls: must be a list/],
  ['a text for a flag', () => `${POLICY}every_agent: [true]\n`, /^4:1: every_agent: must be true or false/],
  ['a broken pattern', () => changed("'\\d{16}'", "'('"), /^5:\d+: data\.condition\.evaluator\.pattern: /],
  [
    'a number of another form',
    () => changed("'\\d{16}'", '0x1F'),
    /^5:\d+: must be a number as in JSON, or a text in/,
  ],
  [
    'a tag',
    () => changed('name: no', 'name: !!js/function no'),
    /^2:7: Unresolved tag: .*; tags are not read, remove/,
  ],
  [
    'a quote that is not closed',
    () => changed("'\\d{16}'", "'x"),
    /^\d+:\d+: Missing closing 'quote; close what is/,
  ],
  ['a wrong indentation', () => changed('  action', '    action'), /^6:\d+: .*; /],
  ['nothing', () => '# a comment\n', /^1:1: the file has no document; a document has at least kind and name/],
  ['a list', () => '- a\n', /^1:1: a document must be an object, with at least kind and name/],
  [
    'an object twice',
    () => `${CONTROL}---\n${CONTROL}`,
    /^9:1: name: the document in a\.yaml:1 is the same object/,
  ],
  [
    '10 MB',
    () => Buffer.alloc(10 * 1024 * 1024, 'a: 1 # x\n'),
    /^1:1: the file has 10485760 bytes; .*Split it into/,
  ],
  [
    '4 MB of items',
    () => `a: [${'b,'.repeat(2_000_000)}]`,
    /^1:1066667: the file has more than 1600000 texts, marks and ends of lines up to here\. Split it into/,
  ],
  [
    '4 MB of quotes',
    () => `a: ${'""'.repeat(2_000_000)}`,
    /^1:3199994: the file has more than 1600000 texts, marks and ends of lines up to here\. Split it into/,
  ],
  [
    '4 MB of short keys',
    () => 'a: 1\n'.repeat(800_000),
    /^228572:2: the file has more than 1600000 texts, marks and ends of lines up to here\. Split it into/,
  ],
  ['broken UTF-8', () => BROKEN, /^2:8: the file is not UTF-8 from here on\. Save it as UTF-8/],
  [
    'UTF-16',
    () => Buffer.from(`\ufeff${CONTROL}`, 'utf16le'),
    /^1:1: the file is not UTF-8 from here on\. Save/,
  ],
  ['no text', () => `name: a\0b\n`, /^1:\d+: /],
];

describe('bad files', () => {
  const service = suiteService();

  it.each(CASES)(
    'with %s are refused by validate and apply, and nothing is applied',
    async (_, content, problem) => {
      const cwd = folderWith({ 'a.yaml': content() });
      const applied = ['apply', '--owner', 'bad', '--server', service.url, 'a.yaml'];
      for (const words of [['validate', 'a.yaml'], applied]) {
        const { code, stdout, stderr } = await runCli(words, { cwd });
        expect([words[0], code, stdout, stderr]).toEqual([
          words[0],
          1,
          '',
          expect.stringMatching(/^a\.yaml:/),
        ]);
        expect(stderr.slice('a.yaml:'.length)).toMatch(problem);
      }
      expect(await runCli(['export', '--server', service.url])).toEqual({ code: 0, stdout: '', stderr: '' });
    },
  );
});
