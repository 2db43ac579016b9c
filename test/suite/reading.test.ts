import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { suiteJsonSchema } from '../../packages/cli/src/suite/suite-schema.js';
import { readDocuments } from '../../packages/documents/src/index.js';
import { inPackage } from '../../src/contract/runtime/package-root.js';
import { CONTROLS, problemsOf, suitesOf } from './suite.support.js';

const CASE = '  - { name: a, step: { name: note }, expect: { outcome: allow } }\n';
const withCases = (cases: string) => `${CONTROLS}cases:\n${cases}`;
/** The line of the first case. */
const LINE = CONTROLS.split('\n').length + 1;
const validate = new Ajv2020({ strict: false }).compile(suiteJsonSchema());

it('docs/suite.schema.json is the schema of suites; vitest run test/suite --update writes it', async () => {
  await expect(`${JSON.stringify(suiteJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
    inPackage('docs/suite.schema.json'),
  );
});

it('the schema accepts the suite of docs/controls-as-code.md, which can be read', async () => {
  const guide = readFileSync(inPackage('docs/controls-as-code.md'), 'utf8');
  const [example = ''] = [...guide.matchAll(/```yaml\n(.*?)```/gs)]
    .map(([, text = '']) => text)
    .filter((text) => text.includes('kind: Suite'));
  const [document] = readDocuments(example).documents;
  expect({ valid: validate(document?.value), errors: validate.errors }).toEqual({
    valid: true,
    errors: null,
  });
  const [suite] = await suitesOf(example, {});
  expect(suite?.cases.length).toBeGreaterThan(3);
});

describe('what is wrong with a suite', () => {
  it.each<[string, string, string | RegExp]>([
    ['another kind', 'kind: Sute\ncases: []\n', 'cards.test.yaml:1:1: kind: must be one of: Suite'],
    [
      'no controls',
      `kind: Suite\ncases:\n${CASE}`,
      /^cards\.test\.yaml:1:1: must have controls, or an agent/,
    ],
    ['no cases', `${CONTROLS}cases: []\n`, /: cases: must have at least 1 item$/],
    [
      'an unknown member of the suite',
      `kind: Suite\ncontrls: [a]\ncases:\n${CASE}`,
      'cards.test.yaml:2:1: contrls: there is no such member here; did you mean controls?',
    ],
    [
      'an unknown member of a case',
      withCases('  - { name: a, step: { name: note }, expects: { outcome: allow } }\n'),
      `cards.test.yaml:${LINE}:38: cases[0].expects: there is no such member here; did you mean expect?`,
    ],
    [
      'an unknown outcome',
      withCases('  - { name: a, step: { name: note }, expect: { outcome: block } }\n'),
      `cards.test.yaml:${LINE}:48: cases[0].expect.outcome: must be one of: allow, deny, steer, ask, modify`,
    ],
    [
      'nothing expected',
      withCases('  - { name: a, step: { name: note }, expect: {} }\n'),
      /must expect something/,
    ],
    [
      'a control that the suite does not have',
      withCases('  - { name: a, step: { name: note }, expect: { controls: [no-card] } }\n'),
      /cases\[0\]\.expect\.controls: the suite has no control no-card; did you mean no-cards\?$/,
    ],
    [
      'only',
      withCases('  - { name: a, only: true, step: { name: note }, expect: { outcome: allow } }\n'),
      /cases\[0\]\.only: cases cannot be singled out in a file/,
    ],
    [
      'a skip without a reason',
      withCases('  - { name: a, skip: true, step: { name: note }, expect: { outcome: allow } }\n'),
      /cases\[0\]\.skip: must be a string$/,
    ],
    [
      'a step that the fixtures do not have',
      `${CONTROLS}fixtures: { steps: { note: { name: note } } }\ncases:\n  - { name: a, step: nte, expect: { outcome: allow } }\n`,
      /cases\[0\]\.step: the fixtures have no step nte; did you mean note\?$/,
    ],
    [
      'a step that is made from itself',
      `${CONTROLS}fixtures: { steps: { note: { from: note } } }\ncases:\n  - { name: a, step: note, expect: { outcome: allow } }\n`,
      /cases\[0\]\.step: is made from more than 10 other steps, or from itself$/,
    ],
    [
      'a step without a name',
      withCases('  - { name: a, step: { input: {} }, expect: { outcome: allow } }\n'),
      /cases\[0\]\.step\.name: Field required/,
    ],
    [
      'a history out of order',
      withCases(
        '  - { name: a, step: { name: note }, history: [{ step: { name: a }, ago: 1m }, { step: { name: b }, ago: 2m }], expect: { outcome: allow } }\n',
      ),
      /cases\[0\]\.history\[1\]: is before the step in front of it/,
    ],
    [
      'a history after the case',
      withCases(
        '  - { name: a, step: { name: note }, history: [{ step: { name: a }, at: 2026-11-28T12:00:00Z }], expect: { outcome: allow } }\n',
      ),
      /cases\[0\]\.history\[0\]\.at: is after the time of the case$/,
    ],
    [
      'a time without a zone',
      withCases(
        '  - { name: a, now: 2026-11-27T12:00:00, step: { name: note }, expect: { outcome: allow } }\n',
      ),
      /cases\[0\]\.now: must be a time with a zone/,
    ],
    [
      'a matrix without a value',
      withCases(
        '  - { name: a, step: { name: <a.b> }, matrix: { a: [{ c: 1 }] }, expect: { outcome: allow } }\n',
      ),
      /cases\[0\]: the matrix has no value for <a\.b>; in \[a=\{"c":1\}\]$/,
    ],
    [
      'a matrix that is too large',
      withCases(
        `  - { name: a, step: { name: <a> }, matrix: { ${['a', 'b', 'c', 'd', 'e'].map((name) => `${name}: [${Array.from({ length: 10 }, (_, n) => n)}]`).join(', ')} }, expect: { outcome: allow } }\n`,
      ),
      /cases\[0\]\.matrix: has 100000 combinations; at most 10000 are run$/,
    ],
    ['two cases of one name', withCases(CASE + CASE), /name: another case of the suite is named a$/],
    [
      'a file that does not exist',
      `kind: Suite\ncontrols: [a.yaml]\ncases:\n${CASE}`,
      /controls\[0\]: there is no file a\.yaml$/,
    ],
    [
      'an agent without controls',
      `${CONTROLS}  - { kind: AgentLinks, name: billing-bot-01, controls: [no-cards] }\nagent: biling-bot-01\ncases:\n${CASE}`,
      /agent: the documents give the agent biling-bot-01 no control; did you mean billing-bot-01\?$/,
    ],
    ['a tab', 'kind: Suite\n\tcases: []\n', /^cards\.test\.yaml:2:1: Tabs are not allowed/],
  ])('is told: %s', async (_, text, problem) => {
    const problems = await problemsOf(text);
    expect(problems).toContainEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  });

  it('is told with the place in the file of the controls', async () => {
    const controls = 'kind: Control\nname: a\ndata:\n  execution: server\n  conditon: {}\n';
    expect(
      await problemsOf(`kind: Suite\ncontrols: [a.yaml]\ncases:\n${CASE}`, { 'a.yaml': controls }),
    ).toEqual([
      expect.stringMatching(/^a\.yaml:5:3: data\.conditon: .*condition/),
      expect.stringMatching(/^a\.yaml:3:1: data\.condition: /),
      expect.stringMatching(/^a\.yaml:3:1: data\.action: /),
    ]);
  });
});
