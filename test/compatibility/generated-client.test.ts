import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeOnSqlite } from '../support/databases.js';
import { exchange } from '../support/http.js';
import { denyWord } from '../support/seed.js';
import type { TestService } from '../support/service.js';
import { ClientError, type GeneratedClient, generatedClient, type ReplyOf } from './generated-client.js';
import { PROBLEM } from './replies.js';
import { ROUTE_NAMES } from './routes.js';
import { ADMIN_KEY, READER_KEY, startDeployed, WORDS_TEMPLATE } from './world.js';

const AGENT = 'generated-agent-01';
const NO_CHANGES = {
  metadata_changed: false,
  steps_added: [],
  steps_updated: [],
  steps_removed: [],
  evaluators_added: [],
  evaluators_updated: [],
  evaluators_removed: [],
  evaluator_removals: [],
};

/** A registration with every default written out. */
const registration = (more: object = {}) => ({
  agent: {
    agent_name: AGENT,
    agent_description: null,
    agent_created_at: null,
    agent_updated_at: null,
    agent_version: '1.0',
    agent_metadata: { team: 'billing' },
  },
  steps: [
    {
      type: 'tool',
      name: 'refund',
      description: null,
      input_schema: null,
      output_schema: null,
      metadata: null,
    },
    { type: 'llm', name: 'answer', input_schema: { type: 'object' }, output_schema: {}, metadata: {} },
  ],
  evaluators: [{ name: 'tone', config_schema: { type: 'object' }, description: null }],
  force_replace: false,
  conflict_mode: 'overwrite',
  ...more,
});

/** A definition with every default written out. */
const definition = (pattern: string) => ({
  description: null,
  enabled: true,
  execution: 'server',
  scope: { step_types: null, step_names: null, step_name_regex: null, stages: null },
  condition: {
    selector: { path: 'input' },
    evaluator: { name: 'regex', config: { pattern, flags: null } },
    and: null,
    or: null,
    not: null,
  },
  action: { decision: 'deny', steering_context: null },
  tags: [],
  template: null,
  template_values: null,
});

const event = (controlId: number, id: string, more: object = {}) => ({
  control_execution_id: id,
  trace_id: 'trace-1',
  span_id: 'span-1',
  agent_name: AGENT,
  control_id: controlId,
  control_name: 'no-secrets',
  check_stage: 'pre',
  applies_to: 'llm_call',
  action: 'deny',
  matched: true,
  confidence: 1,
  timestamp: new Date().toISOString(),
  execution_duration_ms: 2.5,
  evaluator_name: 'regex',
  selector_path: 'input',
  error_message: null,
  metadata: {},
  ...more,
});

