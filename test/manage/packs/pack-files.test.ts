import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createRegistry } from '../../../src/kernel/evaluators/load-evaluators.js';
import { openPackCatalogue } from '../../../src/manage/packs/catalogue.js';
import { readPackFolder } from '../../../src/manage/packs/pack-folder.js';
import { createPackReader } from '../../../src/manage/packs/pack-reader.js';
import { serviceEvaluators } from '../../support/evaluators.js';
import { wrongCases } from './run-cases.js';

const registry = createRegistry([...serviceEvaluators]);
const SAMPLES = path.join(import.meta.dirname, '..', '..', 'fixtures', 'packs', 'samples');
const HEAD = 'kind: Pack\nname: mine\nversion: 1.0.0\ntitle: Mine\ndescription: For tests.\n';
const CONTROL = `kind: Control
name: words
title: Words
reason: Finds a word.
data:
  condition: { selector: { path: input }, evaluator: { name: regex, config: { pattern: x } } }
  execution: server
  action: { decision: observe }
`;

describe('files of a pack', () => {
  const problemsOf = (...texts: readonly string[]) => {
    const reader = createPackReader('mine', 'mine', registry, false);
    for (const [index, text] of texts.entries()) reader.add(`mine/${index}.yaml`, text);
    try {
      reader.pack();
      return [];
    } catch (error) {
      return (error as Error).message.split('\n');
    }
  };

  it('make a pack', () => {
    expect(problemsOf(HEAD, CONTROL)).toEqual([]);
  });

  it.each([
    [
      'an unknown kind',
      'kind: Contol\n',
      'mine/1.yaml:1:1: kind: must be one of: Pack, Control, Cases; did you mean Control?',
    ],
    ['an unknown member', `${CONTROL}titel: x\n`, 'mine/1.yaml:9:1: there is no member titel here'],
    [
      'a missing member',
      CONTROL.replace('title: Words\n', ''),
      'mine/1.yaml:1:1: title: Field required: this member is missing',
    ],
    [
      'another decision',
      CONTROL.replace('observe', 'deny'),
      'mine/1.yaml:8:13: data.action.decision: must be observe: controls of packs begin by observing',
    ],
    [
      'an unknown member of the definition',
      CONTROL.replace('execution: server', 'execution: server\n  scop: {}'),
      'mine/1.yaml:8:3: data.scop: unknown member; did you mean scope?',
    ],
    [
      'a wrong configuration',
      CONTROL.replace('pattern: x', 'pattern: "("'),
      /^mine\/1\.yaml:6:[0-9]+: data\.condition\.evaluator\.pattern: /,
    ],
    [
      'an evaluator of an agent',
      CONTROL.replace('name: regex', 'name: "billing-bot-01:x"'),
      /must not name an evaluator of one agent/,
    ],
    [
      'cases of no control',
      `${CONTROL}---\nkind: Cases\ncontrol: word\nmatching: []\nother: []\n`,
      'mine/1.yaml:11:1: control: the pack has no control word; did you mean words?',
    ],
    [
      'a case that is no step',
      `${CONTROL}---\nkind: Cases\ncontrol: words\nmatching: [{ name: x }]\nother: []\n`,
      'mine/1.yaml:12:12: matching[0]: must have text, input, output or context',
    ],
    [
      'a case that is a number',
      `${CONTROL}---\nkind: Cases\ncontrol: words\nmatching: []\nother: [12]\n`,
      /^mine\/1\.yaml:13:9: other\[0\]: must be a text or an object/,
    ],
    [
      'a control twice',
      `${CONTROL}---\n${CONTROL}`,
      'mine/1.yaml:11:1: name: the pack has another control words',
    ],
    [
      'another pack',
      `${CONTROL}---\n${HEAD}`,
      'mine/1.yaml:10:1: a pack has one document of the kind Pack, and this is another',
    ],
  ])('with %s are refused, with the place', (_, text, problem) => {
    expect(problemsOf(HEAD, text)[0]).toMatch(problem);
  });

  it('need a document of the kind Pack with the name of the folder, and a version', () => {
    expect(problemsOf(CONTROL)).toEqual(['mine/pack.yaml:1:1: there is no document of the kind Pack']);
    expect(problemsOf(HEAD.replace('mine', 'yours'), CONTROL)).toEqual([
      'mine/0.yaml:2:1: name: must be that of the folder: mine',
    ]);
    expect(problemsOf(HEAD.replace('1.0.0', '1.0.x'), CONTROL)[0]).toMatch(
      /^mine\/0\.yaml:3:1: version: must match/,
    );
    expect(problemsOf(HEAD)).toEqual(['mine:1:1: the pack has no controls']);
  });
});

