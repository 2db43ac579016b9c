import { wire } from '../support/bad-input-rpc.js';
import { LONE_SURROGATE, MEBIBYTE_TEXT, nestedLists, wideObject } from '../support/bad-input-values.js';
import { MAX_BODY_BYTES } from './rest-cases.js';
import { member, stepWith, value } from './rpc-messages.js';

/** The agent that takes odd steps. */
export const ODD_STEPS_AGENT = 'agent-of-odd-steps';

/** A control of the agent that gets the odd evaluations: its name, and the check it makes. */
export const ODD_CONTROLS: Readonly<Record<string, object>> = {
  'sees-proto': check('input.__proto__.secret', { pattern: 'attack' }),
  'sees-context-proto': check('context.__proto__', { pattern: 'attack' }),
  'sees-constructor': check('input.constructor.prototype', { pattern: 'attack' }),
  'sees-to-string': check('input.toString', { pattern: '.' }),
  'sees-nul': check('input', { pattern: '^a\\x00b$' }),
  'sees-text': check('input', { pattern: 'attack' }),
  'sees-big-integer': check('input.n', { pattern: '^12345678901234567890$' }),
  'sees-empty-key': check('input.', { pattern: 'attack' }),
  'sees-member': check('input.member99999', { pattern: '^99999$' }),
  'sees-half-pair': check('input', { pattern: '\ud83d' }),
  'sees-list': {
    selector: { path: 'input.tags' },
    evaluator: { name: 'list', config: { values: ['__proto__', 'nul\0', 'straße'] } },
  },
};

function check(path: string, config: object): object {
  return { selector: { path }, evaluator: { name: 'regex', config } };
}

/** A step that is unusual but legal. */
export interface OddStep {
  readonly name: string;
  /** JSON text of the step. */
  readonly step: string | (() => string);
  /** Names of the controls that must match; `sees-` is left out. */
  readonly matches: readonly string[];
}

const withInput = (input: string): string => `{"type":"llm","name":"answer","input":${input}}`;
const withText = (text: string): string => withInput(JSON.stringify(text));

const STEPS: readonly (readonly [string, OddStep['step'], OddStep['matches']])[] = [
  ['a member __proto__', withInput('{"__proto__":{"secret":"attack"}}'), ['proto', 'text']],
  ['a member __proto__ that is a text', withInput('{"__proto__":"secret"}'), []],
  [
    'a member __proto__ in the context',
    '{"type":"llm","name":"x","input":1,"context":{"__proto__":"attack"}}',
    ['context-proto'],
  ],
  ['a member constructor', withInput('{"constructor":{"prototype":"attack"}}'), ['constructor', 'text']],
  ['a member toString', withInput('{"toString":"x"}'), ['to-string']],
  ['no members at all', withInput('{}'), []],
  [
    'members below __proto__ that are looked for above',
    withInput('{"__proto__":{"n":12345678901234567890,"":"x"}}'),
    [],
  ],
  ['NUL in a text', withText('a\0b'), ['nul']],
  ['NUL before what is looked for', withText('\0attack'), ['text']],
  ['half a surrogate pair before what is looked for', withText(`${LONE_SURROGATE}attack`), ['text']],
  ['half a surrogate pair', withText('a\ud83d'), ['half-pair']],
  ['a whole surrogate pair', withText('a\ud83d\ude00'), []],
  ['a byte order mark inside a text', withText('\ufeffattack'), ['text']],
  [
    'an escaped name of a member',
    withInput('{"\\u005f\\u005fproto__":{"secret":"attack"}}'),
    ['proto', 'text'],
  ],
  ['an integer beyond 64 bits', withInput('{"n":12345678901234567890}'), ['big-integer']],
  ['its neighbour', withInput('{"n":12345678901234567891}'), []],
  ['NaN and infinity, which are null', withInput('{"n":NaN,"m":-Infinity}'), []],
  ['a number that is too small', withInput('{"n":1e-999}'), []],
  ['an empty name of a member', withInput('{"":"attack"}'), ['empty-key', 'text']],
  ['a list of odd texts', withInput('{"tags":["NUL\\u0000"]}'), ['list']],
  ['a list with __PROTO__', withInput('{"tags":["x","__PROTO__"]}'), ['list']],
  ['lists as deep as allowed', withInput(nestedLists(190, '"attack"')), ['text']],
  ['100,000 members', () => withInput(wideObject(100_000)), ['member']],
  ['a text of one mebibyte', () => withText(`${MEBIBYTE_TEXT}attack`), ['text']],
  ['a text near the limit', () => withText(`${'n'.repeat(MAX_BODY_BYTES - 1_000)}attack`), ['text']],
  ['an input that is null', withInput('null'), []],
  ['an input that is true', withInput('true'), []],
  [
    'type and name like built-in members',
    '{"type":"__proto__","name":"constructor","input":"attack"}',
    ['text'],
  ],
  [
    'a name with NUL and line feeds',
    JSON.stringify({ type: 'a\0b', name: '\r\n\0', input: 'attack' }),
    ['text'],
  ],
  [
    'a name of 100,000 characters',
    () => JSON.stringify({ type: 'a', name: 'n'.repeat(100_000), input: 'attack' }),
    ['text'],
  ],
  [
    'unknown members',
    '{"type":"llm","name":"x","input":"attack","__proto__":{"input":"harmless"},"extra":[]}',
    ['text'],
  ],
];

