import fc from 'fast-check';
import { isContainer, type JsonObject, type JsonValue } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import type { Stage, Step } from '../../../../src/kernel/core/types.js';
import { serviceEvaluators } from '../../../support/evaluators.js';
import { aResult, fakeEvaluator } from '../support.js';
import type { ReferenceInput } from './interpret.js';

/** What an evaluator of the test answers. `answer` says how it goes wrong, if it does. */
const scripted = (config: JsonObject, data: JsonValue) => {
  const { answer, matched, confidence, message } = config;
  if (answer === 'throw') throw new Error('secret');
  if (answer === 'timeout') throw new Error('a TimeOut happened');
  if (answer === 'malformed') return aResult({ confidence: 7 });
  if (answer === 'error') return aResult({ error: 'said so', metadata: { config } });
  return aResult({
    matched: matched === true,
    confidence: typeof confidence === 'number' ? confidence : 1,
    message: typeof message === 'string' ? message : null,
    metadata: answer === 'echo' ? { data } : null,
  });
};

/** The evaluators of the service, and ones that do whatever an evaluator may do. */
export const EVALUATORS: readonly Evaluator[] = [
  ...serviceEvaluators,
  fakeEvaluator('scripted', scripted),
  fakeEvaluator('slow', async (config, data) => {
    if (config.late === true) await new Promise((resolve) => setImmediate(resolve));
    return scripted(config, data);
  }),
  fakeEvaluator('model', async (config, data) => scripted(config, data), { external: true }),
];

const PATHS = [
  '*',
  'type',
  'name',
  'input',
  'input.q',
  'input.q',
  'input.q',
  'input.deep.a',
  'input.deep..b',
];
const path = fc.constantFrom(...PATHS, 'output', 'output.q', 'context.user', 'context.__proto__', '*.x');
/** Enough of them that a program may scan for their literals. */
const PATTERNS = [
  'hello',
  '(?i)hello',
  'card[0-9]+',
  '^bad',
  'bad$',
  '',
  'a|b',
  '\\bword\\b',
  '^hello$',
  '(?m)^word\\s',
  'st(?:op|art)',
];
const pattern = fc.constantFrom(
  ...PATTERNS,
  'drop table',
  'pass(word)?',
  'ſtop',
  '[0-9]{4}',
  'x{3}',
  'tail',
  '.z',
);
const normalize = fc.constantFrom(null, null, 'nfkc');
const regex = fc.record({
  name: fc.constantFrom('regex', ' regex '),
  config: fc.record({ pattern, flags: fc.constantFrom(null, ['I']), normalize }),
});
const value = fc.constantFrom<JsonValue>('hello', 'word', 'stop', 'card12', 5, 'BAD', '7', 'a');
const list = fc.record({
  name: fc.constant('list'),
  config: fc.record({
    values: fc.array(value, { maxLength: 3 }),
    logic: fc.constantFrom('any', 'all'),
    match_on: fc.constantFrom('match', 'no_match'),
    match_mode: fc.constantFrom('exact', 'contains', 'starts_with', 'ends_with'),
    case_sensitive: fc.boolean(),
    normalize,
  }),
});
const scriptedConfig = fc.record({
  matched: fc.boolean(),
  confidence: fc.constantFrom(1, 1, 0.5, 0.25, 0),
  message: fc.constantFrom(null, '', 'said', 'm'.repeat(201)),
  answer: fc.constantFrom(
    'plain',
    'plain',
    'plain',
    'plain',
    'echo',
    'throw',
    'timeout',
    'malformed',
    'error',
  ),
});
const fake = fc.record({
  name: fc.constantFrom('scripted', 'scripted', 'scripted', 'slow', 'model', 'missing', 'my-timeout'),
  config: scriptedConfig,
});
const lateConfig = fc.tuple(scriptedConfig, fc.boolean()).map(([config, late]) => ({ ...config, late }));
const slow = fc.record({ name: fc.constant('slow'), config: lateConfig });
const evaluator = fc.oneof(
  { weight: 5, arbitrary: regex },
  { weight: 3, arbitrary: list },
  { weight: 4, arbitrary: fake },
  { weight: 1, arbitrary: slow },
);
const required = fc.option(fc.boolean(), { nil: undefined, freq: 2 });
const selector = fc
  .record({ path, required })
  .map((one) => (one.required === undefined ? { path: one.path } : one));
const leaf = fc.record({ selector, evaluator }) as unknown as fc.Arbitrary<JsonObject>;
const condition = fc.letrec<{ node: JsonObject }>((tie) => {
  const children = fc.array(tie('node'), { minLength: 1, maxLength: 4 });
  return {
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 4, withCrossShrink: true },
      leaf,
      fc
        .tuple(fc.constantFrom('and', 'or', 'and_', 'or_'), children)
        .map(([kind, some]) => ({ [kind]: some })),
      fc.tuple(fc.constantFrom('not', 'not_'), tie('node')).map(([kind, child]) => ({ [kind]: child })),
    ),
  };
}).node;

const stepName = fc.constantFrom('search', 'send_mail', 'drop', 'mail', '__proto__', 'n'.repeat(150));
const stepType = fc.constantFrom('tool', 'llm', 'agent');
const some = <T>(item: fc.Arbitrary<T>) =>
  fc.option(fc.array(item, { minLength: 1, maxLength: 2 }), { freq: 2 });
