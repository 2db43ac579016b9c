import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { fewestQueries } from '../support/fewest-queries.js';
import { generatedCases } from '../support/generated-cases.js';
import type { RestClient } from '../support/http.js';
import { methodNamed, PROTOCOLS, type ProtocolName } from '../support/protocol-clients.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService, suiteService } from '../support/service-suite.js';
import { damageControl, executeSql } from '../support/sql.js';
import { until } from '../support/until.js';

const EVALUATION = {
  agent_name: 'warm-agent-01',
  stage: 'pre',
  step: { type: 'llm', name: 'answer', input: 'bad' },
};

describeService('the snapshot', ({ call, seed, service }) => {
  /** Names of the controls that a step with this text matches. */
  const matches = async (agentName: string, text: string, from: RestClient = call): Promise<string[]> => {
    const reply = await evaluate(from, agentName, text);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    expect(reply.body.errors).toEqual([]);
    return (reply.body.matches as { control_name: string }[]).map(({ control_name }) => control_name);
  };

  it('has every kind of change before the next evaluation', async () => {
    const agent = 'changed-agent-1';
    expect((await evaluate(call, agent, 'bad')).status).toBe(404);
    await seed.agent(agent);
    expect(await matches(agent, 'bad')).toEqual([]);
    const id = await seed.control('changed');
    expect(await matches(agent, 'bad')).toEqual([]);
    await seed.link(agent, id);
    expect(await matches(agent, 'bad')).toEqual(['changed']);
    await call('PATCH', `/api/v1/controls/${id}`, { name: 'renamed' });
    expect(await matches(agent, 'bad')).toEqual(['renamed']);
    await call('PATCH', `/api/v1/controls/${id}`, { enabled: false });
    expect(await matches(agent, 'bad')).toEqual([]);
    await call('PATCH', `/api/v1/controls/${id}`, { enabled: true });
    expect(await matches(agent, 'bad')).toEqual(['renamed']);
    await call('PUT', `/api/v1/controls/${id}/data`, { data: denyWord('worse') });
    expect(await matches(agent, 'bad')).toEqual([]);
    expect(await matches(agent, 'worse')).toEqual(['renamed']);
    await call('DELETE', `/api/v1/agents/${agent}/controls/${id}`);
    expect(await matches(agent, 'worse')).toEqual([]);
    await seed.link(agent, id);
    expect(await matches(agent, 'worse')).toEqual(['renamed']);
    await call('DELETE', `/api/v1/controls/${id}?force=true`);
    expect(await matches(agent, 'worse')).toEqual([]);
  });

  describe('agrees with a simple model', () => {
    const AGENTS = ['model-agent-a', 'model-agent-b'];
    const WORDS = ['red', 'green', 'blue'];
    const SLOTS = 4;
    const RUNS = generatedCases(200);
    type Change =
      | { kind: 'create' | 'delete' | 'enable' | 'disable'; slot: number }
      | { kind: 'replace'; slot: number; word: string }
      | { kind: 'link' | 'unlink'; slot: number; agent: string };
    interface Modelled {
      id: number;
      word: string;
      enabled: boolean;
      readonly agents: Set<string>;
    }

    const slot = fc.nat(SLOTS - 1);
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.record({ kind: fc.constantFrom('create', 'delete', 'enable', 'disable'), slot }),
      fc.record({ kind: fc.constant('replace'), slot, word: fc.constantFrom(...WORDS) }),
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('link', 'unlink'),
          slot,
          agent: fc.constantFrom(...AGENTS),
        }),
      },
    );

    beforeAll(async () => {
      for (const agent of AGENTS) await seed.agent(agent);
    });

    it(`after each of ${RUNS} random sequences of changes, evaluated after every change`, async () => {
      const model = new Map<number, Modelled>();
      const nameOf = (index: number) => `model-control-${index}`;

      async function apply(next: Change): Promise<void> {
        const known = model.get(next.slot);
        const path = `/api/v1/controls/${known?.id}`;
        const status = async (expected: number, ...request: Parameters<RestClient>) =>
          expect({ request, status: (await call(...request)).status }).toEqual({ request, status: expected });
        if (next.kind === 'create') {
          if (known !== undefined) return;
          const id = await seed.control(nameOf(next.slot), denyWord('red'));
          model.set(next.slot, { id, word: 'red', enabled: true, agents: new Set() });
          return;
        }
        if (known === undefined) return;
        switch (next.kind) {
          case 'delete':
            await status(200, 'DELETE', `${path}?force=true`);
            model.delete(next.slot);
            break;
          case 'enable':
          case 'disable':
            known.enabled = next.kind === 'enable';
            await status(200, 'PATCH', path, { enabled: known.enabled });
            break;
          case 'replace':
            known.word = next.word;
            known.enabled = true;
            await status(200, 'PUT', `${path}/data`, { data: denyWord(next.word) });
            break;
          case 'link':
            known.agents.add(next.agent);
            await status(200, 'POST', `/api/v1/agents/${next.agent}/controls/${known.id}`);
            break;
          case 'unlink':
            known.agents.delete(next.agent);
            await status(200, 'DELETE', `/api/v1/agents/${next.agent}/controls/${known.id}`);
            break;
        }
      }

      const expectedFor = (agent: string, word: string): string[] =>
        [...model]
          .filter(([, one]) => one.enabled && one.word === word && one.agents.has(agent))
          .sort(([, left], [, right]) => right.id - left.id)
          .map(([index]) => nameOf(index));

      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
          for (const next of changes) {
            await apply(next);
            for (const agent of AGENTS) {
              for (const word of WORDS) {
                expect([agent, word, await matches(agent, word)]).toEqual([
                  agent,
                  word,
                  expectedFor(agent, word),
                ]);
              }
            }
          }
        }),
        // The model follows the service across runs, so a failing sequence cannot be replayed alone.
        { numRuns: RUNS, endOnFailure: true },
      );
    });
  });

  describe('makes the evaluation of a warm agent free of database queries', () => {
    beforeAll(async () => {
      await seed.agent('warm-agent-01');
      for (let count = 0; count < 5; count += 1) {
        await seed.link('warm-agent-01', await seed.control(`warm-${count}`));
      }
      expect(await matches('warm-agent-01', 'bad')).toHaveLength(5);
    });

    it.each<ProtocolName>(['REST over h1', 'gRPC (grpc-js)', 'Connect over h2'])(
      'over %s',
      async (protocol) => {
        const client = PROTOCOLS[protocol](service.url);
        const evaluateRpc = methodNamed('EvaluationService.Evaluate');
        const evaluateAll = async () => {
          for (let count = 0; count < 20; count += 1) {
            expect(await client.call(evaluateRpc, EVALUATION)).toMatchObject({
              ok: true,
              reply: { is_safe: false },
            });
          }
        };
        expect(await fewestQueries(service, evaluateAll)).toEqual([]);
        client.close();
      },
    );

    it('over a gRPC stream', async () => {
      const client = PROTOCOLS['gRPC (grpc-js)'](service.url);
      const messages = Array.from({ length: 20 }, (_, index) => ({
        id: String(index),
        evaluations: [EVALUATION, EVALUATION],
      }));
      const evaluateAll = async () => {
        const replies = await client.stream(methodNamed('EvaluationService.EvaluateStream'), messages);
        expect(replies).toHaveLength(20);
        for (const { results } of replies) {
          expect(results).toMatchObject([{ verdict: { is_safe: false } }, { verdict: { is_safe: false } }]);
        }
      };
      expect(await fewestQueries(service, evaluateAll)).toEqual([]);
      client.close();
    });

    it('whereas an agent that is not warm needs some', async () => {
      const before = service.queries.length;
      expect((await evaluate(call, 'never-registered', 'x')).status).toBe(404);
      expect(service.queries.length).toBeGreaterThan(before);
    });
  });

  describe('of another instance on the same database', () => {
    const other = suiteService(() => ({ DATABASE_URL: service.databaseUrl }));
    const { call: otherCall } = other;

    it('follows every kind of change', async () => {
      const agent = 'shared-agent-01';
      await seed.agent(agent);
      const id = await seed.control('shared');
      const seen = (word: string, names: string[]) =>
        until(
          () => matches(agent, word, otherCall),
          (found) => JSON.stringify(found) === JSON.stringify(names),
        );
      expect(await matches(agent, 'bad', otherCall)).toEqual([]);
      await seed.link(agent, id);
      await seen('bad', ['shared']);
      await call('PATCH', `/api/v1/controls/${id}`, { name: 'shared-renamed' });
      await seen('bad', ['shared-renamed']);
      await call('PUT', `/api/v1/controls/${id}/data`, { data: denyWord('worse') });
      await seen('worse', ['shared-renamed']);
      // And the other way round.
      await otherCall('DELETE', `/api/v1/agents/${agent}/controls/${id}`);
      await until(
        () => matches(agent, 'worse'),
        (found) => found.length === 0,
      );
      const { body } = await otherCall('GET', `/api/v1/agents/${agent}/controls`);
      expect(body.controls).toEqual([]);
    });

    it('detects an agent that was unknown to it a moment ago', async () => {
      const agent = 'late-agent-01';
      expect((await evaluate(otherCall, agent, 'x')).status).toBe(404);
      await seed.agent(agent);
      const reply = await until(
        () => evaluate(otherCall, agent, 'x'),
        ({ status }) => status === 200,
      );
      expect(reply.body.is_safe).toBe(true);
    });

    it('keeps names unique and registers an agent once, whichever instance is called', async () => {
      const attempts = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? call : otherCall));
      const registered = await Promise.all(
        attempts.map((one) =>
          one('POST', '/api/v1/agents/initAgent', { agent: { agent_name: 'raced-agent-01' } }),
        ),
      );
      expect(registered.map(({ status }) => status)).toEqual(attempts.map(() => 200));
      expect(registered.filter(({ body }) => body.created)).toHaveLength(1);
      const created = await Promise.all(
        attempts.map((one) => one('PUT', '/api/v1/controls', { name: 'raced', data: denyWord('x') })),
      );
      expect(created.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    });
  });

  it('fails closed when a control it has to load anew is damaged', async () => {
    const agent = 'damaged-warm-1';
    await seed.agent(agent);
    const id = await seed.control('damaged-warm');
    await seed.link(agent, id);
    expect((await evaluate(call, agent, 'good')).body.is_safe).toBe(true);
    await damageControl(service.databaseUrl, id, '{"condition":');
    // As another instance would announce a change.
    await executeSql(service.databaseUrl, 'UPDATE "service_state" SET "revision" = "revision" + 1');
    const { body } = await until(
      () => evaluate(call, agent, 'good'),
      (reply) => reply.body.errors.length > 0,
    );
    expect(body).toMatchObject({
      is_safe: false,
      confidence: 0,
      errors: [{ control_id: id, action: 'deny' }],
    });
  });
});
