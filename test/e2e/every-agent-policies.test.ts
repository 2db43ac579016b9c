import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';

const POLICIES = '/api/v1/policies';

describeService('a policy for every agent', ({ call, seed, service }) => {
  let names = 0;
  const newPolicy = async (...controlIds: number[]): Promise<number> => {
    names += 1;
    const { body } = await call('PUT', POLICIES, { name: `every-${names}` });
    for (const id of controlIds) await call('POST', `${POLICIES}/${body.policy_id}/controls/${id}`);
    return body.policy_id;
  };
  const mark = (id: number, every_agent: boolean, more: object = {}) =>
    call('PATCH', `${POLICIES}/${id}`, { every_agent, ...more });
  const isSafe = async (agent: string, input: string): Promise<boolean> => {
    const step = { type: 'llm', name: 'answer', input };
    const { body } = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage: 'pre', step });
    return body.is_safe;
  };
  const policiesOf = async (agent: string): Promise<number[]> =>
    (await call('GET', `/api/v1/agents/${agent}/policies`)).body.policy_ids;

  it('takes effect for agents that exist and for those that are registered later, however they are', async () => {
    await seed.agent('known-before-1');
    expect(await isSafe('known-before-1', 'word-one')).toBe(true);
    const id = await newPolicy(await seed.control('no-word-one', denyWord('word-one')));
    const marked = await mark(id, true);
    expect([marked.status, marked.body.policy]).toMatchObject([200, { every_agent: true, agent_count: 1 }]);
    expect(await isSafe('known-before-1', 'word-one')).toBe(false);
    const registered = await call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: 'known-later-1' },
      steps: [],
    });
    expect(registered.body).toMatchObject({ created: true, controls: [{ name: 'no-word-one' }] });
    expect(await isSafe('known-later-1', 'word-one')).toBe(false);
    expect(await isSafe('known-later-1', 'harmless')).toBe(true);
    // A program of an earlier version, which knows nothing of the mark, registers an agent.
    await executeSql(
      service.databaseUrl,
      `INSERT INTO "agents" ("name", "data", "created_at_ms") VALUES ('known-by-old-1', '{"agent":{"agent_name":"known-by-old-1"},"steps":[],"evaluators":[]}', 1)`,
    );
    await until(
      () => isSafe('known-by-old-1', 'word-one'),
      (safe) => safe === false,
    );
    await mark(id, false);
    await call('DELETE', `${POLICIES}/${id}?force=true`);
  });

  it('cannot be removed from an agent until it is for some again', async () => {
    const agent = 'keeps-it-all-1';
    await seed.agent(agent);
    const [every, other] = [await newPolicy(), await newPolicy()];
    await mark(every, true);
    await call('POST', `/api/v1/agents/${agent}/policies/${other}`);
    const refused = [
      await call('DELETE', `/api/v1/agents/${agent}/policies/${every}`),
      await call('POST', `${POLICIES}/${every}/agents/remove`, { agent_names: [agent] }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.error_code]).toEqual([409, 'POLICY_IN_USE']);
      expect(body.detail).toContain('is for every agent');
    }
    expect((await call('DELETE', `/api/v1/agents/${agent}/policies`)).status).toBe(200);
    expect(await policiesOf(agent)).toEqual([every]);
    expect((await call('POST', `/api/v1/agents/${agent}/policy/${other}`)).status).toBe(200);
    expect(await policiesOf(agent)).toEqual([every, other]);
    // Ended, it stays where it is: nothing is let through that was not before.
    expect((await mark(every, false)).body.policy).toMatchObject({ every_agent: false });
    expect(await policiesOf(agent)).toEqual([every, other]);
    expect((await call('DELETE', `/api/v1/agents/${agent}/policies/${every}`)).status).toBe(200);
    await seed.agent('comes-too-late-1');
    expect(await policiesOf('comes-too-late-1')).toEqual([]);
  });

  it('has no controls that name an evaluator of one agent', async () => {
    const agent = 'has-evaluator-1';
    await call('POST', '/api/v1/agents/initAgent', {
      agent: { agent_name: agent },
      steps: [],
      evaluators: [{ name: 'own', config_schema: {} }],
    });
    const condition = {
      selector: { path: 'input' },
      evaluator: { name: `${agent}:own`, config: {} },
    };
    const data = { execution: 'sdk', condition, action: { decision: 'deny' } };
    const control = await seed.control('of-one-agent', data);
    const [with_it, without] = [await newPolicy(control), await newPolicy()];
    const reply = await mark(with_it, true);
    expect([reply.status, reply.body.error_code]).toEqual([400, 'POLICY_CONTROL_INCOMPATIBLE']);
    expect(JSON.stringify(reply.body.errors)).toContain('of-one-agent');
    await mark(without, true);
    const added = await call('POST', `${POLICIES}/${without}/controls/${control}`);
    expect([added.status, added.body.error_code]).toEqual([400, 'POLICY_CONTROL_INCOMPATIBLE']);
    await mark(without, false);
  });

  it('is marked over gRPC as well, with or without a new name, and only once in the audit log', async () => {
    const client = createClient(PolicyService, rpcTransport('gRPC', service.url));
    const policyId = await newPolicy();
    const { policy } = await client.updatePolicy({ policyId, name: 'renamed-for-all', everyAgent: true });
    expect(policy).toMatchObject({ name: 'renamed-for-all', everyAgent: true });
    expect((await client.updatePolicy({ policyId, everyAgent: true })).policy).toMatchObject({
      everyAgent: true,
      version: policy?.version,
    });
    expect((await client.listPolicies({ name: 'renamed-for-all' })).policies[0]?.everyAgent).toBe(true);
    const { body } = await call('GET', `/api/v1/audit?resource=policy&resource_id=${policyId}`);
    expect(body.entries.map((entry: { action: string }) => entry.action)).toEqual([
      'policy.update',
      'policy.create',
    ]);
    expect(JSON.parse(body.entries[0].after)).toMatchObject({ every_agent: true, name: 'renamed-for-all' });
    const nothing = await call('PATCH', `${POLICIES}/${policyId}`, {});
    expect([nothing.status, nothing.body.errors[0].field]).toEqual([422, 'name']);
  });
});