const scope = fc.record(
  {
    stages: some(fc.constantFrom('pre', 'post')),
    step_types: some(stepType),
    step_names: some(stepName),
    step_name_regex: fc.option(fc.constantFrom('', 'mail', '^s', '(', 'h$'), { freq: 2 }),
  },
  { requiredKeys: [] },
);
const guidance = fc.constantFrom(
  null,
  { message: 'ask' },
  { message: 'ask', required_actions: ['approve'] },
  { message: 'ask', required_actions: null },
);
const definition = fc
  .record({
    execution: fc.constantFrom('server', 'server', 'server', 'server', 'sdk'),
    enabled: fc.constantFrom(true, true, true, true, false),
    condition,
    scope,
    decision: fc.constantFrom('deny', 'steer', 'observe'),
    steering_context: guidance,
  })
  .map(({ decision, steering_context, ...rest }) => ({ ...rest, action: { decision, steering_context } }));

const junk = fc.constantFrom<JsonValue>(
  null,
  true,
  false,
  0,
  '',
  'x',
  'deny',
  [],
  ['x'],
  {},
  { path: 'input' },
);
/** Sets or removes one member anywhere, chosen by a number. */
const damage = fc.record({ place: fc.nat(), value: fc.option(junk) });

function damaged(stored: JsonObject, { place, value }: { place: number; value: JsonValue }): JsonValue {
  const copy = structuredClone(stored);
  const places: [JsonObject | JsonValue[], string][] = [];
  const visit = (node: JsonValue): void => {
    if (!isContainer(node)) return;
    for (const [key, child] of Object.entries(node)) {
      places.push([node, key]);
      visit(child);
    }
  };
  visit(copy);
  const [owner, key] = places[place % places.length] as [JsonObject, string];
  if (value === null && !Array.isArray(owner)) delete owner[key];
  else owner[key] = value;
  return copy;
}

/** A control: intact mostly, with one member changed at times, anything at all rarely. */
const stored: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 16, arbitrary: definition as unknown as fc.Arbitrary<JsonObject> },
  {
    weight: 4,
    arbitrary: fc
      .tuple(definition as unknown as fc.Arbitrary<JsonObject>, damage)
      .map(([one, what]) => damaged(one, what)),
  },
  { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<JsonValue> },
);
/** A control that searches the value most others search too. */
const search = fc.tuple(regex, fc.constantFrom('deny', 'observe')).map(
  ([one, decision]): JsonValue => ({
    execution: 'server',
    condition: { selector: { path: 'input.q' }, evaluator: one } as unknown as JsonObject,
    action: { decision },
  }),
);

const text = fc
  .array(
    fc.constantFrom(
      'hello',
      'HELLO',
      'card12',
      'bad',
      'word',
      'ſTOP',
      'a',
      ' ',
      '7',
      'password',
      'xxx',
      '\n',
    ),
    {
      maxLength: 4,
    },
  )
  .map((words) => words.join(' '));
const escapedText = fc
  .array(
    fc.constantFrom(
      'hello',
      'wo\u200brd',
      'word',
      'ｂad',
      'card12',
      '7',
      '"',
      '\\',
      '\n',
      '\t',
      '\ud800',
      '😀',
    ),
    {
      maxLength: 5,
    },
  )
  .map((pieces) => pieces.join(''));
const data: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.constantFrom<JsonValue>(null, true, 5, 12n ** 20n, ['hello', 'word'], [], { a: 'bad' }),
  // What the JSON text escapes, or has inside of something else.
  fc
    .dictionary(fc.constantFrom('hello', 'bad', 'a\nword', '"stop"'), fc.oneof(text, escapedText), {
      maxKeys: 3,
      noNullPrototype: true,
    })
    .map((members) => ({ ...members }) as JsonObject),
  fc.array(fc.oneof(text, escapedText), { maxLength: 3 }).map((items) => [{ x: items }, ...items]),
);

export const aGeneratedStep: fc.Arbitrary<Step> = fc.record({
  type: stepType,
  name: stepName,
  input: fc.oneof(fc.record({ q: data, deep: fc.record({ a: data, '': fc.record({ b: data }) }) }), data),
  output: data,
  context: fc.option(fc.record({ user: data })),
});
export const aGeneratedStage: fc.Arbitrary<Stage> = fc.constantFrom('pre', 'post');

/** Controls of one agent, with ids in no order. */
export const generatedControls: fc.Arbitrary<ReferenceInput[]> = fc
  .tuple(
    fc.oneof(
      fc.array(stored, { maxLength: 8 }),
      fc
        .tuple(fc.array(search, { minLength: 8, maxLength: 14 }), fc.array(stored, { maxLength: 4 }))
        .map((lists) => lists.flat()),
    ),
    fc.infiniteStream(fc.nat(1_000)),
  )
  .map(([definitions, numbers]) => {
    const ids = new Set<number>();
    for (const id of numbers) {
      if (ids.size === definitions.length) break;
      ids.add(id);
    }
    const all = [...ids];
    return withoutRaces(definitions).map((one, index) => {
      const id = all[index] ?? 0;
      return { id, name: `control-${id}`, definition: one };
    });
  });

/**
 * Which external checks a deny still stops depends on time when the deny is itself external or asynchronous. The
 * contract leaves that open, so no such control denies here where an external evaluator is about.
 */
function withoutRaces(definitions: readonly JsonValue[]): JsonValue[] {
  const texts = definitions.map((one) => JSON.stringify(one) ?? '');
  if (!texts.some((one) => one.includes('"model"'))) return [...definitions];
  return definitions.map((one, index) => {
    const isAsynchronous = /"(?:model|slow)"/.test(texts[index] ?? '');
    return isAsynchronous
      ? (JSON.parse((texts[index] ?? '').replaceAll('"deny"', '"observe"')) as JsonValue)
      : one;
  });
}
