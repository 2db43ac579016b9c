import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseStoredJson } from '../../packages/exact-json/src/index.js';
import { createAgentControlStore } from '../../src/decide/agent-state/agent-control-store.js';
import type { Verdict } from '../../src/kernel/core/types.js';
import { type Database, openDatabase } from '../../src/storage/database/database.js';
import { compileProgram } from '../kernel/core/compile-program.js';
import { serviceRegistry } from '../support/evaluators.js';
import { generatedCases } from '../support/generated-cases.js';
import { type RestClient, restClient, untilServed } from '../support/http.js';
import { scoped } from '../support/scoped.js';
import { denyWord, evaluate } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { describeService } from '../support/service-suite.js';

const AGENTS = 8;
const POLICIES = 3;
const CONTROLS = 6;
const options = { registry: serviceRegistry, newExecutionId: () => 'an-execution' };
const WORDS = ['apple', 'berry', 'cherry', 'damson'];

const agent = fc.integer({ min: 1, max: AGENTS });
const policy = fc.integer({ min: 0, max: POLICIES - 1 });
const control = fc.integer({ min: 0, max: CONTROLS - 1 });
const command = fc.oneof(
  fc.record({ kind: fc.constantFrom('link', 'unlink'), agent, control }),
  fc.record({ kind: fc.constantFrom('assign', 'take'), agent, policy }),
  fc.record({ kind: fc.constantFrom('put', 'remove'), policy, control }),
  fc.record({ kind: fc.constant('define'), control, word: fc.constantFrom(...WORDS) }),
  fc.record({ kind: fc.constant('rename'), control }),
  fc.record({ kind: fc.constant('switch'), control, enabled: fc.boolean() }),
  fc.record({ kind: fc.constant('delete'), control }),
);
type Command = {
  kind: string;
  name?: string;
  agent?: number;
  policy?: number;
  control?: number;
  word?: string;
  enabled?: boolean;
};

describeService('agents that share controls', ({ call, seed, service }) => {
  let database: Database;
  let other: TestService;
  let elsewhere: RestClient;
  let names = 0;
  const policies: number[] = [];
  const controls: number[] = [];
  const agentName = (index: number) => `sharing-agent-${index}`;
  const fresh = (what: string): string => {
    names += 1;
    return `${what}-${names}`;
  };

  beforeAll(async () => {
    database = await openDatabase({ url: service.databaseUrl, migrate: false });
    other = await startService({ DATABASE_URL: service.databaseUrl });
    elsewhere = restClient(other.url);
    for (let index = 1; index <= AGENTS; index += 1) await seed.agent(agentName(index));
    for (let index = 0; index < CONTROLS; index += 1) {
      controls.push(await seed.control(fresh('control'), denyWord(WORDS[index % WORDS.length] ?? '')));
    }
    for (let index = 0; index < POLICIES; index += 1) {
      const reply = await call('PUT', '/api/v1/policies', { name: fresh('policy') });
      policies.push(reply.body.policy_id as number);
    }
  });
  afterAll(async () => {
    await other?.stop();
    await database?.close();
  });

  /** Runs a command and returns the revision that it reports. */
  async function run(one: Command): Promise<number> {
    const id = controls[one.control ?? 0] ?? 0;
    const ofAgent = `/api/v1/agents/${one.name ?? agentName(one.agent ?? 1)}`;
    const ofPolicy = `/api/v1/policies/${policies[one.policy ?? 0]}/controls/${id}`;
    const given: Record<string, () => ReturnType<RestClient>> = {
      link: () => call('POST', `${ofAgent}/controls/${id}`),
      unlink: () => call('DELETE', `${ofAgent}/controls/${id}`),
      assign: () => call('POST', `${ofAgent}/policies/${policies[one.policy ?? 0]}`),
      take: () => call('DELETE', `${ofAgent}/policies/${policies[one.policy ?? 0]}`),
      put: () => call('POST', ofPolicy),
      remove: () => call('DELETE', ofPolicy),
      define: () => call('PUT', `/api/v1/controls/${id}/data`, { data: denyWord(one.word ?? '') }),
      rename: () => call('PATCH', `/api/v1/controls/${id}`, { name: fresh('control') }),
      switch: () => call('PATCH', `/api/v1/controls/${id}`, { enabled: one.enabled }),
      delete: () => call('DELETE', `/api/v1/controls/${id}?force=true`),
    };
    const reply = await (given[one.kind] as () => ReturnType<RestClient>)();
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    if (one.kind === 'delete') {
      controls[one.control ?? 0] = await seed.control(
        fresh('control'),
        denyWord(WORDS[names % WORDS.length] ?? ''),
      );
    }
    return Number(reply.headers.get('x-service-revision'));
  }

  /** The verdict of a program that is made from the stored controls of the agent, and of nothing else. */
  async function expected(name: string, text: string): Promise<Verdict> {
    const { controls: stored } = await createAgentControlStore(scoped(database.client)).stateOf(name);
    const inputs = (stored ?? []).map(({ id, name: of, data }) => ({
      id,
      name: of,
      definition: parseStoredJson(data),
    }));
    const step = { type: 'llm', name: 'answer', input: text, output: null, context: null };
    return compileProgram(inputs, options).evaluate(step, 'pre', 'verdict');
  }

  const told = (items: unknown) =>
    (items as { control_id: number; control_name: string; action: string }[]).map(
      ({ control_id, control_name, action }) => ({ control_id, control_name, action }),
    );

  async function check(from: RestClient, revision: number): Promise<void> {
    for (let index = 1; index <= AGENTS; index += 1) {
      const text = `${WORDS[index % WORDS.length]} ${WORDS[(index + 1) % WORDS.length]}`;
      const name = agentName(index);
      const step = { type: 'llm', name: 'answer', input: text };
      const { status, body, headers } = await untilServed(() =>
        from(
          'POST',
          '/api/v1/evaluation',
          { agent_name: name, stage: 'pre', step },
          { 'x-service-min-revision': String(revision) },
        ),
      );
      expect(status, JSON.stringify(body)).toBe(200);
      const verdict = await expected(name, text);
      expect(told(body.matches)).toEqual(told(verdict.matches));
      expect(body.is_safe).toBe(verdict.is_safe);
      expect(body.errors).toEqual([]);
      expect(Number(headers.get('x-service-revision'))).toBeGreaterThanOrEqual(revision);
    }
  }

  it('decide as programs would that are made for each of them, here and in another process', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 4, maxLength: 12 }), async (commands) => {
        for (const one of commands) await check(call, await run(one as Command));
        await check(elsewhere, await database.revision());
      }),
      { numRuns: generatedCases(12) },
    );
  });

  it('hold one program for each set of controls, not for each agent', async () => {
    const read = async (name: string): Promise<number> => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(new RegExp(`_${name}(?:\\{[^}]*\\})? (\\d+)`).exec(text)?.[1]);
    };
    const [agents, sets] = [await read('snapshot_agents'), await read('snapshot_control_sets')];
    for (let index = 1; index <= 5; index += 1) {
      const name = `same-links-agent-${index}`;
      await seed.agent(name);
      await run({ kind: 'assign', name, policy: 0 });
      await evaluate(call, name, 'apple');
    }
    expect(await read('snapshot_agents')).toBe(agents + 5);
    expect(await read('snapshot_control_sets')).toBeLessThanOrEqual(sets + 1);
  });
});
