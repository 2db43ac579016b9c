import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestReply, restClient } from '../support/http.js';
import { createKeysFile, type KeyEntry } from '../support/keys-file.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const OPERATOR: KeyEntry = { name: 'operator', key: 'the-operator-key-1', role: 'operator' };
const A: KeyEntry = { name: 'a', key: 'the-key-of-team-a1', role: 'admin', namespace: 'team-a' };
const B: KeyEntry = { name: 'b', key: 'the-key-of-team-b1', role: 'admin', namespace: 'team-b' };
const DEFAULT: KeyEntry = { name: 'default', key: 'the-default-key-01', role: 'admin' };
/** Names of the same length. */
const AGENT = 'billing-bot-1';
const MISSING = 'missing-bot-1';
const MISSING_ID = 987_654;
const JUDGE = { name: 'judge', config_schema: { type: 'object' } };

const withEvaluator = (agent: string) => ({
  ...denyWord('x'),
  condition: { selector: { path: 'input' }, evaluator: { name: `${agent}:judge`, config: {} } },
});

interface Ids {
  readonly control: number;
  readonly deleted: number;
  readonly policy: number;
}

describeAboveStores('agents, controls and policies of a namespace', (freshDatabaseUrl) => {
  const keys = createKeysFile([OPERATOR, A, B, DEFAULT]);
  let service: TestService;
  let ofA: Ids;
  const as = ({ key = '' }: KeyEntry) => restClient(service.url, { 'x-api-key': key });
  const demand = async (reply: Promise<RestReply>) => {
    const { status, body } = await reply;
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  };

  /** An agent with an evaluator, a label, a linked control, and a policy for every agent with it. */
  async function fill(owner: KeyEntry, word: string): Promise<Ids> {
    const call = as(owner);
    const seed = seeder(call);
    const control = await seed.control('the-control', denyWord(word));
    const deleted = await seed.control('the-deleted-one', denyWord(word));
    await demand(call('DELETE', `/api/v1/controls/${deleted}`));
    const { policy_id: policy } = await demand(call('PUT', '/api/v1/policies', { name: 'the-policy' }));
    await demand(call('POST', `/api/v1/policies/${policy}/controls/${control}`));
    await demand(call('PATCH', `/api/v1/policies/${policy}`, { every_agent: true }));
    await seed.agent(AGENT, {
      agent: { agent_name: AGENT, agent_metadata: { team: word } },
      evaluators: [JUDGE],
      steps: [{ type: 'tool', name: `step-${word}` }],
    });
    await seed.link(AGENT, control);
    return { control, deleted, policy };
  }

  beforeAll(async () => {
    service = await startService({ ...keys.environment, DATABASE_URL: await freshDatabaseUrl() });
    const operator = as(OPERATOR);
    for (const namespace of ['team-a', 'team-b']) {
      await demand(operator('POST', '/api/v1/namespaces', { name: namespace, display_name: namespace }));
    }
    ofA = await fill(A, 'alpha');
  });
  afterAll(async () => {
    await service?.stop();
    keys.remove();
  });

  /** What a reply tells, whatever was asked for. */
  const told = ({ status, body }: RestReply, { control, deleted, policy }: Ids, agent: string) => {
    const text = JSON.stringify({ ...body, metadata: undefined, instance: undefined });
    const ids = new RegExp(`\\b(?:${control}|${deleted}|${policy})\\b`, 'g');
    return `${status} ${text.replaceAll(agent, 'AGENT').replace(ids, 'ID')}`;
  };
  const NONE: Ids = { control: MISSING_ID, deleted: MISSING_ID, policy: MISSING_ID };

  type Call = (ids: Ids, agent: string) => [method: string, path: string, body?: object];
  const CALLS: Readonly<Record<string, Call>> = {
    'an agent': (_ids, agent) => ['GET', `/api/v1/agents/${agent}`],
    'its controls': (_ids, agent) => ['GET', `/api/v1/agents/${agent}/controls`],
    'its policies': (_ids, agent) => ['GET', `/api/v1/agents/${agent}/policies`],
    'its evaluators': (_ids, agent) => ['GET', `/api/v1/agents/${agent}/evaluators`],
    'an agent that is deleted': (_ids, agent) => ['DELETE', `/api/v1/agents/${agent}`],
    'an agent that is changed': (_ids, agent) => ['PATCH', `/api/v1/agents/${agent}`, { remove_steps: [] }],
    'agents after it': (_ids, agent) => ['GET', `/api/v1/agents?cursor=${agent}`],
    'a control': ({ control }) => ['GET', `/api/v1/controls/${control}`],
    'its definition': ({ control }) => ['GET', `/api/v1/controls/${control}/data`],
    'its new definition': ({ control }) => [
      'PUT',
      `/api/v1/controls/${control}/data`,
      { data: denyWord('x') },
    ],
    'a control that is changed': ({ control }) => [
      'PATCH',
      `/api/v1/controls/${control}`,
      { enabled: false },
    ],
    'its versions': ({ control }) => ['GET', `/api/v1/controls/${control}/versions`],
    'a version': ({ control }) => ['GET', `/api/v1/controls/${control}/versions/1`],
    'a version of a deleted control': ({ deleted }) => ['GET', `/api/v1/controls/${deleted}/versions/1`],
    'versions of a deleted control': ({ deleted }) => ['GET', `/api/v1/controls/${deleted}/versions`],
    'a restored version': ({ control }) => ['POST', `/api/v1/controls/${control}/versions/1/restore`],
    'agents of a control': ({ control }) => ['GET', `/api/v1/controls/${control}/agents`],
    'policies of a control': ({ control }) => ['GET', `/api/v1/controls/${control}/policies`],
    'a control that is deleted': ({ control }) => ['DELETE', `/api/v1/controls/${control}?force=true`],
    'controls of an agent': (_ids, agent) => ['GET', `/api/v1/controls?agent_name=${agent}`],
    'a policy': ({ policy }) => ['GET', `/api/v1/policies/${policy}`],
    'its members': ({ policy }) => ['GET', `/api/v1/policies/${policy}/controls`],
    'its agents': ({ policy }) => ['GET', `/api/v1/policies/${policy}/agents`],
    'a policy that is renamed': ({ policy }) => ['PATCH', `/api/v1/policies/${policy}`, { name: 'x' }],
    'a policy that is deleted': ({ policy }) => ['DELETE', `/api/v1/policies/${policy}?force=true`],
    'an agent of a control': ({ control }) => ['GET', `/api/v1/agents?control_id=${control}`],
    'an agent of a policy': ({ policy }) => ['GET', `/api/v1/agents?policy_id=${policy}`],
    'a reference to an evaluator': (_ids, agent) => [
      'PUT',
      '/api/v1/controls',
      { name: 'refers', data: withEvaluator(agent) },
    ],
    'a step that is evaluated': (_ids, agent) => [
      'POST',
      '/api/v1/evaluation',
      { agent_name: agent, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'alpha' } },
    ],
    'a step that is explained': (_ids, agent) => [
      'POST',
      '/api/v1/evaluation/explain',
      { agent_name: agent, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'alpha' } },
    ],
  };

  it.each(Object.entries(CALLS))('are as what does not exist to another one: %s', async (_name, call) => {
    for (const other of [B, DEFAULT]) {
      const foreign = await as(other)(...call(ofA, AGENT));
      const missing = await as(other)(...call(NONE, MISSING));
      expect(told(foreign, ofA, AGENT)).toBe(told(missing, NONE, MISSING));
      // Not because there is no such route.
      expect(foreign.body.error_code).not.toBe('RESOURCE_NOT_FOUND');
    }
  });

  it('cannot be linked to those of another one', async () => {
    const other = as(B);
    const seed = seeder(other);
    const own = { agent: 'support-bot-1', control: await seed.control('of-b') };
    await seed.agent(own.agent);
    const { policy_id: policy } = await demand(other('PUT', '/api/v1/policies', { name: 'of-b' }));
    const links = (ids: Ids, agent: string): [string, string, object?][] => [
      ['POST', `/api/v1/agents/${own.agent}/controls/${ids.control}`],
      ['DELETE', `/api/v1/agents/${own.agent}/controls/${ids.control}`],
      ['POST', `/api/v1/agents/${agent}/controls/${own.control}`],
      ['POST', `/api/v1/agents/${own.agent}/policies/${ids.policy}`],
      ['POST', `/api/v1/agents/${own.agent}/policy/${ids.policy}`],
      ['POST', `/api/v1/agents/${agent}/policies/${policy}`],
      ['POST', `/api/v1/policies/${policy}/controls/${ids.control}`],
      ['DELETE', `/api/v1/policies/${policy}/controls/${ids.control}`],
      ['POST', `/api/v1/policies/${ids.policy}/controls/${own.control}`],
      ['POST', `/api/v1/policies/${policy}/agents`, { agent_names: [agent] }],
    ];
    const missing = links(NONE, MISSING);
    for (const [at, request] of links(ofA, AGENT).entries()) {
      const refused = await other(...request);
      expect(refused.status).not.toBe(200);
      expect(refused.body.error_code).not.toBe('RESOURCE_NOT_FOUND');
      expect(told(refused, ofA, AGENT)).toBe(told(await other(...(missing[at] ?? request)), NONE, MISSING));
    }
    // No policy for every agent came from another namespace.
    expect(await demand(other('GET', `/api/v1/agents/${own.agent}/policies`))).toMatchObject({
      policy_ids: [],
    });
    await demand(other('DELETE', `/api/v1/agents/${own.agent}`));
    await demand(other('DELETE', `/api/v1/controls/${own.control}`));
    await demand(other('DELETE', `/api/v1/policies/${policy}`));
  });

  it('have names that are free in every other one, and taken in their own', async () => {
    const before = told(await as(A)('GET', `/api/v1/agents/${AGENT}`), ofA, AGENT);
    for (const [owner, word] of [
      [B, 'beta'],
      [DEFAULT, 'gamma'],
    ] as const) {
      const call = as(owner);
      const ids = await fill(owner, word);
      expect(
        await call('PUT', '/api/v1/controls', { name: 'the-control', data: denyWord('x') }),
      ).toMatchObject({
        status: 409,
        body: { error_code: 'CONTROL_NAME_CONFLICT' },
      });
      expect(await call('PUT', '/api/v1/policies', { name: 'the-policy' })).toMatchObject({
        status: 409,
        body: { error_code: 'POLICY_NAME_CONFLICT' },
      });
      const controls = await demand(call('GET', '/api/v1/controls'));
      expect(controls).toMatchObject({
        controls: [{ id: ids.control, name: 'the-control', used_by_agents_count: 1 }],
        pagination: { total: 1 },
      });
      expect(controls.controls[0].used_by_agent.agent_name).toBe(AGENT);
      const policies = await demand(call('GET', '/api/v1/policies'));
      expect(policies).toMatchObject({ policies: [{ id: ids.policy, name: 'the-policy', agent_count: 1 }] });
      expect(await demand(call('GET', '/api/v1/agents'))).toMatchObject({
        agents: [{ agent_name: AGENT, policy_ids: [ids.policy], active_controls_count: 1 }],
        pagination: { total: 1 },
      });
      expect(await demand(call('GET', '/api/v1/agents?name=team-'))).toMatchObject({ agents: [] });
      expect(await demand(call('GET', '/api/v1/agents/labels'))).toEqual({
        labels: [{ name: 'team', values: [{ value: word, agent_count: 1 }] }],
      });
      // Each is decided by its own control alone.
      for (const [input, isSafe] of [
        ['alpha', true],
        [word, false],
      ] as const) {
        expect(await demand(evaluate(call, AGENT, input))).toMatchObject({ is_safe: isSafe });
      }
      const refused = await call('DELETE', `/api/v1/controls/${ids.control}`);
      expect(refused.body.errors.map(({ value }: { value: unknown }) => value)).toEqual([
        ids.policy,
        // Replies of JSON routes hide values that are texts.
        '[REDACTED]',
      ]);
      expect(await demand(call('DELETE', `/api/v1/controls/${ids.control}?force=true`))).toMatchObject({
        dissociated_from_policies: [ids.policy],
        dissociated_from_agents: [AGENT],
      });
      expect(await demand(call('DELETE', `/api/v1/policies/${ids.policy}?force=true`))).toMatchObject({
        removed_from_agents: [AGENT],
      });
    }
    expect(told(await as(A)('GET', `/api/v1/agents/${AGENT}`), ofA, AGENT)).toBe(before);
    expect(await demand(evaluate(as(A), AGENT, 'alpha'))).toMatchObject({ is_safe: false });
  });

  it('are what a definition is compared with', async () => {
    const data = { ...denyWord('x'), scope: { step_names: ['step-alpha'] } };
    const warnings = async (owner: KeyEntry) => {
      const reply = await demand(as(owner)('POST', '/api/v1/controls/validate', { data }));
      return reply.warnings.map(({ code }: { code: string }) => code);
    };
    expect(await warnings(A)).toEqual([]);
    expect(await warnings(B)).toEqual(['unregistered_step_name']);
  });
});
