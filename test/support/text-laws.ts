import fc from 'fast-check';
import { isObject, type JsonObject, type JsonValue } from '../../packages/exact-json/src/index.js';
import type { Step, Verdict } from '../../src/kernel/core/types.js';
import { listMatches, regexMatches, textsOfValue } from '../kernel/core/reference/texts.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf } from '../kernel/core/support.js';
import { patternCase, textOver } from './pattern-cases.js';

/**
 * The laws of what a control sees, on generated data: a control on the whole step, on the input and on the very text in
 * it agree, and what is added to a step hides nothing.
 */

/** What JSON escapes, and what stands next to it. */
const ODD = [
  '"',
  '\\',
  '\n',
  '\t',
  '\r',
  '\0',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u2028',
  '😀',
  '\ud800',
  '\udc00',
];
const WORDS = ['rm', '-rf', 'secret', 'n', 't', 'card', '4111111111111111', 'stop', 'ſtop', 'é', ' ', '_'];

const plainText = fc
  .array(fc.constantFrom(...WORDS, ...ODD), { maxLength: 7 })
  .map((pieces) => pieces.join(''));
/** Names of members; none has a dot, so that a selector leads to each. */
const name = fc.constantFrom(
  'a',
  'b',
  'query',
  'input',
  'type',
  'context',
  'c d',
  'e"f',
  'g\nh',
  'i\\j',
  '',
  '😀',
);
const noise: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, 0, -1.5, 10n ** 20n),
    plainText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value as fc.Arbitrary<JsonValue>;

/** A text within an object: its place, and what else there is. */
export interface PlacedText {
  readonly text: string;
  readonly input: JsonObject;
  /** Selector path of the text. */
  readonly path: string;
}

/** Objects around a text, with other members beside it at each level. */
function placed(text: fc.Arbitrary<string>): fc.Arbitrary<PlacedText> {
  const level = fc.tuple(
    name,
    fc.dictionary(name, noise, { maxKeys: 2, noNullPrototype: true }),
    fc.boolean(),
  );
  return fc.tuple(text, fc.array(level, { minLength: 1, maxLength: 3 })).map(([one, levels]) => {
    let value: JsonValue = one;
    for (const [key, others, first] of levels) {
      const { [key]: _, ...rest } = others;
      value = first ? { [key]: value, ...rest } : { ...rest, [key]: value };
    }
    const path = ['input', ...levels.map(([key]) => key).reverse()].join('.');
    return { text: one, input: value as JsonObject, path };
  });
}

const regexCase = fc.oneof(
  fc
    .constantFrom(
      ...[
        '\\b\\d{16}\\b',
        'rm\\s+-rf',
        '^secret',
        'stop$',
        '(?i)\\bstop\\b',
        '"',
        '\\\\',
        '[\\x00-\\x1f]',
        '\\x{1f600}',
      ],
      ...['card\\W+4', '(?m)^rm', '\\x{d800}', '\\Bn', 'secret\\b', '[^ -~]', '\\Qsecret\\n\\E', '_$'],
    )
    .chain((pattern) => fc.tuple(fc.constant({ pattern }), plainText)),
  patternCase.chain(({ pattern, ignoreCase, pieces }) =>
    fc.tuple(fc.constant({ pattern, flags: ignoreCase ? ['I'] : [] }), textOver(pieces)),
  ),
);
const value = fc.constantFrom(
  'rm',
  'secret',
  'card',
  'stop',
  'é',
  '4111111111111111',
  'a\nb',
  '"',
  'n',
  'secret\n',
);
const listCase = fc.tuple(
  fc.record({
    values: fc.array(value, { minLength: 1, maxLength: 3 }),
    match_mode: fc.constantFrom('exact', 'contains', 'starts_with', 'ends_with'),
    case_sensitive: fc.boolean(),
  }),
  fc.oneof(plainText, value),
);
const STATEMENTS = [
  'DROP TABLE users',
  'drop\ttable "users"',
  '-- x\nDROP TABLE users',
  '/* "x" */ DROP TABLE "us\\ers"',
  'SELECT 1; DROP TABLE users; -- \u2028 😀',
  "WITH a AS (DELETE FROM users WHERE name = '\n') SELECT 1",
  'TABLE users',
  "COPY users TO PROGRAM 'cat'",
];
const sqlCase = fc.tuple(
  fc.constant<JsonObject>({ blocked_operations: ['DROP', 'DELETE'], blocked_tables: ['users'] }),
  fc
    .tuple(fc.constantFrom('', ' ', '\n', '\r\n\t', ';', '/* " */', '('), fc.constantFrom(...STATEMENTS))
    .map(([lead, text]) => (lead === '(' ? `${lead}SELECT 1) UNION SELECT name FROM users` : lead + text)),
);

