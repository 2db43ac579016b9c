import { beforeAll, describe, expect, it } from 'vitest';
import type { RestReply } from '../support/http.js';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { damageControl } from '../support/sql.js';

const POLICIES = '/api/v1/policies';

describeService('policies over REST', ({ call, seed, service }) => {
  const createPolicy = async (name: string): Promise<number> => {
    const reply = await call('PUT', POLICIES, { name });
    expect(reply.status).toBe(200);
    return reply.body.policy_id as number;
  };
  const ofAgent = (agentName: string, path = '') => `/api/v1/agents/${agentName}/policies${path}`;
  const legacy = (agentName: string, path = '') => `/api/v1/agents/${agentName}/policy${path}`;
  const give = (agentName: string, policyId: number) => call('POST', ofAgent(agentName, `/${policyId}`));
  const put = (policyId: number, controlId: number) =>
    call('POST', `${POLICIES}/${policyId}/controls/${controlId}`);
  const revision = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));
  const idsOf = async (agentName: string): Promise<number[]> => {
    const { body } = await call('GET', `/api/v1/agents/${agentName}/controls`);
    return (body.controls as { id: number }[]).map(({ id }) => id);
  };
  /** What deployed clients read when something is not there. */
  const expectNotFound = (reply: RestReply, kind: 'Policy' | 'Control' | 'Agent', name?: string) => {
    expect(reply.status).toBe(404);
    const { error_code, details, title, reason } = reply.body;
    expect({ error_code, details, title, reason }).toEqual({
      error_code: `${kind.toUpperCase()}_NOT_FOUND`,
      details: name === undefined ? { kind } : { name, kind },
      title: `${kind} Not Found`,
      reason: 'NotFound',
    });
  };

  describe('creating a policy', () => {
    it('gives it an id and no controls', async () => {
      const id = await createPolicy(' Fresh_1- ');
      expect((await call('GET', `${POLICIES}/${id}/controls`)).body).toEqual({ control_ids: [] });
      expect(await createPolicy('fresh_1-')).toBeGreaterThan(id);
    });

    it('refuses a name that is taken, and one of many concurrent requests gets it', async () => {
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => call('PUT', POLICIES, { name: 'wanted' })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
      const refused = replies.find(({ status }) => status === 409);
      expect(refused?.body).toMatchObject({
        title: 'Policy Name Already Exists',
        error_code: 'POLICY_NAME_CONFLICT',
        reason: 'Conflict',
        errors: [{ resource: 'Policy', field: 'name', code: 'name_conflict', value: '[REDACTED]' }],
        details: { name: 'wanted', kind: 'Policy' },
      });
    });

    it.each<[string, object, string]>([
      ['no name', {}, 'missing'],
      ['null', { name: null }, 'string_type'],
      ['a number', { name: 7 }, 'string_type'],
      ['blanks', { name: '  ' }, 'too_short'],
      ['256 characters', { name: 'x'.repeat(256) }, 'too_long'],
      ['a blank inside', { name: 'two words' }, 'string_pattern_mismatch'],
      ['a first character that is no letter or digit', { name: '_x' }, 'string_pattern_mismatch'],
      ['a NUL character', { name: 'a\u0000b' }, 'string_pattern_mismatch'],
    ])('refuses %s', async (_what, body, code) => {
      const reply = await call('PUT', POLICIES, body);
      expect(reply).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      expect(reply.body.errors).toEqual([expect.objectContaining({ field: 'name', code })]);
    });

    it('takes a name of 255 characters', async () => {
      expect(await createPolicy('y'.repeat(255))).toBeGreaterThan(0);
    });
  });

  describe('the controls of a policy', () => {
    it('are listed in the order of their ids, each once', async () => {
      const policy = await createPolicy('ordered');
      const first = await seed.control('ordered-1');
      const second = await seed.control('ordered-2');
      const replies = [await put(policy, second), await put(policy, first), await put(policy, second)];
      expect(replies.map(({ status, body }) => [status, body])).toEqual(
        replies.map(() => [200, { success: true }]),
      );
      // Repeating changes nothing, and the revision tells so.
      expect(revision(replies[2] as RestReply)).toBe(revision(replies[1] as RestReply));
      const listed = () => call('GET', `${POLICIES}/${policy}/controls`);
      expect((await listed()).body).toEqual({ control_ids: [first, second] });
      const path = `${POLICIES}/${policy}/controls/${first}`;
      const removed = await call('DELETE', path);
      expect([removed.status, removed.body]).toEqual([200, { success: true }]);
      expect((await listed()).body).toEqual({ control_ids: [second] });
      const again = await call('DELETE', path);
      expect([again.status, again.body, revision(again)]).toEqual([
        200,
        { success: true },
        revision(removed),
      ]);
    });

    it('need a policy, then a control', async () => {
      const policy = await createPolicy('both-ends');
      for (const method of ['POST', 'DELETE']) {
        expectNotFound(await call(method, `${POLICIES}/999999/controls/999998`), 'Policy', '999999');
        expectNotFound(await call(method, `${POLICIES}/${policy}/controls/999998`), 'Control', '999998');
      }
      expectNotFound(await call('GET', `${POLICIES}/999999/controls`), 'Policy', '999999');
    });

    it.each(['0', '-1', '2147483648', '99999999999999999999'])('are not found for the id %s', async (id) => {
      expectNotFound(await call('GET', `${POLICIES}/${id}/controls`), 'Policy', String(Number(id)));
      expectNotFound(await call('POST', `${POLICIES}/${id}/controls/1`), 'Policy', String(Number(id)));
    });

    it.each(['x', '1.5', '%20'])('are refused for the id %s', async (id) => {
      const reply = await call('GET', `${POLICIES}/${id}/controls`);
      expect(reply.status).toBe(422);
      expect(reply.body.errors).toEqual([expect.objectContaining({ code: 'int_parsing' })]);
    });
  });

  describe('the policies of an agent', () => {
    it('are given and taken one by one, and listed in the order of their ids', async () => {
      const agent = 'several-policies';
      await seed.agent(agent);
      const [first, second] = [await createPolicy('several-1'), await createPolicy('several-2')];
      const listed = async () => (await call('GET', ofAgent(agent))).body;
      expect(await listed()).toEqual({ policy_ids: [] });
      const given = [
        await give(agent, second),
        await give(' SEVERAL-policies', first),
        await give(agent, first),
      ];
      expect(given.map(({ status, body }) => [status, body])).toEqual(
        given.map(() => [200, { success: true }]),
      );
      expect(revision(given[2] as RestReply)).toBe(revision(given[1] as RestReply));
      expect(await listed()).toEqual({ policy_ids: [first, second] });
      for (let count = 0; count < 2; count += 1) {
        const taken = await call('DELETE', ofAgent(agent, `/${first}`));
        expect([taken.status, taken.body]).toEqual([200, { success: true }]);
        expect(await listed()).toEqual({ policy_ids: [second] });
      }
      await give(agent, first);
      for (let count = 0; count < 2; count += 1) {
        const taken = await call('DELETE', ofAgent(agent));
        expect([taken.status, taken.body]).toEqual([200, { success: true }]);
        expect(await listed()).toEqual({ policy_ids: [] });
      }
    });

    it('need an agent, then a policy', async () => {
      await seed.agent('needs-both-ends');
      for (const method of ['POST', 'DELETE']) {
        expectNotFound(await call(method, ofAgent('nobody-at-all', '/999999')), 'Agent', 'nobody-at-all');
        expectNotFound(await call(method, ofAgent('needs-both-ends', '/999999')), 'Policy', '999999');
        expectNotFound(await call(method, ofAgent('needs-both-ends', '/0')), 'Policy', '0');
      }
      expectNotFound(await call('POST', legacy('nobody-at-all', '/999999')), 'Agent', 'nobody-at-all');
      expectNotFound(await call('POST', legacy('needs-both-ends', '/999999')), 'Policy', '999999');
      for (const [method, path] of [
        ['GET', ofAgent('nobody-at-all')],
        ['DELETE', ofAgent('nobody-at-all')],
        ['GET', legacy('nobody-at-all')],
        ['DELETE', legacy('nobody-at-all')],
      ] as const) {
        expectNotFound(await call(method, path), 'Agent', 'nobody-at-all');
        const short = await call(method, path.replace('nobody-at-all', 'short'));
        expect(short.body.errors).toEqual([
          expect.objectContaining({ resource: 'Agent', field: 'agent_name', code: 'invalid_format' }),
        ]);
      }
    });

    it('are one for older clients, who see the one with the lowest id and replace all of them', async () => {
      const agent = 'legacy-agent-1';
      await seed.agent(agent);
      const ids: number[] = [];
      for (const name of ['legacy-1', 'legacy-2', 'legacy-3']) ids.push(await createPolicy(name));
      const [first = 0, second = 0, third = 0] = ids;
      expectNotFound(await call('GET', legacy(agent)), 'Policy');
      expectNotFound(await call('DELETE', legacy(agent)), 'Policy');
      const revisions: number[] = [];
      const set = async (id: number) => {
        const reply = await call('POST', legacy(agent, `/${id}`));
        revisions.push(revision(reply));
        return reply.body;
      };
      expect(await set(third)).toEqual({ success: true, old_policy_id: null });
      await give(agent, second);
      expect((await call('GET', legacy(agent))).body).toEqual({ policy_id: second });
      expect(await set(first)).toEqual({ success: true, old_policy_id: second });
      expect(await set(first)).toEqual({ success: true, old_policy_id: first });
      expect(revisions.at(-1)).toBe(revisions.at(-2));
      expect((await call('GET', ofAgent(agent))).body).toEqual({ policy_ids: [first] });
      await give(agent, third);
      const removed = await call('DELETE', legacy(agent));
      expect([removed.status, removed.body]).toEqual([200, { success: true }]);
      expect((await call('GET', ofAgent(agent))).body).toEqual({ policy_ids: [] });
    });

    it('are shown in the list of agents', async () => {
      const [first, second] = [await createPolicy('shown-1'), await createPolicy('shown-2')];
      await seed.agent('shown-agent-1');
      await seed.agent('shown-agent-2');
      await give('shown-agent-1', second);
      await give('shown-agent-1', first);
      const { body } = await call('GET', '/api/v1/agents?name=shown-agent');
      const shown = (body.agents as { agent_name: string; policy_ids: number[] }[]).map(
        ({ agent_name, policy_ids }) => [agent_name, policy_ids],
      );
      expect(Object.fromEntries(shown)).toEqual({ 'shown-agent-1': [first, second], 'shown-agent-2': [] });
    });
  });

  describe('together with links', () => {
    it('bring each control once, everywhere that controls of an agent are listed', async () => {
      const agent = 'union-agent-01';
      await seed.agent(agent);
      const [linked, both, brought] = [
        await seed.control('union-linked'),
        await seed.control('union-both'),
        await seed.control('union-brought'),
      ];
      const off = await seed.control('union-off', denyWord('bad', { enabled: false }));
      const policies = [await createPolicy('union-1'), await createPolicy('union-2')];
      await seed.link(agent, linked);
      await seed.link(agent, both);
      for (const policy of policies) {
        for (const id of [both, brought, off]) expect((await put(policy, id)).status).toBe(200);
        expect((await give(agent, policy)).status).toBe(200);
      }
      expect(await idsOf(agent)).toEqual([off, brought, both, linked]);
      const refreshed = await call('POST', '/api/v1/agents/initAgent', { agent: { agent_name: agent } });
      expect((refreshed.body.controls as { id: number }[]).map(({ id }) => id)).toEqual([
        brought,
        both,
        linked,
      ]);
      const { body } = await evaluate(call, agent, 'bad');
      expect((body.matches as { control_id: number }[]).map((match) => match.control_id)).toEqual([
        brought,
        both,
        linked,
      ]);
      const listed = await call('GET', `/api/v1/agents?name=${agent}`);
      expect(listed.body.agents[0]).toMatchObject({ policy_ids: policies, active_controls_count: 3 });
    });

    it('list which agents use a control, each once', async () => {
      const control = await seed.control('usage-control');
      const policies = [await createPolicy('usage-1'), await createPolicy('usage-2')];
      const usage = async () => {
        const { body } = await call('GET', '/api/v1/controls?name=usage-control');
        const { used_by_agent, used_by_agents_count } = body.controls[0];
        return [used_by_agent, used_by_agents_count];
      };
      for (const policy of policies) await put(policy, control);
      expect(await usage()).toEqual([null, 0]);
      // Sorted by bytes: "-" comes before "_", whatever the locale of a database says.
      for (const agent of ['usage-agent_a', 'usage-agent-b', 'usage-agent-c']) await seed.agent(agent);
      for (const policy of policies) await give('usage-agent_a', policy);
      await seed.link('usage-agent_a', control);
      expect(await usage()).toEqual([{ agent_name: 'usage-agent_a' }, 1]);
      await give('usage-agent-c', policies[1] ?? 0);
      await seed.link('usage-agent-b', control);
      expect(await usage()).toEqual([{ agent_name: 'usage-agent-b' }, 3]);
    });

    it('keep a control active when only its link is removed', async () => {
      const agent = 'still-active-1';
      await seed.agent(agent);
      await seed.agent('other-agent-of-policy');
      const control = await seed.control('still-active', denyWord('bad', { enabled: false }));
      const policy = await createPolicy('still-active');
      await put(policy, control);
      await give('other-agent-of-policy', policy);
      await seed.link(agent, control);
      const unlink = async () => (await call('DELETE', `/api/v1/agents/${agent}/controls/${control}`)).body;
      const reply = (removed: boolean, active: boolean) => ({
        success: true,
        removed_direct_association: removed,
        control_still_active: active,
      });
      // The policy of another agent is no concern of this one.
      expect(await unlink()).toEqual(reply(true, false));
      await seed.link(agent, control);
      await give(agent, policy);
      expect(await unlink()).toEqual(reply(true, true));
      expect(await unlink()).toEqual(reply(false, true));
      expect(await idsOf(agent)).toEqual([control]);
    });

    it('let a damaged control fail closed, and the reading of its agent be refused', async () => {
      const agent = 'damaged-policy-1';
      await seed.agent(agent);
      const control = await seed.control('damaged-in-policy');
      const policy = await createPolicy('damaged');
      await put(policy, control);
      await damageControl(service.databaseUrl, control, '{"execution":"server"}');
      const given = await give(agent, policy);
      expect(given).toMatchObject(problem(400, 'POLICY_CONTROL_INCOMPATIBLE'));
      expect(await idsOf(agent)).toEqual([]);
      const healthy = await seed.control('healthy-in-policy');
      await call('DELETE', `${POLICIES}/${policy}/controls/${control}`);
      await put(policy, healthy);
      expect((await give(agent, policy)).status).toBe(200);
      await put(policy, control);
      expect((await evaluate(call, agent, 'good')).body).toMatchObject({
        is_safe: false,
        errors: [{ control_id: control }],
        non_matches: [{ control_id: healthy }],
      });
      const listed = await call('GET', `/api/v1/agents/${agent}/controls`);
      expect(listed).toMatchObject(problem(422, 'CORRUPTED_DATA', { details: { name: String(control) } }));
    });
  });

  describe('with controls that an agent cannot run', () => {
    const own = (agentName: string) =>
      denyWord('bad', {
        condition: { selector: { path: 'input' }, evaluator: { name: `${agentName}:tone`, config: {} } },
      });
    const agent = 'capable-agent-1';
    const other = 'incapable-agent';
    let fitting: number;
    let mixed: number;
    beforeAll(async () => {
      await seed.agent(agent, { evaluators: [{ name: 'tone' }] });
      await seed.agent(other);
      fitting = await createPolicy('fits-every-agent');
      mixed = await createPolicy('fits-one-agent');
      await put(fitting, await seed.control('incompatible-none'));
      for (const name of ['incompatible-1', 'incompatible-2']) {
        await put(mixed, await seed.control(name, own(agent)));
      }
      await put(mixed, await seed.control('compatible-beside-them'));
    });

    it.each([
      ['adding', (path: string) => call('POST', ofAgent(other, path))],
      ['replacing by', (path: string) => call('POST', legacy(other, path))],
    ])('%s a policy names each of them and changes nothing', async (_what, request) => {
      await give(other, fitting);
      const reply = await request(`/${mixed}`);
      expect(reply).toMatchObject(problem(400, 'POLICY_CONTROL_INCOMPATIBLE', { reason: 'BadRequest' }));
      expect(reply.body.errors).toEqual(
        ['incompatible-1', 'incompatible-2'].map((name) => ({
          resource: 'Control',
          field: 'evaluator',
          code: 'incompatible',
          message: expect.stringContaining(name),
        })),
      );
      expect((await call('GET', ofAgent(other))).body).toEqual({ policy_ids: [fitting] });
      expect((await give(agent, mixed)).status).toBe(200);
    });

    it('a policy in use takes them, and is checked when it is given again', async () => {
      const policy = await createPolicy('filled-while-in-use');
      await seed.agent('surprised-agent');
      expect((await give('surprised-agent', policy)).status).toBe(200);
      expect((await put(policy, await seed.control('incompatible-3', own(agent)))).status).toBe(200);
      const again = await give('surprised-agent', policy);
      expect(again).toMatchObject(problem(400, 'POLICY_CONTROL_INCOMPATIBLE'));
      // What it cannot run fails closed.
      expect((await evaluate(call, 'surprised-agent', 'good')).body).toMatchObject({
        is_safe: false,
        errors: [{ control_name: 'incompatible-3' }],
      });
      expect((await call('DELETE', ofAgent('surprised-agent', `/${policy}`))).status).toBe(200);
      expect((await evaluate(call, 'surprised-agent', 'good')).body.is_safe).toBe(true);
    });
  });

  describe('deleting a control', () => {
    it('is refused while it is in a policy, and by force takes it out of all of them', async () => {
      const agent = 'delete-agent-01';
      await seed.agent(agent);
      const control = await seed.control('deleted-in-use');
      const policies = [await createPolicy('delete-1'), await createPolicy('delete-2')];
      for (const policy of [...policies].reverse()) await put(policy, control);
      await give(agent, policies[0] ?? 0);
      const refusedByPolicies = await call('DELETE', `/api/v1/controls/${control}`);
      expect(refusedByPolicies.status).toBe(409);
      expect(refusedByPolicies.body.errors).toHaveLength(2);
      await seed.link(agent, control);
      const refused = await call('DELETE', `/api/v1/controls/${control}`);
      expect(refused).toMatchObject(
        problem(409, 'CONTROL_IN_USE', { details: { name: 'deleted-in-use', kind: 'Control' } }),
      );
      const item = (resource: string, value: unknown) => ({
        resource,
        field: 'controls',
        code: 'control_in_use',
        message: expect.any(String),
        value,
      });
      expect(refused.body.errors).toEqual([
        ...policies.map((policy) => item('Policy', policy)),
        item('Agent', '[REDACTED]'),
      ]);
      expect((await evaluate(call, agent, 'bad')).body.is_safe).toBe(false);
      const forced = await call('DELETE', `/api/v1/controls/${control}?force=true`);
      expect(forced.body).toEqual({
        success: true,
        dissociated_from: policies,
        dissociated_from_policies: policies,
        dissociated_from_agents: [agent],
        detached_target_bindings: [],
      });
      for (const policy of policies) {
        expect((await call('GET', `${POLICIES}/${policy}/controls`)).body).toEqual({ control_ids: [] });
      }
      expect((await evaluate(call, agent, 'bad')).body).toMatchObject({ is_safe: true, non_matches: [] });
    });
  });

  it('change, all at once, what is added and taken by many', async () => {
    const agent = 'raced-policies';
    await seed.agent(agent);
    const control = await seed.control('raced-in-policies');
    const policies: number[] = [];
    for (let count = 0; count < 4; count += 1) policies.push(await createPolicy(`raced-${count}`));
    const replies = await Promise.all(
      policies.flatMap((policy) => [
        put(policy, control),
        give(agent, policy),
        put(policy, control),
        give(agent, policy),
        evaluate(call, agent, 'bad'),
      ]),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect((await call('GET', ofAgent(agent))).body).toEqual({ policy_ids: policies });
    expect((await evaluate(call, agent, 'bad')).body.matches).toHaveLength(1);
  });
});
