import { LONE_SURROGATE } from '../support/bad-input-values.js';
import { checking, conditioned, DEFINITION, LEAF } from './definitions.js';
import { AGENT, CONTROL } from './rest-cases.js';
import type { Body } from './rest-request.js';

/** A request over REST that is unusual but legal. */
export interface OddRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Body;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the reply contains. */
  readonly reply: object;
}

const JSON_TYPE = { 'content-type': 'application/json' };
/** Text that is hard to store. */
export const UNUSUAL_TEXT = `nul \0, half a pair ${LONE_SURROGATE}, mark \ufeff, right to left \u202e`;
const evaluation = {
  agent_name: AGENT,
  stage: 'pre',
  step: { type: 'llm', name: 'x', input: 'never-there' },
};
const UNSAFE = { is_safe: false, matches: [{ control_name: CONTROL }] };

const read = (name: string, path: string, reply: object): OddRequest => ({
  name,
  method: 'GET',
  path,
  reply,
});
const sent = (
  name: string,
  method: string,
  path: string,
  body: Body,
  reply: object,
  headers: OddRequest['headers'] = JSON_TYPE,
): OddRequest => ({ name, method, path, headers, body, reply });

/** ASCII text in UTF-32 without a byte order mark. */
function utf32(text: string): Buffer {
  return Buffer.from([...Buffer.from(text)].flatMap((code) => [0, 0, 0, code]));
}

/** Requests that change nothing. */
export const ODD_READS: readonly OddRequest[] = [
  sent('a body in UTF-8 with a mark', 'POST', '/evaluation', `\ufeff${JSON.stringify(evaluation)}`, UNSAFE),
  sent(
    'a body in UTF-16',
    'POST',
    '/evaluation',
    Buffer.from(`\ufeff${JSON.stringify(evaluation)}`, 'utf16le'),
    UNSAFE,
  ),
  sent('a body in UTF-32 without a mark', 'POST', '/evaluation', utf32(JSON.stringify(evaluation)), UNSAFE),
  sent('another JSON content type', 'POST', '/evaluation', evaluation, UNSAFE, {
    'content-type': 'Application/Vnd.Mine+JSON; charset=latin1',
  }),
  sent('a body in chunks', 'POST', '/evaluation', evaluation, UNSAFE, {
    ...JSON_TYPE,
    'transfer-encoding': 'chunked',
  }),
  sent(
    'an agent name in capitals with blanks',
    'POST',
    '/evaluation',
    { ...evaluation, agent_name: ` ${AGENT.toUpperCase()} ` },
    UNSAFE,
  ),
  sent(
    'unknown members, __proto__ among them',
    'POST',
    '/evaluation',
    `${JSON.stringify(evaluation).slice(0, -1)},"__proto__":{"stage":"post"},"constructor":1}`,
    UNSAFE,
  ),
  read('an id in an unusual form', '/controls/%20+1.0', { name: CONTROL }),
  read('a repeated parameter: the last one counts', '/controls?limit=many&limit=1', {
    pagination: { limit: 1 },
  }),
  read('unknown parameters', '/controls?__proto__=1&constructor=2&limit=2', { pagination: { limit: 2 } }),
  read('a page far below the range of ids', '/controls?cursor=-99999999999999999999', { controls: [] }),
  read('a page far above the range of ids', '/controls?cursor=99999999999999999999&limit=1', {
    pagination: { limit: 1 },
  }),
  read('a negative page size of agents', '/agents?limit=-5', { pagination: { limit: 1 } }),
  read('an absurd page size of agents', '/agents?limit=99999999999999999999', { pagination: { limit: 100 } }),
  read('a name filter with NUL', '/controls?name=%00', { controls: [], pagination: { total: 0 } }),
  read('a name filter in invalid UTF-8', '/controls?name=%ff', { controls: [] }),
  read('a name filter of wildcards', '/controls?name=%25_%5C', { controls: [] }),
  read('a name filter of 8,000 characters', `/controls?name=${'n'.repeat(8_000)}`, { controls: [] }),
  read('an agent filter with NUL', '/agents?name=%00', { agents: [] }),
  read('filters with NUL', '/controls?tag=%00&execution=%00&stage=%00&step_type=%00', { controls: [] }),
  read('filters like built-in members', '/controls?tag=__proto__&step_type=constructor', { controls: [] }),
  sent(
    '100,000 list values',
    'POST',
    '/controls/validate',
    () =>
      JSON.stringify({
        data: checking('list', { values: Array.from({ length: 100_000 }, (_, index) => `value-${index}`) }),
      }),
    { success: true, warnings: [] },
  ),
  sent(
    'a condition 12 deep',
    'POST',
    '/controls/validate',
    {
      data: conditioned(Array.from({ length: 11 }).reduce<object>((inside) => ({ not: inside }), LEAF)),
    },
    { success: true },
  ),
  sent(
    'an evaluator called constructor',
    'POST',
    '/controls/validate',
    { data: checking('constructor', {}) },
    { success: true, warnings: [{ code: 'unknown_evaluator' }] },
  ),
  sent(
    'half a surrogate pair in texts of a definition',
    'POST',
    '/controls/validate',
    {
      data: {
        ...conditioned({
          selector: { path: `input.${LONE_SURROGATE}` },
          evaluator: { name: `mine${LONE_SURROGATE}`, config: { [LONE_SURROGATE]: LONE_SURROGATE } },
        }),
        scope: { step_name_regex: 'a\0b' },
      },
    },
    { success: true, warnings: [{ code: 'unknown_evaluator' }] },
  ),
];

