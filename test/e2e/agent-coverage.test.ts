import { createClient } from '@connectrpc/connect';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { fewestQueries } from '../support/fewest-queries.js';
import { generatedCases } from '../support/generated-cases.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';

const AGENTS = 6;
const CONTROLS = 4;
const POLICIES = 3;
const HOUR_MS = 3_600_000;

/** Which controls are enabled, and the links of agents and policies, as pairs of positions. */
const fleet = fc.record({
  enabled: fc.array(fc.boolean(), { minLength: CONTROLS, maxLength: CONTROLS }),
  linked: pairs(AGENTS, CONTROLS),
  inPolicies: pairs(POLICIES, CONTROLS),
  given: pairs(AGENTS, POLICIES),
});

function pairs(first: number, second: number) {
  const position = (count: number) => fc.integer({ min: 0, max: count - 1 });
  return fc.uniqueArray(fc.tuple(position(first), position(second)), {
    maxLength: 5,
    selector: ([a, b]) => `${a} ${b}`,
  });
}

describeService('agents with and without controls in effect', ({ call, seed, service }) => {
  let runs = 0;
  it('are those whose number of active controls is positive, or zero', async () => {
    await fc.assert(
      fc.asyncProperty(fleet, async ({ enabled, linked, inPolicies, given }) => {
        runs += 1;
        const names = Array.from({ length: AGENTS }, (_, index) => `covered-${runs}-bot-${index}`);
        for (const name of names) await seed.agent(name);
        const controls: number[] = [];
        for (const [index, isOn] of enabled.entries()) {
          controls.push(await seed.control(`covers-${runs}-${index}`, denyWord('bad', { enabled: isOn })));
        }
        const policies: number[] = [];
        for (let index = 0; index < POLICIES; index += 1) {
          const reply = await call('PUT', '/api/v1/policies', { name: `covers-${runs}-${index}` });
          policies.push(reply.body.policy_id);
        }
        for (const [agent, control] of linked) await seed.link(names[agent] ?? '', controls[control] ?? 0);
        for (const [policy, control] of inPolicies) {
          await call('POST', `/api/v1/policies/${policies[policy]}/controls/${controls[control]}`);
        }
        for (const [agent, policy] of given) {
          await call('POST', `/api/v1/agents/${names[agent]}/policies/${policies[policy]}`);
        }
        const checks = (agent: number) =>
          [
            ...linked.filter(([one]) => one === agent).map(([, control]) => control),
            ...given
              .filter(([one]) => one === agent)
              .flatMap(([, has]) =>
                inPolicies.filter(([policy]) => policy === has).map(([, control]) => control),
              ),
          ].some((control) => enabled[control]);
        for (const wanted of [true, false]) {
          const expected = names.filter((_, agent) => checks(agent) === wanted);
          const found: string[] = [];
          for (let cursor: string | null = ''; cursor !== null; ) {
            const query = new URLSearchParams({
              name: `covered-${runs}-`,
              has_active_controls: String(wanted),
              limit: '2',
              cursor,
            });
            const { status, body } = await call('GET', `/api/v1/agents?${query}`);
            expect([status, body.pagination.total]).toEqual([200, expected.length]);
            for (const { agent_name: name, active_controls_count: count } of body.agents) {
              found.push(name);
              expect([name, count > 0]).toEqual([name, wanted]);
            }
            cursor = body.pagination.next_cursor;
          }
          expect(found.toSorted()).toEqual(expected.toSorted());
        }
      }),
      { numRuns: generatedCases(12) },
    );
  });

  it('are found over every RPC protocol, in a number of queries that the number of agents does not change', async () => {
    for (let index = 0; index < 25; index += 1) await seed.agent(`uncovered-bot-${index}`);
    const queriesOf = (limit: number) =>
      fewestQueries(service, () => call('GET', `/api/v1/agents?has_active_controls=false&limit=${limit}`));
    expect(await queriesOf(25)).toHaveLength((await queriesOf(2)).length);
    for (const protocol of RPC_PROTOCOLS) {
      const agents = createClient(AgentService, rpcTransport(protocol, service.url));
      const found = await agents.listAgents({ name: 'uncovered-', hasActiveControls: false, limit: 10 });
      expect([protocol, found.pagination?.total, found.agents.length]).toEqual([protocol, 25, 10]);
      const none = await agents.listAgents({ name: 'uncovered-', hasActiveControls: true });
      expect([protocol, none.pagination?.total]).toEqual([protocol, 0]);
    }
  });

  it('lose what a deleted control covered', async () => {
    await seed.agent('bereft-bot-01');
    const control = await seed.control('to-be-deleted');
    await seed.link('bereft-bot-01', control);
    const total = async () =>
      (await call('GET', '/api/v1/agents?name=bereft&has_active_controls=false')).body.pagination.total;
    expect(await total()).toBe(0);
    expect((await call('DELETE', `/api/v1/controls/${control}?force=true`)).status).toBe(200);
    expect(await total()).toBe(1);
  });

  it('have the time of their last use over RPCs, and not over REST', async () => {
    await seed.agent('used-last-bot');
    await seed.agent('never-used-bot');
    const usedAtMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    await executeSql(
      service.databaseUrl,
      `INSERT INTO "agent_uses" ("agent_name", "used_at_ms") VALUES ('used-last-bot', ${usedAtMs})`,
    );
    const agents = createClient(AgentService, rpcTransport('gRPC', service.url));
    const [used] = (await agents.listAgents({ name: 'used-last-bot' })).agents;
    expect(used?.lastUsedAt).toBe(new Date(usedAtMs).toISOString().slice(0, 19));
    const [never] = (await agents.listAgents({ name: 'never-used-bot' })).agents;
    expect(never?.lastUsedAt).toBeUndefined();
    const { body } = await call('GET', '/api/v1/agents?name=used-last-bot');
    expect(Object.keys(body.agents[0])).not.toContain('last_used_at');
  });

  it('refuse what is neither true nor false', async () => {
    const { status, body } = await call('GET', '/api/v1/agents?has_active_controls=some');
    expect([status, body.error_code]).toEqual([422, 'VALIDATION_ERROR']);
  });
});

