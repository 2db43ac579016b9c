import { parseXml, XmlElement } from '@rgrove/parse-xml';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Reporter, reportOf } from '../../packages/cli/src/suite/reports.js';
import { control, regex } from '../manage/lint/support.js';
import { CONTROLS, runText } from './suite.support.js';

const SUITE = `${CONTROLS}
cases:
  - { name: passes, step: { name: note, input: { text: card 4111111111111111 } }, expect: { outcome: deny } }
  - { name: 'fails # <&>', step: { name: note, input: { text: card 4111111111111111 } }, expect: { outcome: allow, controls: [] } }
  - { name: later, skip: not yet, step: { name: note }, expect: { outcome: allow } }
`;
const report = async (reporter: Reporter, { coverage = false, verbose = false, width = 120 } = {}) =>
  reportOf(await runText(SUITE), reporter, { paint: (_, text) => text, width, coverage, verbose });
const LINE = CONTROLS.split('\n').length + 3;
const HOSTILE = 'a\nb\tc\r\n<&>"\' # \\ ]]> -- {x: [1]} \u2028 \ud83d\ude00';
const QUOTED = JSON.stringify(HOSTILE);
const FAILED = JSON.stringify({
  kind: 'Suite',
  name: HOSTILE,
  controls: [control('a', regex('no such text'))],
  cases: [
    { name: HOSTILE, step: { name: 'note' }, expect: { outcome: 'deny', reason_contains: HOSTILE } },
    { name: `later ${HOSTILE}\u0001`, skip: HOSTILE, step: { name: 'note' }, expect: { outcome: 'allow' } },
  ],
});
const hostileReport = async (reporter: Reporter) =>
  reportOf(await runText(FAILED), reporter, {
    paint: (_, text) => text,
    width: 120,
    coverage: false,
    verbose: false,
  });
const oneLine = (text: string) => text.replaceAll(/[\r\n\u2028]+/g, ' ');

describe('reports', () => {
  it('as text have failed and skipped cases, and how conditions were decided', async () => {
    const text = (await report('pretty')).replaceAll(/\d+\.\d+ s$/gm, '0 s');
    expect(text.split('\n')).toEqual([
      '✗ cards cards.test.yaml: 1 passed, 1 failed, 1 skipped',
      '  - later: not yet',
      '',
      `✗ cards.test.yaml:${LINE}:5 fails # <&>`,
      '    outcome: expected allow, but it is deny',
      '    controls: expected none, but it is no-cards',
      '    reason: deny control "no-cards" matched: Condition matched',
      '    no-cards (deny) It looks at the step, and its condition matched.',
      '      ✓ and',
      String.raw`        ✓ input.text regex: Pattern found: \b\d{16}\b`,
      '          checked string card ***',
      '        ✓ not',
      '          ✗ name list: List check not triggered (logic any, match_on match): no item is in the list',
      '            checked string note',
      '',
      '3 cases: 1 passed, 1 failed, 1 skipped, 0 s',
      '',
    ]);
  });

  it('are as wide as the terminal', async () => {
    const lines = (await report('pretty', { width: 60 }))
      .split('\n')
      .filter((line) => /name list/.test(line));
    expect(lines.map((line) => line.length === 60)).toEqual([true]);
  });

  it('have the nodes that were never true or never false, with their places', async () => {
    const text = await report('pretty', { coverage: true });
    expect(text).toContain('coverage: 50.0 % of the results of 6 nodes were seen');
    expect(text).toContain('cards.test.yaml:13:13: no-cards: data.condition.and[0] (leaf) was never false');
    expect(text).toContain('cards.test.yaml:20:7: be-polite: data.condition (leaf) was never true');
  });

  it('in TAP 14 have a line for each case', async () => {
    const lines = (await report('tap')).split('\n');
    expect(lines.slice(0, 8)).toEqual([
      'TAP version 14',
      '1..3',
      'ok 1 - cards > passes',
      'not ok 2 - cards > fails \\# <&>',
      '  ---',
      `  at: "cards.test.yaml:${LINE}:5"`,
      '  message:',
      '    - "outcome: expected allow, but it is deny"',
    ]);
    expect(lines.slice(-3)).toEqual(['  ...', 'ok 3 - cards > later # SKIP not yet', '']);
  });

  it('in XML of JUnit have an element for each case', async () => {
    const text = await report('junit');
    expect(text).toMatch(
      /<testsuites name="control-enforcement test" tests="3" failures="1" errors="0" skipped="1" time="[\d.]+">/,
    );
    expect(text).toContain('<testcase name="fails # &lt;&amp;&gt;" classname="cards" file="cards.test.yaml"');
    expect(text).toContain('<failure message="outcome: expected allow, but it is deny">cards.test.yaml:');
    expect(text).toContain('<skipped message="not yet"/>');
  });

  it('in TAP 14 are read as they were named, whatever is in the names', async () => {
    const text = await hostileReport('tap');
    const tests = [...text.matchAll(/^(not ok|ok) (\d+) - (.*?)(?: # SKIP (.*))?$/gm)];
    const named = (shown = '') => shown.replaceAll(/\\([\\#])/g, '$1');
    expect(tests.map(([, status, number, name, why]) => [status, number, named(name), named(why)])).toEqual([
      ['not ok', '1', oneLine(`${HOSTILE} > ${HOSTILE}`), ''],
      ['ok', '2', oneLine(`${HOSTILE} > later ${HOSTILE}\u0001`), oneLine(HOSTILE)],
    ]);
    const [, diagnostics = ''] = /^ {2}---\n([\s\S]*?)^ {2}\.\.\.$/m.exec(text) ?? [];
    expect(parse(diagnostics)).toEqual({
      at: expect.stringMatching(/^cards\.test\.yaml:1:\d+$/),
      message: expect.arrayContaining([
        'outcome: expected deny, but it is allow',
        `reason: expected a text with ${QUOTED}, but it is none`,
      ]),
    });
    const known = /^(?:TAP version 14$|1\.\.2$|(?:not )?ok \d - | {2}|$)/;
    expect(text.split('\n').filter((line) => !known.test(line))).toEqual([]);
  });

  it('in XML of JUnit are read as they were named, whatever is in the names', async () => {
    const elements = (element: XmlElement): XmlElement[] =>
      element.children.filter((child) => child instanceof XmlElement);
    const { root } = parseXml(await hostileReport('junit'));
    const [suite, ...others] = root === null ? [] : elements(root);
    const [failed, skipped] = suite === undefined ? [] : elements(suite);
    expect([suite?.attributes.name, others]).toEqual([HOSTILE, []]);
    expect([failed?.attributes.name, failed?.attributes.classname]).toEqual([HOSTILE, HOSTILE]);
    expect(failed?.text).toContain(`expected a text with ${QUOTED}, but`);
    // XML has no form for the last character.
    expect(skipped?.attributes.name).toBe(`later ${HOSTILE}\ufffd`);
    expect(skipped?.children.map((child) => child instanceof XmlElement && child.attributes)).toContainEqual({
      message: HOSTILE,
    });
  });
});