/** What the odd changes leave behind: names of agents and controls. */
export const ODD_AGENT = 'odd-agent-with-texts';
export const ODD_CONTROL = 'odd-control-with-texts';

const METADATA =
  '{"__proto__":{"polluted":true},"constructor":{"prototype":1},"":"\\u0000","n":12345678901234567890}';

/** What METADATA says; an integer that JavaScript cannot hold reads as the nearest number. */
export const ODD_METADATA = [
  ['__proto__', { polluted: true }],
  ['constructor', { prototype: 1 }],
  ['', '\0'],
  ['n', 12345678901234567000],
];

const REGISTRATION = `{"agent":{"agent_name":"${ODD_AGENT}","agent_description":${JSON.stringify(UNUSUAL_TEXT)},"agent_metadata":${METADATA}},"steps":[{"type":"__proto__","name":"constructor"},{"type":"constructor","name":"__proto__"},{"type":"a\\u0000b","name":"\\ud800"}],"evaluators":[{"name":"__proto__"},{"name":"hasOwnProperty"}]}`;

/** Requests that change something, and requests that read it back; each needs the ones before it. */
export const ODD_CHANGES: readonly OddRequest[] = [
  sent('an agent with unusual texts and keys', 'POST', '/agents/initAgent', REGISTRATION, { created: true }),
  sent('the same agent again, which changes nothing', 'POST', '/agents/initAgent', REGISTRATION, {
    created: false,
  }),
  read('the texts of the agent', `/agents/${ODD_AGENT}`, {
    steps: [
      { type: '__proto__', name: 'constructor' },
      { type: 'constructor', name: '__proto__' },
      { type: 'a\0b', name: LONE_SURROGATE },
    ],
    evaluators: [{ name: '__proto__' }, { name: 'hasOwnProperty' }],
  }),
  sent(
    'a control with unusual texts',
    'PUT',
    '/controls',
    {
      name: ODD_CONTROL,
      data: {
        ...DEFINITION,
        description: UNUSUAL_TEXT,
        tags: ['__proto__', UNUSUAL_TEXT, '\0'],
        scope: { step_types: ['__proto__'], step_names: [UNUSUAL_TEXT] },
        action: { decision: 'steer', steering_context: { message: UNUSUAL_TEXT } },
      },
    },
    { warnings: [{ code: 'invisible_characters' }, { code: 'unregistered_step_name' }] },
  ),
  read('the control by a tag of NUL', '/controls?tag=%00', {
    controls: [{ name: ODD_CONTROL, description: UNUSUAL_TEXT, tags: ['__proto__', UNUSUAL_TEXT, '\0'] }],
  }),
  read('the control by a tag and a type called __proto__', '/controls?tag=__proto__&step_type=__proto__', {
    controls: [{ name: ODD_CONTROL, step_types: ['__proto__'] }],
  }),
];