describe('the samples', () => {
  it('have the cases that their files say', async () => {
    const { controls } = await readPackFolder(SAMPLES, registry, false);
    expect(
      controls.map(({ key, cases }) => [key, cases.map(({ name, matches }) => [name, matches])]),
    ).toEqual([
      [
        'secret-words',
        [
          ['the SECRET is out', true],
          ['a nested text', true],
          ['the secret is out', false],
          ['after the step', false],
        ],
      ],
      [
        'shell-removal',
        [
          ['rm -rf /', true],
          ['ls', false],
          ['rm -rf /', false],
        ],
      ],
    ]);
    expect([...(await wrongCases(SAMPLES, registry)).values()]).toEqual(controls.map(() => []));
  });

  it('fail where a case is wrong', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'packs-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const folder = path.join(root, 'samples');
    cpSync(SAMPLES, folder, { recursive: true });
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(folder, name);
      if (!/\.(?:yaml|json)$/.test(name)) continue;
      const turned = readFileSync(file, 'utf8').replaceAll(/\b(?:matching|other)(?="?:)/g, (kind) =>
        kind === 'other' ? 'matching' : 'other',
      );
      writeFileSync(file, turned);
    }
    const wrong = await wrongCases(folder, registry);
    expect([...wrong.values()]).toMatchObject([{ length: 4 }, { length: 3 }]);
    expect([...wrong.values()][0]?.[0]).toMatch(
      /^matching: .*: controls: expected secret-words, but it is none$/,
    );
  });
});

describe('the catalogue', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'packs-'));
    mkdirSync(path.join(folder, 'built-in'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const open = (...folders: string[]) =>
    openPackCatalogue({
      builtIn: path.join(folder, 'built-in'),
      folders: folders.map((one) => path.join(folder, one)),
      registry,
    });

  it('has built-in packs and those of the operator, by name', async () => {
    write('built-in/zeta/pack.yaml', `${HEAD.replace('mine', 'zeta')}---\n${CONTROL}`);
    write('ours/mine/pack.yaml', `${HEAD}---\n${CONTROL}`);
    const catalogue = await open('ours');
    expect((await catalogue.all()).map(({ name, builtIn }) => [name, builtIn])).toEqual([
      ['mine', false],
      ['zeta', true],
    ]);
    expect((await catalogue.find('mine'))?.controls[0]).toMatchObject({ key: 'words', matchingCases: 0 });
    expect(await catalogue.find('other')).toBeUndefined();
    expect((await (await open('ours/mine')).all()).map(({ name }) => name)).toEqual(['mine', 'zeta']);
  });

  it('refuses to open with a damaged pack of the operator, and names the place', async () => {
    write('ours/mine/pack.yaml', `${HEAD}---\n${CONTROL.replace('observe', 'deny')}`);
    await expect(open('ours')).rejects.toThrow(
      /^SERVICE_PACKS: \S+ours cannot be used: \S+pack\.yaml:14:13: data\.action/,
    );
  });

  it('refuses a pack with the name of another, and a folder without packs', async () => {
    write('built-in/mine/pack.yaml', `${HEAD}---\n${CONTROL}`);
    write('ours/mine/pack.yaml', `${HEAD}---\n${CONTROL}`);
    await expect(open('ours')).rejects.toThrow(/there is another pack named mine/);
    write('none/x.txt', '');
    await expect(open('none')).rejects.toThrow(/neither a file pack\.yaml nor folders with one/);
    await expect(open('absent')).rejects.toThrow(/^SERVICE_PACKS: \S+absent cannot be used: ENOENT/);
  });
});
