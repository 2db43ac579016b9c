import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { PolicyService } from '../../gen/proto/enforcement/v1/policy_service_pb.js';
import { ErrorInfoSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import type { RestClient, RestReply } from '../support/http.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { denyWord } from '../support/seed.js';
import { describeService, suiteService } from '../support/service-suite.js';

const CONTROLS = '/api/v1/controls';
const POLICIES = '/api/v1/policies';
const AGENTS = '/api/v1/agents';
const etag = (reply: RestReply) => reply.headers.get('etag');
const revision = (reply: RestReply) => reply.headers.get('x-service-revision');
/** A definition as a message. */
const data = (pattern: string) => ({
  execution: 1,
  condition: { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern } } },
  action: { decision: 1 },
});
let serial = 0;
const newName = (what: string) => `${what}-${++serial}`;

describeService('versions', ({ call, seed, service }) => {
  /** A second process of the service, as far as the database can tell. */

  const other = suiteService(() => ({ DATABASE_URL: service.databaseUrl }));
  const { call: otherCall } = other;

  const newPolicy = async (): Promise<number> =>
    (await call('PUT', POLICIES, { name: newName('policy') })).body.policy_id as number;
  const policy = async (id: number) => (await call('GET', `${POLICIES}/${id}`)).body.policy;

  describe.each(RPC_PROTOCOLS)('over %s', (protocol) => {
    const clients = () => {
      const transport = rpcTransport(protocol, service.url);
      return {
        controls: createClient(ControlService, transport),
        policies: createClient(PolicyService, transport),
        agents: createClient(AgentService, transport),
      };
    };
    /** The error of a call. */
    const failure = async (reply: Promise<unknown>): Promise<ConnectError> => {
      const error = await reply.then(
        () => null,
        (reason: unknown) => ConnectError.from(reason),
      );
      if (error === null) throw new Error('the call succeeded');
      return error;
    };
    const expectMismatch = async (reply: Promise<unknown>, current: number) => {
      const error = await failure(reply);
      expect(error.code).toBe(Code.Aborted);
      expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({
        reason: 'VERSION_MISMATCH',
        metadata: { current_version: String(current) },
      });
    };

    it('every reply about a control has the number of its newest version', async () => {
      const { controls } = clients();
      const created = await controls.createControl({ name: newName('control'), data: data('a') });
      const { controlId } = created;
      expect(created.version).toBe(1n);
      expect((await controls.getControl({ controlId })).version).toBe(1n);
      expect((await controls.updateControl({ controlId, enabled: false, ifVersion: 1n })).version).toBe(2n);
      expect((await controls.updateControl({ controlId, enabled: false })).version).toBe(2n);
      expect((await controls.setControlData({ controlId, data: data('b'), ifVersion: 2n })).version).toBe(3n);
      expect((await controls.getControlData({ controlId })).version).toBe(3n);
      const restored = await controls.restoreControlVersion({ controlId, versionNum: 1, ifVersion: 3n });
      expect([restored.version, restored.versionNum]).toEqual([4n, 4]);
      const { versions } = await controls.listControlVersions({ controlId, limit: 1 });
      expect(versions.map(({ versionNum }) => versionNum)).toEqual([4]);
      const { controls: listed } = await controls.listControls({ limit: 1 });
      expect(listed).toMatchObject([{ id: controlId, version: 4n }]);
      await expectMismatch(controls.setControlData({ controlId, data: data('c'), ifVersion: 3n }), 4);
      await expectMismatch(controls.updateControl({ controlId, name: 'late', ifVersion: 0n }), 4);
      await expectMismatch(controls.deleteControl({ controlId, ifVersion: 3n }), 4);
      await expectMismatch(controls.restoreControlVersion({ controlId, versionNum: 2, ifVersion: 5n }), 4);
      expect((await controls.deleteControl({ controlId, ifVersion: 4n })).success).toBe(true);
      // What does not exist has no version to demand.
      expect((await failure(controls.deleteControl({ controlId, ifVersion: 4n }))).code).toBe(Code.NotFound);
    });

    it('every reply about a policy has its version', async () => {
      const { policies } = clients();
      const created = await policies.createPolicy({ name: newName('policy') });
      const { policyId } = created;
      const controlId = await seed.control(newName('control'));
      expect(created.version).toBe(1n);
      expect(await policies.addPolicyControl({ policyId, controlId, ifVersion: 1n })).toMatchObject({
        version: 2n,
      });
      // Nothing changes, so neither does the version.
      expect(await policies.addPolicyControl({ policyId, controlId })).toMatchObject({ version: 2n });
      const name = newName('renamed');
      expect(await policies.updatePolicy({ policyId, name, ifVersion: 2n })).toMatchObject({
        version: 3n,
        policy: { name, version: 3n },
      });
      expect(await policies.updatePolicy({ policyId, name })).toMatchObject({ version: 3n });
      await expectMismatch(policies.removePolicyControl({ policyId, controlId, ifVersion: 2n }), 3);
      expect(await policies.removePolicyControl({ policyId, controlId, ifVersion: 3n })).toMatchObject({
        version: 4n,
      });
      expect(await policies.getPolicy({ policyId })).toMatchObject({ version: 4n, policy: { version: 4n } });
      const { policies: listed } = await policies.listPolicies({ limit: 1 });
      expect(listed).toMatchObject([{ id: policyId, version: 4n }]);
      await expectMismatch(policies.deletePolicy({ policyId, ifVersion: 1n }), 4);
      expect((await policies.deletePolicy({ policyId, ifVersion: 4n })).success).toBe(true);
    });

    it('the version of an agent counts its registrations, whatever is linked to it', async () => {
      const { agents } = clients();
      const agentName = newName('versioned-agent');
      const agent = { agentName };
      expect((await agents.initAgent({ agent, ifVersion: 0n })).version).toBe(1n);
      expect((await agents.initAgent({ agent })).version).toBe(1n);
      await expectMismatch(agents.initAgent({ agent, ifVersion: 0n }), 1);
      const steps = [{ type: 'tool', name: 'send' }];
      expect((await agents.initAgent({ agent, steps, ifVersion: 1n })).version).toBe(2n);
      expect((await agents.initAgent({ agent, steps, forceReplace: true })).version).toBe(3n);
      const controlId = await seed.control(newName('control'));
      await agents.addAgentControl({ agentName, controlId, ifVersion: 3n });
      await expectMismatch(agents.addAgentControl({ agentName, controlId, ifVersion: 2n }), 3);
      expect((await agents.getAgent({ agentName })).version).toBe(3n);
      const removed = await agents.updateAgent({ agentName, removeSteps: steps, ifVersion: 3n });
      expect(removed.version).toBe(4n);
      await expectMismatch(agents.updateAgent({ agentName, removeSteps: steps, ifVersion: 3n }), 4);
      const { agents: listed } = await agents.listAgents({ name: agentName });
      expect(listed).toMatchObject([{ agentName, version: 4n }]);
      await expectMismatch(agents.deleteAgent({ agentName, ifVersion: 3n }), 4);
      expect(await agents.deleteAgent({ agentName, ifVersion: 4n })).toMatchObject({
        removedControlsCount: 1,
      });
      await expectMismatch(agents.initAgent({ agent, ifVersion: 4n }), 0);
    });
  });

  describe('over REST', () => {
    it('are in the header ETag, and not in bodies that deployed clients know', async () => {
      const name = newName('control');
      const created = await call('PUT', CONTROLS, { name, data: denyWord('x') });
      expect([etag(created), created.body]).toEqual([
        '"1"',
        { control_id: created.body.control_id, warnings: [] },
      ]);
      const path = `${CONTROLS}/${created.body.control_id}`;
      const patched = await call('PATCH', path, { enabled: false });
      expect([etag(patched), patched.body]).toEqual(['"2"', { success: true, name, enabled: false }]);
      const read = await call('GET', path);
      expect(etag(read)).toBe('"2"');
      expect(read.body).not.toHaveProperty('version');
      expect(etag(await call('GET', `${path}/data`))).toBe('"2"');
      expect((await call('GET', `${CONTROLS}?limit=1`)).body.controls).toMatchObject([{ name }]);
      expect(JSON.stringify((await call('GET', `${CONTROLS}?limit=1`)).body)).not.toContain('"version"');
      const agent = newName('header-agent');
      const registered = await call('POST', `${AGENTS}/initAgent`, { agent: { agent_name: agent } });
      expect(etag(registered)).toBe('"1"');
      expect(registered.body).not.toHaveProperty('version');
      expect(etag(await call('GET', `${AGENTS}/${agent}`))).toBe('"1"');
    });

    it.each([
      ['the header', { 'if-match': '"1"' }, '', {}],
      ['a weak tag, as compressing proxies make it', { 'if-match': 'W/"1"' }, '', {}],
      ['any version', { 'if-match': '*' }, '', {}],
      ['the body', {}, '', { if_version: 1 }],
      ['the query', {}, '?if_version=1', {}],
      ['all of them alike', { 'if-match': '"1"' }, '?if_version=1', { if_version: 1 }],
    ])('can be demanded by %s', async (_what, headers, query, body) => {
      const id = await seed.control(newName('control'));
      const reply = await call('PATCH', `${CONTROLS}/${id}${query}`, { enabled: false, ...body }, headers);
      expect([reply.status, etag(reply), reply.headers.get('x-service-warning')]).toEqual([200, '"2"', null]);
    });

    it.each([
      ['the header', { 'if-match': '"2"' }, '', {}],
      ['the body', {}, '', { if_version: 2 }],
      ['the query', {}, '?if_version=2', {}],
    ])(
      'are a mismatch when demanded otherwise by %s, and nothing changes',
      async (_what, headers, query, body) => {
        const id = await seed.control(newName('control'));
        const before = await call('GET', `${CONTROLS}/${id}`);
        const reply = await call('PATCH', `${CONTROLS}/${id}${query}`, { enabled: false, ...body }, headers);
        expect(reply).toMatchObject({
          status: 412,
          body: {
            title: 'Version Mismatch',
            error_code: 'VERSION_MISMATCH',
            reason: 'PreconditionFailed',
            errors: [{ resource: 'Control', field: 'if_version', code: 'version_mismatch', value: 2 }],
            details: { kind: 'Control', name: String(id) },
          },
        });
        expect(reply.body.detail).toContain('has version 1');
        expect(etag(reply)).toBe('"1"');
        expect((await call('GET', `${CONTROLS}/${id}`)).body).toEqual(before.body);
      },
    );

    it('can be demanded of routes without a body', async () => {
      const id = await newPolicy();
      const control = await seed.control(newName('control'));
      const path = `${POLICIES}/${id}/controls/${control}`;
      expect((await call('POST', `${path}?if_version=2`)).status).toBe(412);
      expect((await call('POST', path, undefined, { 'if-match': '"2"' })).status).toBe(412);
      const added = await call('POST', path, undefined, { 'if-match': '"1"' });
      expect([added.status, added.body, etag(added)]).toEqual([200, { success: true }, '"2"']);
      expect((await call('DELETE', `${path}?if_version=1`)).status).toBe(412);
      expect((await call('DELETE', `${POLICIES}/${id}`, undefined, { 'if-match': '"2"' })).status).toBe(200);
    });

    it('are told to have no effect in a body that is not read', async () => {
      const id = await newPolicy();
      const control = await seed.control(newName('control'));
      const path = `${POLICIES}/${id}/controls/${control}`;
      const told = await call('POST', path, { if_version: 7 });
      expect(told.headers.get('x-service-warning')).toBe(
        'body: this route reads no body; its members are query parameters',
      );
      expect((await call('POST', path, {})).headers.get('x-service-warning')).toBeNull();
    });

    it.each(['1', '"x"', '""', '"1", "2"', 'W/1', '"-1"', '"1"x', '"1234567890123456"', '"*"'])(
      'are refused as the header %s',
      async (tag) => {
        const id = await seed.control(newName('control'));
        const reply = await call('PATCH', `${CONTROLS}/${id}`, { enabled: false }, { 'if-match': tag });
        expect(reply.status).toBe(422);
        expect(reply.body.errors).toMatchObject([{ field: 'header.If-Match', code: 'value_error' }]);
      },
    );

    it.each<[string, object, string, string]>([
      ['a negative number', { if_version: -1 }, 'if_version', 'greater_than_equal'],
      ['a fraction', { if_version: 1.5 }, 'if_version', 'int_from_float'],
      ['a text', { if_version: 'one' }, 'if_version', 'int_parsing'],
      ['an object', { if_version: {} }, 'if_version', 'int_type'],
      ['a number beyond 2^53', { if_version: 2 ** 60 }, 'if_version', 'less_than_equal'],
    ])('are refused as %s', async (_what, body, field, code) => {
      const id = await seed.control(newName('control'));
      const reply = await call('PATCH', `${CONTROLS}/${id}`, { enabled: false, ...body });
      expect(reply.status).toBe(422);
      expect(reply.body.errors).toMatchObject([{ field, code }]);
    });

    it('are refused if header and request contradict each other', async () => {
      const id = await seed.control(newName('control'));
      const body = { enabled: false, if_version: 1 };
      const reply = await call('PATCH', `${CONTROLS}/${id}`, body, { 'if-match': '"2"' });
      expect(reply.status).toBe(422);
      expect(reply.body.errors).toMatchObject([{ field: 'header.If-Match', code: 'value_error' }]);
    });

    it('demand with * that an agent is registered already', async () => {
      const body = { agent: { agent_name: newName('any-version-agent') } };
      const init = () => call('POST', `${AGENTS}/initAgent`, body, { 'if-match': '*' });
      expect((await init()).status).toBe(412);
      await call('POST', `${AGENTS}/initAgent`, body);
      expect((await init()).status).toBe(200);
    });

    it('leave the revision as it is when they do not match', async () => {
      const id = await newPolicy();
      const before = await call('PATCH', `${POLICIES}/${id}`, { name: newName('renamed') });
      expect((await call('PATCH', `${POLICIES}/${id}`, { name: 'x', if_version: 9 })).status).toBe(412);
      const after = await call('PATCH', `${POLICIES}/${id}`, { name: newName('renamed') });
      expect(Number(revision(after))).toBe(Number(revision(before)) + 1);
    });
  });

  it('of a policy increase when one of its controls is deleted', async () => {
    const id = await newPolicy();
    const control = await seed.control(newName('control'));
    await call('POST', `${POLICIES}/${id}/controls/${control}`);
    const before = await policy(id);
    expect(before).toMatchObject({ control_ids: [control], version: 2 });
    await call('DELETE', `${CONTROLS}/${control}?force=true`);
    expect(await policy(id)).toMatchObject({ control_ids: [], version: 3 });
    const { create_time: created, update_time: updated } = await policy(id);
    expect(Date.parse(updated)).toBeGreaterThanOrEqual(Date.parse(before.update_time));
    expect(Date.parse(updated)).toBeGreaterThanOrEqual(Date.parse(created));
  });

  describe('of concurrent changes through two processes', () => {
    /** Sends each change eight times at once; the statuses, sorted. */
    const race = async (change: (by: RestClient, index: number) => Promise<RestReply>): Promise<number[]> => {
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, index) => change(index % 2 === 0 ? call : otherCall, index)),
      );
      return replies.map(({ status }) => status).sort();
    };
    const ONE_WINS = [200, ...Array(7).fill(412)];

    it('let one change of a control through', async () => {
      const id = await seed.control(newName('control'));
      const put = (by: RestClient, index: number) =>
        by('PUT', `${CONTROLS}/${id}/data`, { data: denyWord(`word-${index}`), if_version: 1 });
      expect(await race(put)).toEqual(ONE_WINS);
      expect(etag(await call('GET', `${CONTROLS}/${id}`))).toBe('"2"');
    });

    it('let one change of a policy through', async () => {
      const id = await newPolicy();
      const rename = (by: RestClient) =>
        by('PATCH', `${POLICIES}/${id}`, { name: newName('raced'), if_version: 1 });
      expect(await race(rename)).toEqual(ONE_WINS);
      const control = await seed.control(newName('control'));
      const add = (by: RestClient) =>
        by('POST', `${POLICIES}/${id}/controls/${control}`, undefined, { 'if-match': '"2"' });
      expect(await race(add)).toEqual(ONE_WINS);
    });

    it('let one registration of an agent through', async () => {
      const agent = newName('raced-agent');
      const init = (ifVersion: number) => (by: RestClient, index: number) =>
        by('POST', `${AGENTS}/initAgent`, {
          agent: { agent_name: agent, agent_version: `${ifVersion}-${index}` },
          if_version: ifVersion,
        });
      expect(await race(init(0))).toEqual(ONE_WINS);
      expect(await race(init(1))).toEqual(ONE_WINS);
    });
  });
});
