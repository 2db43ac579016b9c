import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import { methodNamed, PROTOCOLS, type ProtocolClient } from '../support/protocol-clients.js';
import { describeServiceOnSqlite } from '../support/service-suite.js';

const EVALUATE = methodNamed('EvaluationService.Evaluate');
const AGENT = 'agent-of-texts';
/** The steps of one run. */
const STEPS = Number(process.env.VERIFY_STEPS ?? 80);

const CHECKS: readonly (readonly [name: string, evaluator: string, config: JsonObject])[] = [
  ['card', 'regex', { pattern: '\\b\\d{16}\\b' }],
  ['rm', 'regex', { pattern: 'rm\\s+-rf' }],
  ['start', 'regex', { pattern: '^secret' }],
  ['quote', 'regex', { pattern: 'say "hi"' }],
  ['control', 'regex', { pattern: '[\\x00-\\x08]' }],
  ['emoji', 'regex', { pattern: '(?i)x\\x{1f600}\\b' }],
  ['slash', 'regex', { pattern: '\\\\\\\\' }],
  ['unseen', 'regex', { pattern: 'password', normalize: 'nfkc' }],
  ['word', 'list', { values: ['secret'], match_mode: 'contains' }],
  ['whole', 'list', { values: ['rm\n-rf', 'secret'] }],
  ['begins', 'list', { values: ['DROP', '"'], match_mode: 'starts_with' }],
  ['ends', 'list', { values: ['\n\\', 'rf'], match_mode: 'ends_with' }],
];
const SQL = { blocked_operations: ['DROP'] };
const PATHS = { text: 'input.a.b', input: 'input', step: '*' } as const;
const PIECES = [
  ...[
    'rm',
    '-rf',
    'secret',
    '4111111111111111',
    'say "hi"',
    'DROP TABLE users',
    'x😀',
    'pass\u200bword',
    'card',
  ],
  ...[' ', '\n', '\t', '\r\n', '"', '\\', '\0', '\u0001', '_', ';', '-- '],
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 4 }).map((pieces) => pieces.join(''));
const other = fc.oneof(
  fc.constantFrom(null, true, 5, 'more', [1, 'x'], { c: 'd' }),
  fc.dictionary(fc.constantFrom('e', 'f\n', 'type', 'input'), fc.constantFrom('x', 'y z', 1), {
    noNullPrototype: true,
  }),
);

describeServiceOnSqlite('what a control sees', ({ seed, service }) => {
  const clients = new Map<string, ProtocolClient>();
  beforeAll(async () => {
    for (const name of ['REST over h1', 'gRPC (grpc-js)', 'gRPC-Web over h1', 'Connect over h1'] as const) {
      clients.set(name, PROTOCOLS[name](service.url));
    }
    await seed.agent(AGENT);
    for (const [place, path] of Object.entries(PATHS)) {
      const all = place === 'text' ? CHECKS : [...CHECKS, ['sql', 'sql', SQL] as const];
      for (const [name, evaluator, config] of all) {
        const id = await seed.control(`${name}-on-${place}`, {
          execution: 'server',
          condition: { selector: { path }, evaluator: { name: evaluator, config } },
          action: { decision: 'observe' },
        });
        await seed.link(AGENT, id);
      }
    }
  });
  afterAll(async () => {
    for (const client of clients.values()) client.close();
  });

  async function matchesOf(protocol: string, step: object, asText: boolean): Promise<string[]> {
    const outcome = await clients.get(protocol)?.call(EVALUATE, {
      agent_name: AGENT,
      stage: 'pre',
      ...(asText ? { step_json: JSON.stringify(step) } : { step }),
    });
    if (outcome?.ok !== true) throw new Error(`${protocol}: ${JSON.stringify(outcome)}`);
    expect(outcome.reply.errors).toEqual([]);
    return (outcome.reply.matches as { control_name: string }[]).map((item) => item.control_name).sort();
  }

  it(`is the same over every protocol, and the same on a text and on what is around it, in ${STEPS} steps`, async () => {
    let found = 0;
    const property = fc.asyncProperty(text, other, other, async (one, beside, around) => {
      const input = { query: 'SELECT 1', z: around, a: { y: beside, b: one } };
      const step = { type: 'tool', name: 'run', input };
      const matches = await matchesOf('REST over h1', step, false);
      for (const name of clients.keys()) {
        if (name !== 'REST over h1') expect(await matchesOf(name, step, true)).toEqual(matches);
        expect(await matchesOf(name, step, false)).toEqual(matches);
      }
      for (const name of matches.filter((match) => match.endsWith('-on-text'))) {
        found += 1;
        expect(matches).toContain(name.replace('-on-text', '-on-input'));
        expect(matches).toContain(name.replace('-on-text', '-on-step'));
      }
      expect(matches.includes('sql-on-input')).toBe(matches.includes('sql-on-step'));
      const begins = /^(?:\s|;|-- [^\n\r]*[\n\r])*DROP TABLE users(?:\s|;|-- [^\n\r]*)*$/.test(one);
      if (begins) expect(matches).toContain('sql-on-input');
    });
    await fc.assert(property, { numRuns: STEPS });
    expect(found).toBeGreaterThan(STEPS / 10);
  });

  it.each([
    { query: 'DROP TABLE users', input: 'SELECT 1', type: 'x' },
    { query: 'SELECT 1', input: 'DROP TABLE users', type: 'x' },
    { query: 'SELECT 1', options: { after: ['-- \nDROP TABLE users'] } },
    { statement: 'DROP TABLE users' },
  ])('of %j is the statement, whatever its members are called', async (input) => {
    for (const name of clients.keys()) {
      const matches = await matchesOf(name, { type: 'tool', name: 'run', input }, false);
      expect(matches).toEqual(expect.arrayContaining(['sql-on-input', 'sql-on-step']));
    }
  });
});
