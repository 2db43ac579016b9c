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
  readonly headers?: Record<string, string>;
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

/** ASCII text in UTF-32 without a byte order mark. */
function utf32(text: string): Buffer {
  return Buffer.from([...Buffer.from(text)].flatMap((code) => [0, 0, 0, code]));
}

/** Requests that change nothing. */
export const ODD_READS: readonly OddRequest[] = [
  {
    name: 'a body in UTF-8 with a mark',
    method: 'POST',
    path: '/evaluation',
    headers: JSON_TYPE,
    body: `\ufeff${JSON.stringify(evaluation)}`,
    reply: UNSAFE,
  },
  {
    name: 'a body in UTF-16',
    method: 'POST',
    path: '/evaluation',
    headers: JSON_TYPE,
    body: Buffer.from(`\ufeff${JSON.stringify(evaluation)}`, 'utf16le'),
    reply: UNSAFE,
  },
  {
    name: 'a body in UTF-32 without a mark',
    method: 'POST',
    path: '/evaluation',
    headers: JSON_TYPE,
    body: utf32(JSON.stringify(evaluation)),
    reply: UNSAFE,
  },
  {
    name: 'another JSON content type',
    method: 'POST',
    path: '/evaluation',
    headers: { 'content-type': 'Application/Vnd.Mine+JSON; charset=latin1' },
    body: evaluation,
    reply: UNSAFE,
  },
  {
    name: 'a body in chunks',
    method: 'POST',
    path: '/evaluation',
    headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
    body: evaluation,
    reply: UNSAFE,
  },
  {
    name: 'an agent name in capitals with blanks',
    method: 'POST',
    path: '/evaluation',
    headers: JSON_TYPE,
    body: { ...evaluation, agent_name: ` ${AGENT.toUpperCase()} ` },
    reply: UNSAFE,
  },
  {
    name: 'unknown members, __proto__ among them',
    method: 'POST',
    path: '/evaluation',
    headers: JSON_TYPE,
    body: `${JSON.stringify(evaluation).slice(0, -1)},"__proto__":{"stage":"post"},"constructor":1}`,
    reply: UNSAFE,
  },
  { name: 'an id in an unusual form', method: 'GET', path: '/controls/%20+1.0', reply: { name: CONTROL } },
  {
    name: 'a repeated parameter: the last one counts',
    method: 'GET',
    path: '/controls?limit=many&limit=1',
    reply: { pagination: { limit: 1 } },
  },
  {
    name: 'unknown parameters',
    method: 'GET',
    path: '/controls?__proto__=1&constructor=2&limit=2',
    reply: { pagination: { limit: 2 } },
  },
  {
    name: 'a page far below the range of ids',
    method: 'GET',
    path: '/controls?cursor=-99999999999999999999',
    reply: { controls: [] },
  },
  {
    name: 'a page far above the range of ids',
    method: 'GET',
    path: '/controls?cursor=99999999999999999999&limit=1',
    reply: { pagination: { limit: 1 } },
  },
  {
    name: 'a negative page size of agents',
    method: 'GET',
    path: '/agents?limit=-5',
    reply: { pagination: { limit: 1 } },
  },
  {
    name: 'an absurd page size of agents',
    method: 'GET',
    path: '/agents?limit=99999999999999999999',
    reply: { pagination: { limit: 100 } },
  },
  {
    name: 'a name filter with NUL',
    method: 'GET',
    path: '/controls?name=%00',
    reply: { controls: [], pagination: { total: 0 } },
  },
  {
    name: 'a name filter in invalid UTF-8',
    method: 'GET',
    path: '/controls?name=%ff',
    reply: { controls: [] },
  },
  {
    name: 'a name filter of wildcards',
    method: 'GET',
    path: '/controls?name=%25_%5C',
    reply: { controls: [] },
  },
  {
    name: 'a name filter of 8,000 characters',
    method: 'GET',
    path: `/controls?name=${'n'.repeat(8_000)}`,
    reply: { controls: [] },
  },
  { name: 'an agent filter with NUL', method: 'GET', path: '/agents?name=%00', reply: { agents: [] } },
  {
    name: 'filters with NUL',
    method: 'GET',
    path: '/controls?tag=%00&execution=%00&stage=%00&step_type=%00',
    reply: { controls: [] },
  },
  {
    name: 'filters like built-in members',
    method: 'GET',
    path: '/controls?tag=__proto__&step_type=constructor',
    reply: { controls: [] },
  },
  {
    name: '100,000 list values',
    method: 'POST',
    path: '/controls/validate',
    headers: JSON_TYPE,
    body: () =>
      JSON.stringify({
        data: checking('list', { values: Array.from({ length: 100_000 }, (_, index) => `value-${index}`) }),
      }),
    reply: { success: true, warnings: [] },
  },
  {
    name: 'a condition 12 deep',
    method: 'POST',
    path: '/controls/validate',
    headers: JSON_TYPE,
    body: {
      data: conditioned(Array.from({ length: 11 }).reduce<object>((inside) => ({ not: inside }), LEAF)),
    },
    reply: { success: true },
  },
  {
    name: 'an evaluator called constructor',
    method: 'POST',
    path: '/controls/validate',
    headers: JSON_TYPE,
    body: { data: checking('constructor', {}) },
    reply: { success: true, warnings: [{ code: 'unknown_evaluator' }] },
  },
  {
    name: 'half a surrogate pair in texts of a definition',
    method: 'POST',
    path: '/controls/validate',
    headers: JSON_TYPE,
    body: {
      data: {
        ...conditioned({
          selector: { path: `input.${LONE_SURROGATE}` },
          evaluator: { name: `mine${LONE_SURROGATE}`, config: { [LONE_SURROGATE]: LONE_SURROGATE } },
        }),
        scope: { step_name_regex: 'a\0b' },
      },
    },
    reply: { success: true, warnings: [{ code: 'unknown_evaluator' }] },
  },
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
  {
    name: 'an agent with unusual texts and keys',
    method: 'POST',
    path: '/agents/initAgent',
    headers: JSON_TYPE,
    body: REGISTRATION,
    reply: { created: true },
  },
  {
    name: 'the same agent again, which changes nothing',
    method: 'POST',
    path: '/agents/initAgent',
    headers: JSON_TYPE,
    body: REGISTRATION,
    reply: { created: false },
  },
  {
    name: 'the texts of the agent',
    method: 'GET',
    path: `/agents/${ODD_AGENT}`,
    reply: {
      steps: [
        { type: '__proto__', name: 'constructor' },
        { type: 'constructor', name: '__proto__' },
        { type: 'a\0b', name: LONE_SURROGATE },
      ],
      evaluators: [{ name: '__proto__' }, { name: 'hasOwnProperty' }],
    },
  },
  {
    name: 'a control with unusual texts',
    method: 'PUT',
    path: '/controls',
    headers: JSON_TYPE,
    body: {
      name: ODD_CONTROL,
      data: {
        ...DEFINITION,
        description: UNUSUAL_TEXT,
        tags: ['__proto__', UNUSUAL_TEXT, '\0'],
        scope: { step_types: ['__proto__'], step_names: [UNUSUAL_TEXT] },
        action: { decision: 'steer', steering_context: { message: UNUSUAL_TEXT } },
      },
    },
    reply: { warnings: [{ code: 'invisible_characters' }, { code: 'unregistered_step_name' }] },
  },
  {
    name: 'the control by a tag of NUL',
    method: 'GET',
    path: '/controls?tag=%00',
    reply: {
      controls: [{ name: ODD_CONTROL, description: UNUSUAL_TEXT, tags: ['__proto__', UNUSUAL_TEXT, '\0'] }],
    },
  },
  {
    name: 'the control by a tag and a type called __proto__',
    method: 'GET',
    path: '/controls?tag=__proto__&step_type=__proto__',
    reply: { controls: [{ name: ODD_CONTROL, step_types: ['__proto__'] }] },
  },
];
