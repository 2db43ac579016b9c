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

/** Steps that must be evaluated like any other. */
export const ODD_STEPS: readonly OddStep[] = [
  {
    name: 'a member __proto__',
    step: withInput('{"__proto__":{"secret":"attack"}}'),
    matches: ['proto', 'text'],
  },
  { name: 'a member __proto__ that is a text', step: withInput('{"__proto__":"secret"}'), matches: [] },
  {
    name: 'a member __proto__ in the context',
    step: '{"type":"llm","name":"x","input":1,"context":{"__proto__":"attack"}}',
    matches: ['context-proto'],
  },
  {
    name: 'a member constructor',
    step: withInput('{"constructor":{"prototype":"attack"}}'),
    matches: ['constructor', 'text'],
  },
  { name: 'a member toString', step: withInput('{"toString":"x"}'), matches: ['to-string'] },
  { name: 'no members at all', step: withInput('{}'), matches: [] },
  {
    name: 'members below __proto__ that are looked for above',
    step: withInput('{"__proto__":{"n":12345678901234567890,"":"x"}}'),
    matches: [],
  },
  { name: 'NUL in a text', step: withText('a\0b'), matches: ['nul'] },
  { name: 'NUL before what is looked for', step: withText('\0attack'), matches: ['text'] },
  {
    name: 'half a surrogate pair before what is looked for',
    step: withText(`${LONE_SURROGATE}attack`),
    matches: ['text'],
  },
  { name: 'half a surrogate pair', step: withText('a\ud83d'), matches: ['half-pair'] },
  { name: 'a whole surrogate pair', step: withText('a\ud83d\ude00'), matches: [] },
  { name: 'a byte order mark inside a text', step: withText('\ufeffattack'), matches: ['text'] },
  {
    name: 'an escaped name of a member',
    step: withInput('{"\\u005f\\u005fproto__":{"secret":"attack"}}'),
    matches: ['proto', 'text'],
  },
  {
    name: 'an integer beyond 64 bits',
    step: withInput('{"n":12345678901234567890}'),
    matches: ['big-integer'],
  },
  { name: 'its neighbour', step: withInput('{"n":12345678901234567891}'), matches: [] },
  {
    name: 'NaN and infinity, which are null',
    step: withInput('{"n":NaN,"m":-Infinity}'),
    matches: [],
  },
  { name: 'a number that is too small', step: withInput('{"n":1e-999}'), matches: [] },
  { name: 'an empty name of a member', step: withInput('{"":"attack"}'), matches: ['empty-key', 'text'] },
  { name: 'a list of odd texts', step: withInput('{"tags":["NUL\\u0000"]}'), matches: ['list'] },
  { name: 'a list with __PROTO__', step: withInput('{"tags":["x","__PROTO__"]}'), matches: ['list'] },
  { name: 'lists as deep as allowed', step: withInput(nestedLists(190, '"attack"')), matches: ['text'] },
  { name: '100,000 members', step: () => withInput(wideObject(100_000)), matches: ['member'] },
  { name: 'a text of one mebibyte', step: () => withText(`${MEBIBYTE_TEXT}attack`), matches: ['text'] },
  {
    name: 'a text near the limit',
    step: () => withText(`${'n'.repeat(MAX_BODY_BYTES - 1_000)}attack`),
    matches: ['text'],
  },
  { name: 'an input that is null', step: withInput('null'), matches: [] },
  { name: 'an input that is true', step: withInput('true'), matches: [] },
  {
    name: 'type and name like built-in members',
    step: '{"type":"__proto__","name":"constructor","input":"attack"}',
    matches: ['text'],
  },
  {
    name: 'a name with NUL and line feeds',
    step: JSON.stringify({ type: 'a\0b', name: '\r\n\0', input: 'attack' }),
    matches: ['text'],
  },
  {
    name: 'a name of 100,000 characters',
    step: () => JSON.stringify({ type: 'a', name: 'n'.repeat(100_000), input: 'attack' }),
    matches: ['text'],
  },
  {
    name: 'unknown members',
    step: '{"type":"llm","name":"x","input":"attack","__proto__":{"input":"harmless"},"extra":[]}',
    matches: ['text'],
  },
];

/** A typed step message that is unusual but legal. */
export interface OddMessage {
  readonly name: string;
  readonly bytes: Buffer | (() => Buffer);
  readonly matches: readonly string[];
}

const input = (...parts: Buffer[]): Buffer => wire.bytes(3, ...parts);
const ATTACK = value.text('attack');
const PROTO = member('__proto__', value.struct(member('secret', ATTACK)));

/** Messages that must be evaluated like any other. */
export const ODD_MESSAGES: readonly OddMessage[] = [
  { name: 'a member __proto__', bytes: stepWith(input(value.struct(PROTO))), matches: ['proto', 'text'] },
  {
    name: 'a member __proto__ that is a text',
    bytes: stepWith(input(value.struct(member('__proto__', value.text('x'))))),
    matches: [],
  },
  {
    name: 'a member __proto__ in the context',
    bytes: stepWith(input(value.number(1)), wire.bytes(5, value.struct(member('__proto__', ATTACK)))),
    matches: ['context-proto'],
  },
  {
    name: 'a member __proto__ twice: the last one counts',
    bytes: stepWith(input(value.struct(member('__proto__', value.number(1)), PROTO))),
    matches: ['proto', 'text'],
  },
  {
    name: 'a member __proto__ in a list',
    bytes: stepWith(input(value.list(value.struct(PROTO)))),
    matches: ['text'],
  },
  {
    name: 'a member constructor',
    bytes: stepWith(input(value.struct(member('constructor', value.struct(member('prototype', ATTACK)))))),
    matches: ['constructor', 'text'],
  },
  { name: 'a struct without members', bytes: stepWith(input(value.struct())), matches: [] },
  { name: 'NUL in a text', bytes: stepWith(input(value.text('a\0b'))), matches: ['nul'] },
  { name: 'a value of no kind', bytes: stepWith(input()), matches: [] },
  {
    name: 'a value of two kinds: the last one counts',
    bytes: stepWith(input(value.number(1), ATTACK)),
    matches: ['text'],
  },
  {
    name: 'unknown fields',
    bytes: Buffer.concat([stepWith(input(ATTACK), wire.number(99, 1)), wire.bytes(200, 'x')]),
    matches: ['text'],
  },
  {
    name: 'a step in two parts',
    bytes: Buffer.concat([stepWith(input(value.number(1))), wire.bytes(3, input(ATTACK))]),
    matches: ['text'],
  },
  {
    name: 'lists as deep as allowed',
    bytes: () =>
      stepWith(input(Array.from({ length: 190 }).reduce<Buffer>((inside) => value.list(inside), ATTACK))),
    matches: ['text'],
  },
];
