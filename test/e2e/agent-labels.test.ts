import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AgentOrder, AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';
import { until } from '../support/until.js';

const AGENTS = '/api/v1/agents';
const POLICIES = '/api/v1/policies';
const ADMIN = { 'x-api-key': 'admin-key' };
const REGULAR = { 'x-api-key': 'regular-key' };
const KEYS = {
  SERVICE_API_KEY_ENABLED: 'true',
  SERVICE_API_KEYS: 'regular-key',
  SERVICE_ADMIN_API_KEYS: 'admin-key',
};

describeService(
  'labels of agents',
  ({ call: bare, service }) => {
    type Headers = Record<string, string>;
    const call = (method: string, path: string, body?: object, headers: Headers = ADMIN) =>
      bare(method, path, body, headers);
    const register = (name: string, agent_metadata: object | null, more: object = {}, headers = ADMIN) =>
      call(
        'POST',
        `${AGENTS}/initAgent`,
        { agent: { agent_name: name, agent_metadata, ...more }, steps: [] },
        headers,
      );
    const named = async (query: string): Promise<string[]> => {
      const { status, body } = await call('GET', `${AGENTS}?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.agents.map((agent: { agent_name: string }) => agent.agent_name);
    };
    const agents = () => createClient(AgentService, rpcTransport('gRPC', service.url));
    const policies = () => createClient(PolicyService, rpcTransport('gRPC', service.url));
    const isSafe = async (agent: string, input: string): Promise<boolean> => {
      const step = { type: 'llm', name: 'answer', input };
      const { body } = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage: 'pre', step });
      return body.is_safe;
    };
    let created = 0;
    const newPolicy = async (word?: string): Promise<number> => {
      created += 1;
      const { body } = await call('PUT', POLICIES, { name: `by-labels-${created}` });
      if (word === undefined) return body.policy_id;
      const control = await call('PUT', '/api/v1/controls', { name: `no-${word}`, data: denyWord(word) });
      await call('POST', `${POLICIES}/${body.policy_id}/controls/${control.body.control_id}`);
      return body.policy_id;
    };
    const label = (id: number, ...labels: string[]) =>
      call('PATCH', `${POLICIES}/${id}`, { agent_labels: { labels } });
    const policiesOf = async (agent: string): Promise<number[]> =>
      (await call('GET', `${AGENTS}/${agent}/policies`)).body.policy_ids;
    const lastEntry = async (resource: string, id: string | number) => {
      const { body } = await call('GET', `/api/v1/audit?resource=${resource}&resource_id=${id}&limit=1`);
      return { ...body.entries[0], after: JSON.parse(body.entries[0].after) };
    };

    it('are the short texts, numbers and booleans of its metadata', async () => {
      const metadata = {
        team: 'finance',
        tier: 2,
        'exact.number': 12345678901234567000,
        production: true,
        empty: '',
        long: 'x'.repeat(256),
        'with=sign': 'no',
        nested: { team: 'other' },
        list: ['a'],
        nothing: null,
        ['n'.repeat(64)]: 'no',
      };
      await register('labelled-bot-01', metadata, { agent_description: 'Pays invoices.' });
      const labels = {
        team: 'finance',
        tier: '2',
        'exact.number': '12345678901234567000',
        production: 'true',
      };
      const { agents: listed } = await agents().listAgents({ name: 'labelled-bot-01' }, { headers: ADMIN });
      expect(listed[0]).toMatchObject({ labels, description: 'Pays invoices.' });
      expect(listed[0]?.lastEvaluatedAt).toBeUndefined();
      expect((await agents().getAgent({ agentName: 'labelled-bot-01' }, { headers: ADMIN })).labels).toEqual(
        labels,
      );
      const { body } = await call('GET', `${AGENTS}?name=labelled-bot-01`);
      expect(Object.keys(body.agents[0])).not.toContain('labels');
      const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`many-${100 + index}`, 'x']));
      await register('labelled-bot-01', many);
      const { labels: first } = await agents().getAgent({ agentName: 'labelled-bot-01' }, { headers: ADMIN });
      expect([Object.keys(first).length, first['many-131'], first['many-132']]).toEqual([32, 'x', undefined]);
    });

    it('filter lists, alone and together with what the agents have', async () => {
      await register('filter-bot-01', { team: 'legal', region: 'eu', a: 'b=c' });
      await register('filter-bot-02', { team: 'legal', region: 'us' });
      await register('filter-bot-03', { team: 'LEGAL' });
      expect(await named('labels=team=legal')).toEqual(['filter-bot-02', 'filter-bot-01']);
      expect(await named('labels=team=legal&labels=region=eu')).toEqual(['filter-bot-01']);
      expect(await named('labels=region')).toEqual(['filter-bot-02', 'filter-bot-01']);
      expect(await named('labels=a%3Db%3Dc')).toEqual(['filter-bot-01']);
      const id = await newPolicy('filtered');
      await call('POST', `${POLICIES}/${id}/agents`, { agent_names: ['filter-bot-02'] });
      const control = (await call('GET', '/api/v1/controls?name=no-filtered')).body.controls[0].id;
      expect(await named(`policy_id=${id}`)).toEqual(['filter-bot-02']);
      expect(await named(`control_id=${control}&labels=team=legal`)).toEqual(['filter-bot-02']);
      for (const unknown of ['policy_id=99999', 'control_id=-1', `control_id=${2 ** 40}`]) {
        expect(await named(unknown)).toEqual([]);
      }
      await call('DELETE', `${AGENTS}/filter-bot-03`);
      expect(await named('labels=team=LEGAL')).toEqual([]);
    });

    it('are counted with their values', async () => {
      for (const [index, value] of ['b', 'a', 'b', 'c'].entries()) {
        await register(`counted-bot-0${index}`, { counted: value });
      }
      const { labels } = await agents().listAgentLabels({}, { headers: ADMIN });
      expect(labels.map(({ name }) => name)).toEqual(labels.map(({ name }) => name).sort());
      expect(labels.find(({ name }) => name === 'counted')?.values).toMatchObject([
        { value: 'b', agentCount: 2 },
        { value: 'a', agentCount: 1 },
        { value: 'c', agentCount: 1 },
      ]);
      const { status, body } = await call('GET', `${AGENTS}/labels`, undefined, REGULAR);
      expect([status, body.labels.length]).toEqual([200, labels.length]);
    });

    it('are refused where they can be none', async () => {
      const refused = async (query: string) => {
        const { status, body } = await call('GET', `${AGENTS}?${query}`);
        return [status, body.errors[0].field];
      };
      expect(await refused('labels=%3Dvalue')).toEqual([422, 'query.labels[0]']);
      expect(await refused('labels=a=b&labels=team%3D')).toEqual([422, 'query.labels[1]']);
      expect(await refused(`labels=${'n'.repeat(64)}`)).toEqual([422, 'query.labels[0]']);
      expect(await refused(Array(11).fill('labels=a').join('&'))).toEqual([422, 'query.labels']);
      expect(await refused('order_by=age')).toEqual([422, 'query.order_by']);
      const id = await newPolicy();
      for (const labels of [['team'], ['team=a', 'team=b'], ['=x'], Array(11).fill('a=b')]) {
        const { status, body } = await label(id, ...labels);
        expect([status, body.errors[0].field]).toEqual([422, expect.stringMatching(/^agent_labels\.labels/)]);
      }
    });

    it('sort lists in pages that neither repeat nor leave out an agent', async () => {
      const names = ['sorted-bot-03', 'sorted-bot-01', 'sorted-bot-04', 'sorted-bot-02', 'sorted-bot-05'];
      for (const name of names) await register(name, { sorted: 'yes' });
      await executeSql(
        service.databaseUrl,
        `INSERT INTO "agent_activity" ("agent_name", "last_evaluated_s", "last_denied_s") VALUES
          ('sorted-bot-01', 1800000000, NULL), ('sorted-bot-02', 1800000060, 1700000000),
          ('sorted-bot-04', 1800000060, 1700000060)`,
      );
      const short = (name: string) => name.slice(-1);
      const walk = async (orderBy: AgentOrder, reverse: boolean) => {
        const found: string[] = [];
        let cursor: string | undefined = '';
        while (cursor !== undefined) {
          const page = await agents().listAgents(
            { labels: ['sorted'], orderBy, reverse, limit: 2, cursor },
            { headers: ADMIN },
          );
          found.push(...page.agents.map(({ agentName }) => short(agentName)));
          cursor = page.pagination?.nextCursor;
        }
        return found.join('');
      };
      const newest = names.map(short).reverse().join('');
      expect(await walk(AgentOrder.UNSPECIFIED, false)).toBe(newest);
      expect(await walk(AgentOrder.UNSPECIFIED, true)).toBe([...newest].reverse().join(''));
      expect(await walk(AgentOrder.NAME, false)).toBe('12345');
      expect(await walk(AgentOrder.NAME, true)).toBe('54321');
      expect(await walk(AgentOrder.LAST_EVALUATED, false)).toBe('24135');
      expect(await walk(AgentOrder.LAST_EVALUATED, true)).toBe('12435');
      expect(await walk(AgentOrder.LAST_DENIED, false)).toBe('42135');
      expect(await walk(AgentOrder.LAST_DENIED, true)).toBe('24135');
      const { agents: listed } = await agents().listAgents({ name: 'sorted-bot-02' }, { headers: ADMIN });
      const activity = { lastEvaluatedAt: '2027-01-15T08:01:00Z', lastDeniedAt: '2023-11-14T22:13:20Z' };
      expect(listed[0]).toMatchObject(activity);
      expect(await agents().getAgent({ agentName: 'sorted-bot-02' }, { headers: ADMIN })).toMatchObject(
        activity,
      );
    });

    it('give a policy to the agents that have them, those that come later included', async () => {
      await register('policy-bot-01', { team: 'pay', region: 'eu' });
      await register('policy-bot-02', { team: 'pay', region: 'us' });
      expect(await isSafe('policy-bot-01', 'word-pay')).toBe(true);
      const id = await newPolicy('word-pay');
      const { status, body } = await label(id, 'team=pay', 'region=eu');
      expect([status, body.policy]).toMatchObject([
        200,
        { agent_labels: ['region=eu', 'team=pay'], agent_count: 1 },
      ]);
      expect((await lastEntry('policy', id)).after).toMatchObject({
        agent_labels: ['region=eu', 'team=pay'],
        given_to: { agents: ['policy-bot-01'], agent_count: 1 },
        taken_from: { agents: [], agent_count: 0 },
      });
      expect(await isSafe('policy-bot-01', 'word-pay')).toBe(false);
      expect(await isSafe('policy-bot-02', 'word-pay')).toBe(true);
      const registered = await register('policy-bot-03', { team: 'pay', region: 'eu' }, {}, REGULAR);
      expect(registered.body).toMatchObject({ created: true, controls: [{ name: 'no-word-pay' }] });
      expect((await lastEntry('agent', 'policy-bot-03')).after).toMatchObject({
        given_policies: [{ policy_id: id }],
      });
      await register('policy-bot-02', { team: 'pay', region: 'eu' }, {}, REGULAR);
      expect(await isSafe('policy-bot-02', 'word-pay')).toBe(false);
      const listed = await policies().listPolicyAgents({ policyId: id }, { headers: ADMIN });
      expect(listed.agents.map(({ agentName, byLabels }) => `${agentName} ${byLabels}`)).toEqual([
        'policy-bot-01 true',
        'policy-bot-02 true',
        'policy-bot-03 true',
      ]);
      const { revision } = (await call('GET', '/api/v1/server')).body;
      expect((await label(id, 'region=eu', 'team=pay')).status).toBe(200);
      expect((await call('GET', '/api/v1/server')).body.revision).toBe(revision);
      expect((await label(id, 'region=nowhere')).body.policy.agent_count).toBe(0);
      expect((await lastEntry('policy', id)).after).toMatchObject({ taken_from: { agent_count: 3 } });
      expect(await isSafe('policy-bot-01', 'word-pay')).toBe(true);
      expect((await label(id)).body.policy.agent_labels).toEqual([]);
    });

    it('do not take a policy from an agent that a regular key registers without them', async () => {
      const [id, other] = [await newPolicy('word-keep'), await newPolicy()];
      await label(id, 'keep=yes');
      await label(other, 'keep=yes');
      const agent = 'keeping-bot-01';
      await register(agent, { keep: 'yes' }, {}, REGULAR);
      const { body } = await register(agent, { keep: 'no' }, {}, REGULAR);
      expect(body.warnings.map(({ code }: { code: string }) => code)).toEqual(['policy_kept', 'policy_kept']);
      expect(body.warnings[0]).toMatchObject({ field: 'agent.agent_metadata' });
      expect((await lastEntry('agent', agent)).after).toMatchObject({
        kept_policies: [{ policy_id: id }, { policy_id: other }],
      });
      expect(await isSafe(agent, 'word-keep')).toBe(false);
      // Without its labels it can be removed from the agent, or by setting them again.
      expect((await call('DELETE', `${AGENTS}/${agent}/policies/${other}`)).status).toBe(200);
      expect(await policiesOf(agent)).toEqual([id]);
      expect((await label(id, 'keep=yes')).body.policy.agent_count).toBe(0);
      expect(await isSafe(agent, 'word-keep')).toBe(true);
    });

    it('take a policy from an agent that an administrator registers without them', async () => {
      const [id, direct] = [await newPolicy('word-take'), await newPolicy()];
      await label(id, 'take=yes');
      await label(direct, 'take=yes');
      const agent = 'taking-bot-01';
      await register(agent, { take: 'yes' });
      const refused = [
        await call('DELETE', `${AGENTS}/${agent}/policies/${id}`),
        await call('POST', `${POLICIES}/${id}/agents/remove`, { agent_names: [agent] }),
      ];
      for (const { status, body } of refused) {
        expect([status, body.error_code]).toEqual([409, 'POLICY_IN_USE']);
        expect(body.detail).toContain('take=yes');
        expect(body.errors[0].message).toContain(agent);
      }
      expect((await call('DELETE', `${AGENTS}/${agent}/policies`)).status).toBe(200);
      expect(await policiesOf(agent)).toEqual([id, direct]);
      const added = await call('POST', `${POLICIES}/${direct}/agents`, { agent_names: [agent] });
      expect(added.body.added).toBe(1);
      const { body } = await register(agent, { take: 'no' });
      expect(body.warnings).toMatchObject([{ code: 'policy_taken' }, { code: 'policy_taken' }]);
      // What was given to the agent itself stays.
      expect(await policiesOf(agent)).toEqual([direct]);
      expect(await isSafe(agent, 'word-take')).toBe(true);
      await call('DELETE', `${AGENTS}/${agent}/policies/${direct}`);
      expect(await policiesOf(agent)).toEqual([]);
    });

    it('give no policy with controls that name an evaluator of one agent', async () => {
      const agent = 'own-evaluator-01';
      await call('POST', `${AGENTS}/initAgent`, {
        agent: { agent_name: agent },
        steps: [],
        evaluators: [{ name: 'own', config_schema: {} }],
      });
      const condition = { selector: { path: 'input' }, evaluator: { name: `${agent}:own`, config: {} } };
      const data = { execution: 'sdk', condition, action: { decision: 'deny' } };
      const { body } = await call('PUT', '/api/v1/controls', { name: 'of-one-agent', data });
      const [withIt, without] = [await newPolicy(), await newPolicy()];
      await call('POST', `${POLICIES}/${withIt}/controls/${body.control_id}`);
      const refused = [
        await label(withIt, 'team=any'),
        (await label(without, 'team=any')) &&
          (await call('POST', `${POLICIES}/${without}/controls/${body.control_id}`)),
      ];
      for (const reply of refused) {
        expect([reply.status, reply.body.error_code]).toEqual([400, 'POLICY_CONTROL_INCOMPATIBLE']);
      }
    });

    it('are read from registrations of programs that do not store them', async () => {
      const id = await newPolicy('word-old');
      await label(id, 'old=yes');
      const data =
        '{"agent":{"agent_name":"known-by-old-1","agent_metadata":{"old":"yes"}},"steps":[],"evaluators":[]}';
      await executeSql(
        service.databaseUrl,
        `INSERT INTO "agents" ("name", "data", "created_at_ms") VALUES ('known-by-old-1', '${data}', 1)`,
      );
      // Setting labels of any policy completes them at once.
      await label(await newPolicy(), 'other=yes');
      expect(await named('labels=old')).toEqual(['known-by-old-1']);
      expect(await policiesOf('known-by-old-1')).toEqual([id]);
      await until(
        () => isSafe('known-by-old-1', 'word-old'),
        (safe) => safe === false,
      );
      const { body } = await call('GET', '/api/v1/audit?action=agent.read_labels');
      expect(JSON.parse(body.entries[0].after)).toMatchObject({
        agents: ['known-by-old-1'],
        policies: { 'known-by-old-1': { given_policies: [{ policy_id: id }] } },
      });
    });
  },
  KEYS,
);