describeOnSqlite('the generated TypeScript client', (freshDatabaseUrl) => {
  let service: TestService;
  let client: GeneratedClient;
  let call: GeneratedClient['call'];
  beforeAll(async () => {
    service = await startDeployed(await freshDatabaseUrl());
    client = generatedClient(service.url, ADMIN_KEY);
    call = client.call;
  });
  afterAll(() => service.stop());

  let control: number;
  let policy: number;
  const agent = { agent: AGENT };

  it('finds a healthy service that requires keys', async () => {
    expect(await call('health')).toMatchObject({ status: 'healthy' });
    expect(await call('config')).toEqual({
      requires_api_key: true,
      auth_mode: 'api-key',
      has_active_session: true,
    });
  });

  it('registers an agent, and changes it', async () => {
    expect(await call('initAgent', { body: registration() })).toEqual({
      created: true,
      controls: [],
      overwrite_applied: false,
      overwrite_changes: NO_CHANGES,
    });
    const steps = [{ type: 'llm', name: 'answer', input_schema: { type: 'object' } }];
    const evaluators = [{ name: 'length', config_schema: {}, description: 'how long' }];
    expect(await call('initAgent', { body: registration({ steps, evaluators }) })).toMatchObject({
      created: false,
      overwrite_applied: true,
      overwrite_changes: {
        metadata_changed: false,
        steps_added: [],
        steps_updated: [{ type: 'llm', name: 'answer' }],
        steps_removed: [{ type: 'tool', name: 'refund' }],
        evaluators_added: ['length'],
        evaluators_updated: [],
        evaluators_removed: ['tone'],
        evaluator_removals: [
          { name: 'tone', referenced_by_active_controls: false, control_ids: [], control_names: [] },
        ],
      },
    });
    expect(await call('getAgent', { path: agent })).toMatchObject({
      agent: { agent_name: AGENT, agent_version: '1.0', agent_metadata: { team: 'billing' } },
      steps: [{ type: 'llm', name: 'answer', output_schema: null }],
      evaluators: [{ name: 'length', config_schema: {}, description: 'how long' }],
    });
  });

  it('reads the evaluators of the agent and of the service', async () => {
    const length = { name: 'length', description: 'how long', config_schema: {} };
    const query = { limit: 20 };
    expect(await call('listAgentEvaluators', { path: agent, query })).toEqual({
      evaluators: [length],
      pagination: { limit: 20, total: 1, next_cursor: null, has_more: false },
    });
    expect(await call('getAgentEvaluator', { path: { ...agent, evaluator: 'length' } })).toEqual(length);
    const evaluators = await call('listEvaluators');
    for (const name of ['regex', 'list', 'json'])
      expect(evaluators[name]).toMatchObject({ name, version: '1.0.0' });
  });

  it('validates, creates, reads, changes and renames a control', async () => {
    await call('validateControl', { body: { data: definition('secret') } });
    const body = { name: 'no-secrets', data: definition('secret') };
    control = (await call('createControl', { body })).control_id;
    const path = { control };
    expect(await call('getControl', { path })).toMatchObject({
      id: control,
      name: 'no-secrets',
      data: { description: null, enabled: true, tags: [], scope: { stages: null }, template: null },
    });
    await call('setControlData', { path, body: { data: { ...definition('hush'), tags: ['pii'] } } });
    const { data } = await call('getControlData', { path });
    expect(data).toEqual({
      condition: {
        selector: { path: 'input' },
        evaluator: { name: 'regex', config: { pattern: 'hush', flags: null } },
      },
      enabled: true,
      execution: 'server',
      scope: {},
      action: { decision: 'deny' },
      tags: ['pii'],
    });
    expect(await call('patchControl', { path, body: { name: 'no-hush', enabled: null } })).toMatchObject({
      name: 'no-hush',
      enabled: true,
    });
    expect(await call('patchControl', { path, body: { name: null, enabled: false } })).toMatchObject({
      name: 'no-hush',
      enabled: false,
    });
    await call('patchControl', { path, body: { enabled: true } });
    const { schema } = await call('controlSchema');
    expect([...schema.required].sort()).toEqual(['action', 'condition', 'execution']);
  });

  it('links the control, and sees a step denied', async () => {
    const step = { type: 'llm', name: 'answer', input: 'hush now', output: null, context: null };
    const body = { agent_name: AGENT, step, stage: 'pre' };
    expect(await call('evaluate', { body })).toMatchObject({ is_safe: true, confidence: 1, matches: [] });
    await call('linkControl', { path: { ...agent, control } });
    expect(await call('evaluate', { body })).toMatchObject({
      is_safe: false,
      confidence: 1,
      matches: [{ control_id: control, control_name: 'no-hush', action: 'deny', result: { matched: true } }],
      errors: [],
    });
    const query = { rendered_state: 'rendered', enabled_state: 'enabled' };
    const { controls } = await call('listAgentControls', { path: agent, query });
    expect(controls).toMatchObject([{ id: control, name: 'no-hush' }]);
    expect(await call('unlinkControl', { path: { ...agent, control } })).toEqual({
      success: true,
      removed_direct_association: true,
      control_still_active: false,
    });
    expect(await call('evaluate', { body })).toMatchObject({ is_safe: true });
  });

  it('works with policies, the singular routes of old included', async () => {
    policy = (await call('createPolicy', { body: { name: 'standard' } })).policy_id;
    const other = (await call('createPolicy', { body: { name: 'other' } })).policy_id;
    await call('addPolicyControl', { path: { policy, control } });
    expect(await call('listPolicyControls', { path: { policy } })).toEqual({ control_ids: [control] });
    await call('addAgentPolicy', { path: { ...agent, policy } });
    await call('addAgentPolicy', { path: { ...agent, policy: other } });
    expect(await call('listAgentPolicies', { path: agent })).toEqual({ policy_ids: [policy, other] });
    expect(await call('unlinkControl', { path: { ...agent, control } })).toEqual({
      success: true,
      removed_direct_association: false,
      control_still_active: true,
    });
    await call('removeAgentPolicy', { path: { ...agent, policy: other } });
    expect(await call('getAgentPolicy', { path: agent })).toEqual({ policy_id: policy });
    expect(await call('assignPolicy', { path: { ...agent, policy: other } })).toEqual({
      success: true,
      old_policy_id: policy,
    });
    await call('unassignPolicy', { path: agent });
    expect(await call('assignPolicy', { path: { ...agent, policy } })).toEqual({
      success: true,
      old_policy_id: null,
    });
    await call('removeAgentPolicies', { path: agent });
    expect(await call('listAgentPolicies', { path: agent })).toEqual({ policy_ids: [] });
    await call('removePolicyControl', { path: { policy, control } });
    expect(await call('listPolicyControls', { path: { policy } })).toEqual({ control_ids: [] });
  });

  it('renders a template', async () => {
    const body = { template: WORDS_TEMPLATE, template_values: { words: ['alpha'] } };
    const { control: rendered } = await call('renderTemplate', { body });
    expect(rendered).toMatchObject({ enabled: true, template_values: { words: ['alpha'] } });
  });

  it('pages through lists by the cursor it was given', async () => {
    for (const name of ['generated-agent-02', 'generated-agent-03']) {
      await call('initAgent', { body: registration({ agent: { agent_name: name } }) });
    }
    for (const name of ['page-1', 'page-2']) {
      await call('createControl', { body: { name, data: denyWord('x') } });
    }
    const agents: string[] = [];
    const controls: number[] = [];
    const after = (last: string | null) => (last === null ? {} : { cursor: last });
    let cursor: string | null = null;
    do {
      const page: ReplyOf<'listAgents'> = await call('listAgents', { query: { limit: 1, ...after(cursor) } });
      expect(page.pagination).toMatchObject({ limit: 1, total: 3 });
      agents.push(...page.agents.map((one) => one.agent_name));
      cursor = page.pagination.next_cursor;
    } while (cursor !== null);
    cursor = null;
    do {
      const page: ReplyOf<'listControls'> = await call('listControls', {
        query: { limit: 2, ...after(cursor) },
      });
      expect(page.pagination).toMatchObject({ limit: 2, total: 3 });
      controls.push(...page.controls.map((one) => one.id));
      cursor = page.pagination.next_cursor;
    } while (cursor !== null);
    expect(agents).toEqual(['generated-agent-03', 'generated-agent-02', AGENT]);
    expect(controls).toEqual([...controls].sort((a, b) => b - a));
    expect(new Set(controls).size).toBe(3);
    expect(controls).toContain(control);
  });

  it('sends events, finds them and reads what they add up to', async () => {
    expect(await call('observabilityStatus')).toEqual({
      status: 'ok',
      ingestor_initialized: true,
      store_initialized: true,
    });
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    // Kept apart from what the service recorded about the agent by itself.
    const sender = { agent_name: 'generated-sender-01' };
    const events = [
      event(control, first, sender),
      event(control, second, { ...sender, matched: false }),
      event(control, third, {
        ...sender,
        matched: false,
        error_message: 'gone',
        execution_duration_ms: null,
      }),
    ];
    expect(await call('ingestEvents', { body: { events } })).toEqual({
      received: 3,
      enqueued: 3,
      dropped: 0,
      status: 'queued',
    });
    const filter = { ...sender, matched: true, limit: 100, offset: 0 };
    expect(await call('queryEvents', { body: filter })).toMatchObject({
      events: [{ control_execution_id: first, metadata: {}, error_message: null }],
      total: 1,
      limit: 100,
      offset: 0,
    });
    const query = { ...sender, time_range: '5m', include_timeseries: true };
    const counts = { execution_count: 3, match_count: 1, non_match_count: 1, error_count: 1 };
    const stats = await call('stats', { query });
    expect(stats).toMatchObject({
      totals: { ...counts, action_counts: { deny: 1 } },
      controls: [{ control_id: control, ...counts, deny_count: 1, steer_count: 0, avg_duration_ms: 2.5 }],
    });
    expect(stats.totals.timeseries).toHaveLength(10);
    const ofControl = { path: { control }, query: { ...query, include_timeseries: false } };
    expect(await call('controlStats', ofControl)).toMatchObject({
      control_id: control,
      control_name: 'no-secrets',
      stats: { ...counts, timeseries: null },
    });
  });

  it('removes what it registered', async () => {
    const body = { remove_steps: [{ type: 'llm', name: 'answer' }], remove_evaluators: ['length', 'none'] };
    expect(await call('patchAgent', { path: agent, body })).toEqual({
      steps_removed: [{ type: 'llm', name: 'answer' }],
      evaluators_removed: ['length'],
    });
    await call('addPolicyControl', { path: { policy, control } });
    await call('linkControl', { path: { ...agent, control } });
    expect(await call('deleteControl', { path: { control }, query: { force: true } })).toMatchObject({
      success: true,
      dissociated_from: [policy],
      dissociated_from_policies: [policy],
      dissociated_from_agents: [AGENT],
    });
    await expect(call('getControl', { path: { control } })).rejects.toMatchObject({
      answer: { status: 404 },
    });
  });

  it('signs in and out', async () => {
    expect(await call('login', { body: { api_key: ADMIN_KEY } })).toEqual({
      authenticated: true,
      is_admin: true,
    });
    expect(await call('logout')).toBeUndefined();
  });

  it('receives the reason why a call is refused, with status and body', async () => {
    const reader = generatedClient(service.url, READER_KEY);
    const forbidden = await reader.call('createPolicy', { body: { name: 'x' } }).catch((error) => error);
    expect(forbidden).toBeInstanceOf(ClientError);
    expect(forbidden).toMatchObject({ kind: 'refused', answer: { status: 403 } });
    const invalid = await call('createControl', { body: { name: 7 } }).catch((error) => error);
    expect(invalid).toMatchObject({ kind: 'refused', answer: { status: 422 } });
    for (const { answer } of [forbidden, invalid]) {
      expect(answer.headers['content-type']).toMatch(/^application\/json\b/);
      expect(PROBLEM.parse(answer.json).status).toBe(answer.status);
    }
  });

  it('reads the version of the service on every reply, errors included', async () => {
    for (const path of ['/health', '/api/v1/agents', '/api/v1/controls/0', '/nothing']) {
      const answer = await exchange(service.url, { path, headers: { 'x-api-key': ADMIN_KEY } });
      expect(answer.headers['x-service-server-version']).toMatch(/^7\.\d+\.\d+$/);
    }
  });

  it('has called every route of the API by now', () => {
    expect(ROUTE_NAMES).toHaveLength(41);
    expect(ROUTE_NAMES.filter((route) => !client.used.has(route))).toEqual([]);
  });
});