/** Steps that must be evaluated like any other. */
export const ODD_STEPS: readonly OddStep[] = STEPS.map(([name, step, matches]) => ({ name, step, matches }));

/** A typed step message that is unusual but legal. */
export interface OddMessage {
  readonly name: string;
  readonly bytes: Buffer | (() => Buffer);
  readonly matches: readonly string[];
}

const input = (...parts: Buffer[]): Buffer => wire.bytes(3, ...parts);
const ATTACK = value.text('attack');
const PROTO = member('__proto__', value.struct(member('secret', ATTACK)));

const MESSAGES: readonly (readonly [string, OddMessage['bytes'], OddMessage['matches']])[] = [
  ['a member __proto__', stepWith(input(value.struct(PROTO))), ['proto', 'text']],
  [
    'a member __proto__ that is a text',
    stepWith(input(value.struct(member('__proto__', value.text('x'))))),
    [],
  ],
  [
    'a member __proto__ in the context',
    stepWith(input(value.number(1)), wire.bytes(5, value.struct(member('__proto__', ATTACK)))),
    ['context-proto'],
  ],
  [
    'a member __proto__ twice: the last one counts',
    stepWith(input(value.struct(member('__proto__', value.number(1)), PROTO))),
    ['proto', 'text'],
  ],
  ['a member __proto__ in a list', stepWith(input(value.list(value.struct(PROTO)))), ['text']],
  [
    'a member constructor',
    stepWith(input(value.struct(member('constructor', value.struct(member('prototype', ATTACK)))))),
    ['constructor', 'text'],
  ],
  ['a struct without members', stepWith(input(value.struct())), []],
  ['NUL in a text', stepWith(input(value.text('a\0b'))), ['nul']],
  ['a value of no kind', stepWith(input()), []],
  ['a value of two kinds: the last one counts', stepWith(input(value.number(1), ATTACK)), ['text']],
  [
    'unknown fields',
    Buffer.concat([stepWith(input(ATTACK), wire.number(99, 1)), wire.bytes(200, 'x')]),
    ['text'],
  ],
  [
    'a step in two parts',
    Buffer.concat([stepWith(input(value.number(1))), wire.bytes(3, input(ATTACK))]),
    ['text'],
  ],
  [
    'lists as deep as allowed',
    () => stepWith(input(Array.from({ length: 190 }).reduce<Buffer>((inside) => value.list(inside), ATTACK))),
    ['text'],
  ],
];

/** Messages that must be evaluated like any other. */
export const ODD_MESSAGES: readonly OddMessage[] = MESSAGES.map(([name, bytes, matches]) => ({
  name,
  bytes,
  matches,
}));
