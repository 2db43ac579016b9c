import { beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { denyWord, evaluate } from '../support/seed.js';
import { suiteService } from '../support/service-suite.js';
import { eventRoutes } from './events.support.js';

const AGENT = 'explained-bot-1';
const leaf = (path: string, pattern: string) => ({
  selector: { path },
  evaluator: { name: 'regex', config: { pattern } },
});
const listed = (path: string, value: string) => ({
  selector: { path },
  evaluator: { name: 'list', config: { values: [value] } },
});
const FAILS = { selector: { path: 'context' }, evaluator: { name: 'missing-one', config: {} } };

/** Conditions, with the leaf that decides them for the input {"a": "one", "b": "two"}. */
const CASES: [string, object, string | null, string | null][] = [
  ['leaf', leaf('input.a', 'one'), 'regex', 'input.a'],
  ['or', { or: [leaf('input.a', 'x'), listed('input.b', 'two')] }, 'list', 'input.b'],
  ['and', { and: [leaf('input.b', 'two'), listed('input.a', 'one')] }, 'regex', 'input.b'],
  ['failed-and', { and: [leaf('input.b', 'two'), listed('input.a', 'x')] }, 'list', 'input.a'],
  ['failed-or', { or: [leaf('input.b', 'x'), listed('input.a', 'x')] }, 'regex', 'input.b'],
  ['not', { not: listed('input.b', 'x') }, 'list', 'input.b'],
  ['not-and', { not: { and: [leaf('input.a', 'one'), listed('input.b', 'x')] } }, 'list', 'input.b'],
  [
    'nested',
    {
      or: [
        { and: [leaf('input.a', 'x')] },
        { and: [{ or: [leaf('input', 'x'), listed('input.b', 'two')] }] },
      ],
    },
    'list',
    'input.b',
  ],
  ['error', { and: [leaf('input.a', 'one'), FAILS] }, 'missing-one', 'context'],
];

describeAboveStores('an event of the service', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_OBSERVABILITY_RECORD: 'all',
  }));
  const { call } = service;
  beforeAll(async () => {
    const { agent, control, link } = service.seed;
    await agent(AGENT);
    for (const [name, condition] of CASES)
      await link(AGENT, await control(name, denyWord('', { condition })));
  });

  const recorded = async () => {
    const filter = { agent_name: AGENT, include_buffered: true, include_step: true };
    return (await eventRoutes(call).query(filter)).body.events;
  };

  it('has evaluator and selector of the leaf that decided its condition, and the name of the step', async () => {
    await evaluate(call, AGENT, { a: 'one', b: 'two' });
    const found = new Map((await recorded()).map((one: { control_name: string }) => [one.control_name, one]));
    expect(found.size).toBe(CASES.length);
    for (const [name, , evaluator_name, selector_path] of CASES) {
      expect(found.get(name)).toMatchObject({
        evaluator_name,
        selector_path,
        step_type: 'llm',
        step_name: 'answer',
        execution_duration_ms: null,
      });
    }
  });

  it('is found at once by a query that includes what is buffered, and after a flush', async () => {
    const { send: _, query } = eventRoutes(call);
    const total = async (more: object = {}) => (await query({ agent_name: AGENT, ...more })).body.total;
    const before = await total({ include_buffered: true });
    await evaluate(call, AGENT, { a: 'one', b: 'two' });
    expect(await total()).toBe(before);
    expect(await total({ include_buffered: true })).toBe(before + CASES.length);
    await evaluate(call, AGENT, { a: 'one', b: 'two' });
    const flushed = await call('POST', '/api/v1/observability/flush');
    expect(flushed).toMatchObject({ status: 200, body: { stored: CASES.length } });
    expect(await total()).toBe(before + 2 * CASES.length);
    expect((await call('POST', '/api/v1/observability/flush')).body).toEqual({ stored: 0 });
  });
});
