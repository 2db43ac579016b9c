import { deny, evaluationBody, leaf, many, members, negated } from './definitions.js';
import type { HostileCase } from './hostile-case.js';

const EVALUATION = '/api/v1/evaluation';
/** Nothing matches: the ordinary control looks for a word. */
const SAFE = { lists: ['non_matches'] } as const;

function evaluation(name: string, expected: HostileCase['expected'], text: () => string): HostileCase {
  return { name: `request: ${name}`, expected, request: () => ['POST', EVALUATION, evaluationBody(text())] };
}

function refused(name: string, definition: () => object, says: RegExp): HostileCase {
  return { name: `definition: ${name}`, expected: { status: 422, says }, definition };
}

const word = leaf('regex', { pattern: 'x' });
const filler = 7_900_000;
const TOO_MANY = { status: 422, says: /too_long.*values/ } as const;

/** Whole requests, and definitions that are hostile by their shape. */
export const REQUEST_CASES: readonly HostileCase[] = [
  evaluation('a text of 8 MB', SAFE, () => `"${'x'.repeat(filler)}"`),
  evaluation('escapes of 8 MB', SAFE, () => `"${'\\u0041'.repeat(filler / 6)}"`),
  evaluation('numbers of 8 MB', TOO_MANY, () => `[${'1,'.repeat(filler / 2)}1]`),
  evaluation('objects of 8 MB', TOO_MANY, () => `[${'{"":1},'.repeat(filler / 7)}1]`),
  evaluation('empty lists of 8 MB', TOO_MANY, () => `[${'[],'.repeat(filler / 3)}1]`),
  evaluation('8 MB of numbers that are no JSON', TOO_MANY, () => `[${'1,'.repeat(filler / 2)}`),
  evaluation('8 MB of text that is no JSON', { status: 422, says: /json_invalid/ }, () => {
    return `["${'x'.repeat(filler)}",1,]`;
  }),
  evaluation('240,000 numbers and one beyond 2^53', SAFE, () => `[${'1,'.repeat(240_000)}99999999999999999]`),
  evaluation('240,000 integers beyond 2^53', SAFE, () => `[${'99999999999999999,'.repeat(240_000)}1]`),
  evaluation(
    '60,000 objects and one integer beyond 2^53',
    SAFE,
    () => `[${'{"":1},'.repeat(60_000)}99999999999999999]`,
  ),
  evaluation(
    '120,000 names and one integer beyond 2^53',
    SAFE,
    () => `{${many(120_000, (i) => `"k${i}":1`).join(',')},"":99999999999999999}`,
  ),
  evaluation(
    '500,000 members with names like indexes',
    TOO_MANY,
    () => `{${many(500_000, (i) => `"${i * 4_099}":1`).join(',')}}`,
  ),
  evaluation(
    '120,000 members with names like indexes',
    SAFE,
    () => `{${many(120_000, (i) => `"${i * 4_099}":1`).join(',')}}`,
  ),
  evaluation('1,800 integers of 4,300 digits', { status: 422, says: /integers/ }, () => {
    return `[${many(1_800, () => '9'.repeat(4_300)).join(',')}]`;
  }),
  evaluation('190 integers of 4,300 digits', SAFE, () => {
    return `[${many(190, () => '9'.repeat(4_300)).join(',')}]`;
  }),
  evaluation('an integer of 5,000 digits', { status: 400, says: /digits/ }, () => '9'.repeat(5_000)),
  evaluation('201 levels', { status: 422, says: /level/ }, () => '['.repeat(201) + ']'.repeat(201)),
  evaluation(
    'a million levels',
    { status: 400, says: /deep/ },
    () => '['.repeat(1_000_000) + ']'.repeat(1_000_000),
  ),
  evaluation(
    'names of prototypes at 190 levels',
    SAFE,
    () => `${'{"__proto__":'.repeat(190)}{"constructor":1}${'}'.repeat(190)}`,
  ),
  evaluation('half surrogates', SAFE, () => `["\\ud83d","\\ude00\\ud83d","${'\\ud800'.repeat(100_000)}"]`),
  refused('13 levels of conditions', () => deny(negated(12, word)), /deeper than 12/),
  refused('180 levels of conditions', () => deny(negated(180, word)), /deeper than 12|recursion_loop/),
  refused('2,001 conditions', () => deny({ or: many(2_001, () => word) }), /2000 nodes/),
  refused('200,000 conditions that are none', () => deny({ or: many(200_000, () => 1) }), /nodes|model_type/),
  refused(
    '2,000 small schemas',
    () => deny({ or: many(1_999, (i) => leaf('json', { json_schema: { const: i } })) }),
    /too much to compile/,
  ),
  refused(
    'a scope of 200,000 empty names',
    () => deny(word, { scope: { step_names: many(200_000, () => '') } }),
    /step_names/,
  ),
  refused(
    'a template whose pattern is a bomb',
    () => ({
      template: {
        parameters: { w: { type: 'string', label: 'w' } },
        definition_template: deny(
          leaf('regex', { pattern: '((a{100}){100}){100}', flags: [{ $param: 'w' }] }),
        ),
      },
      template_values: { w: 'x' },
    }),
    /too large/,
  ),
  refused(
    'a template of 5,000 parameters',
    () => ({
      template: {
        parameters: members(
          5_000,
          (i) => `p${i}`,
          (i) => ({ type: 'regex_re2', label: `p${i}` }),
        ),
        definition_template: deny({
          or: many(5_000, (i) => leaf('regex', { pattern: { $param: `p${i}` } })),
        }),
      },
      template_values: members(
        5_000,
        (i) => `p${i}`,
        (i) => `(?:a${i}){800}`,
      ),
    }),
    /template|parameters|nodes|compile/i,
  ),
  {
    name: 'registration: 20,000 steps',
    expected: { status: 422, says: /steps/ },
    request: () => [
      'POST',
      '/api/v1/agents/initAgent',
      { agent: { agent_name: 'ordinary-agent-2' }, steps: many(20_000, () => ({ type: 1, name: '' })) },
    ],
  },
];