interface LawCase {
  readonly evaluator: 'regex' | 'list' | 'sql';
  readonly config: JsonObject;
  readonly placed: PlacedText;
}

const configured = (
  evaluator: LawCase['evaluator'],
  pairs: fc.Arbitrary<readonly [JsonObject, string]>,
): fc.Arbitrary<LawCase> =>
  pairs.chain(([config, text]) =>
    placed(fc.constant(text)).map((one) => ({ evaluator, config, placed: one })),
  );

const lawCase: fc.Arbitrary<LawCase> = fc.oneof(
  configured('regex', regexCase as fc.Arbitrary<readonly [JsonObject, string]>),
  configured('list', listCase),
  configured('sql', sqlCase),
);

/** What a run has seen. */
export interface LawReport {
  steps: number;
  /** Steps whose text is found by the control on the text itself. */
  found: number;
}

/** Whether each control matches, in the order of the paths. A pattern that is not valid matches nowhere. */
async function matchesAt(paths: readonly string[], { evaluator, config }: LawCase, step: Step) {
  const definitions = paths.map((path) => aDefinition(aLeaf(evaluator, config, path), 'observe'));
  const verdict = (await aProgram(definitions).evaluate(step, 'pre', 'verdict')) as Verdict;
  if (verdict.errors.length > 0) return null;
  const found = new Set(idsOf(verdict.matches));
  return paths.map((_, index) => found.has(index + 1));
}

/** Holds controls on the whole step, on the input and on the text itself against each other and the reference. */
export async function comparePlaces(runs: number, seed: number): Promise<LawReport> {
  const report: LawReport = { steps: 0, found: 0 };
  const property = fc.asyncProperty(lawCase, async (one) => {
    const { text, input, path } = one.placed;
    const matches = await matchesAt([path, 'input', '*'], one, aStep({ input }));
    if (matches === null) return;
    const [onText, onInput, onStep] = matches;
    report.steps += 1;
    if (onText) {
      report.found += 1;
      const shown = `${one.evaluator} ${JSON.stringify(one.config)} finds ${JSON.stringify(text)}`;
      if (!onInput) throw new Error(`${shown}, but not in the input ${JSON.stringify(input, bigints)}`);
      if (!onStep)
        throw new Error(`${shown}, but not in the step with the input ${JSON.stringify(input, bigints)}`);
    }
    const expected = referenceMatch(one, input);
    if (expected !== null && expected !== onInput) throw new Error(`the reference says ${expected}`);
  });
  await fc.assert(property, { numRuns: runs, seed });
  return report;
}

/** Adds members to data in which a control finds something, anywhere in them: it must find it still. */
export async function compareMore(runs: number, seed: number): Promise<LawReport> {
  const report: LawReport = { steps: 0, found: 0 };
  const added = fc.array(fc.tuple(fc.nat(), name, noise), { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(lawCase, added, async (one, additions) => {
    const { input } = one.placed;
    report.steps += 1;
    if (!isFoundInStrings(one, input)) return;
    const more = structuredClone(input);
    for (const [place, key, extra] of additions) {
      const objects = objectsIn(more);
      const object = objects[place % objects.length] as JsonObject;
      // The query of a statement, and the context it is held to, are not free to be added.
      if (
        !Object.hasOwn(object, key) &&
        (one.evaluator !== 'sql' || (key !== 'query' && key !== 'context'))
      ) {
        object[key] = extra;
      }
    }
    const before = await matchesAt(['input', '*'], one, aStep({ input }));
    const after = await matchesAt(['input', '*'], one, aStep({ input: more }));
    if (before === null || after === null) return;
    report.found += 1;
    for (const [index, matched] of before.entries()) {
      if (matched && !after[index]) throw new Error(`lost by adding: ${JSON.stringify(more, bigints)}`);
    }
    if (before.includes(false)) throw new Error('a text that is in the data was not found in them');
  });
  await fc.assert(property, { numRuns: runs, seed });
  return report;
}

function objectsIn(value: JsonValue): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

function referenceMatch({ evaluator, config }: LawCase, data: JsonValue): boolean | null {
  if (evaluator === 'sql') return null;
  return evaluator === 'regex' ? regexMatches(config, data, false) : listMatches(config, data, false).matched;
}

/** Whether one of the strings of the data has what is looked for; what only the JSON text has may go when it changes. */
function isFoundInStrings(one: LawCase, input: JsonObject): boolean {
  if (one.evaluator === 'sql') return true;
  const [, ...strings] = textsOfValue(input);
  try {
    return strings.some((text) => referenceMatch(one, text));
  } catch {
    // The pattern is not valid.
    return false;
  }
}

function bigints(_key: string, member: unknown): unknown {
  return typeof member === 'bigint' ? String(member) : member;
}