describeService('the ways by which an agent has a control', ({ call, seed, service }) => {
  it('are all returned over RPCs, and REST replies stay as they are', async () => {
    const agent = 'linked-twice-bot';
    await seed.agent(agent);
    const [direct, both, byPolicy] = [
      await seed.control('direct'),
      await seed.control('both'),
      await seed.control('by-policy'),
    ];
    const policies: number[] = [];
    for (const name of ['first', 'second']) {
      policies.push((await call('PUT', '/api/v1/policies', { name })).body.policy_id);
    }
    const [first, second] = policies;
    await seed.link(agent, both);
    await seed.link(agent, direct);
    for (const control of [both, byPolicy]) {
      await call('POST', `/api/v1/policies/${second}/controls/${control}`);
    }
    for (const policy of [second, first]) await call('POST', `/api/v1/agents/${agent}/policies/${policy}`);
    for (const protocol of RPC_PROTOCOLS) {
      const transport = rpcTransport(protocol, service.url);
      const { linkedControlIds } = await createClient(AgentService, transport).getAgent({ agentName: agent });
      expect([protocol, linkedControlIds]).toEqual([protocol, [direct, both]]);
      const found = await createClient(PolicyService, transport).listAgentPolicies({ agentName: agent });
      expect(found).toMatchObject({
        policyIds: [first, second],
        policies: [
          { id: first, name: 'first', controlIds: [], agentCount: 1 },
          { id: second, name: 'second', controlIds: [both, byPolicy], agentCount: 1 },
        ],
      });
    }
    expect((await call('GET', `/api/v1/agents/${agent}/policies`)).body).toEqual({ policy_ids: policies });
    const { body } = await call('GET', `/api/v1/agents/${agent}`);
    expect(Object.keys(body)).toEqual(['agent', 'steps', 'evaluators']);
  });
});
