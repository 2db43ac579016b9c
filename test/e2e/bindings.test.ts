import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { methodNamed, PROTOCOL_NAMES, PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { errorOfReply, errorOfRpc } from '../support/told-errors.js';

const BINDINGS = '/api/v1/control-bindings';
const BY_KEY = `${BINDINGS}/by-key`;
const OPERATOR = 'operator-key-of-this-test';
const ADMIN = 'admin-key-of-this-test';
const VIEWER = 'viewer-key-of-this-test';
const AGENT_KEY = 'agent-key-of-this-test';
const OTHER_TEAM = 'admin-key-of-the-other-team';
const AGENT = 'bound-agent-01';

/** A control with an evaluator that one agent registered. */
const ofOneAgent = denyWord('x', {
  condition: { selector: { path: 'input' }, evaluator: { name: `${AGENT}:tone`, config: {} } },
});

describeAboveStores('bindings', (freshDatabaseUrl) => {
  let service: TestService;
  let keys: TestKeysFile;
  let call: RestClient;
  let other: RestClient;
  let seed: ReturnType<typeof seeder>;
  let control: number;
  let second: number;
  let targets = 0;
  const withKey = (key: string) => restClient(service.url, { 'x-api-key': key });
  /** A target that no other test has. */
  const target = () => {
    targets += 1;
    return { target_type: 'log_stream', target_id: `stream-${targets}` };
  };
  const created = async (more: object, client = call) => {
    const reply = await client('PUT', BINDINGS, { ...target(), control_id: control, ...more });
    expect(reply.status).toBe(200);
    return reply.body.binding_id as number;
  };

  beforeAll(async () => {
    keys = createKeysFile([
      { name: 'operator', key: OPERATOR, role: 'operator' },
      { name: 'admin', key: ADMIN, role: 'admin' },
      { name: 'viewer', key: VIEWER, role: 'viewer' },
      { name: 'agent', key: AGENT_KEY, role: 'agent' },
      { name: 'other', key: OTHER_TEAM, role: 'admin', namespace: 'other-team' },
    ]);
    service = await startService({ DATABASE_URL: await freshDatabaseUrl(), ...keys.environment });
    call = withKey(ADMIN);
    other = withKey(OTHER_TEAM);
    seed = seeder(call);
    const made = await withKey(OPERATOR)('POST', '/api/v1/namespaces', { name: 'other-team' });
    expect(made.status).toBe(200);
    await seed.agent(AGENT, { evaluators: [{ name: 'tone', config_schema: {} }] });
    control = await seed.control('bound');
    second = await seed.control('second', denyWord('second'));
  });
  afterAll(async () => {
    await service.stop();
    keys.remove();
  });

  it('are made, read, disabled and removed by their ids', async () => {
    const of = target();
    const reply = await call('PUT', BINDINGS, { ...of, control_id: control });
    expect(reply).toMatchObject({ status: 200, body: { binding_id: expect.any(Number) } });
    const id = reply.body.binding_id;
    const row = { id, namespace_key: 'default', ...of, control_id: control, enabled: true };
    const read = await call('GET', `${BINDINGS}/${id}`);
    expect(read).toMatchObject({ status: 200, body: row });
    expect(Object.keys(read.body)).toEqual([...Object.keys(row), 'created_at', 'updated_at']);
    expect(Date.parse(read.body.created_at)).toBeLessThanOrEqual(Date.parse(read.body.updated_at));
    const disabled = await call('PATCH', `${BINDINGS}/${id}`, { enabled: false });
    expect(disabled).toMatchObject({ status: 200, body: { success: true, enabled: false } });
    expect((await call('GET', `${BINDINGS}/${id}`)).body).toMatchObject({ ...row, enabled: false });
    const removed = await call('DELETE', `${BINDINGS}/${id}`);
    expect(removed).toMatchObject({ status: 200, body: { success: true } });
    const late: Parameters<RestClient>[] = [
      ['GET', `${BINDINGS}/${id}`],
      ['PATCH', `${BINDINGS}/${id}`, { enabled: true }],
      ['DELETE', `${BINDINGS}/${id}`],
      ['GET', `${BINDINGS}/0`],
      ['GET', `${BINDINGS}/99999999999`],
    ];
    for (const request of late) {
      expect(errorOfReply(await call(...request))).toMatchObject({
        status: 404,
        reason: 'CONTROL_BINDING_NOT_FOUND',
      });
    }
  });

  it('are made, changed and removed by what they bind', async () => {
    const key = { ...target(), control_id: control };
    const put = (enabled?: boolean) => call('PUT', BY_KEY, { ...key, enabled });
    const first = await put();
    const id = first.body.binding_id;
    expect(first).toMatchObject({ status: 200, body: { created: true, enabled: true } });
    expect((await put(false)).body).toEqual({ binding_id: id, created: false, enabled: false });
    expect((await put(false)).body).toEqual({ binding_id: id, created: false, enabled: false });
    const patched = await call('PATCH', BY_KEY, { ...key, enabled: true });
    expect(patched).toMatchObject({ status: 200, body: { success: true, enabled: true } });
    expect((await call('GET', `${BINDINGS}/${id}`)).body.enabled).toBe(true);
    const remove = () => call('POST', `${BY_KEY}:delete`, key);
    expect(await remove()).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await remove()).toMatchObject({ status: 200, body: { deleted: false } });
    for (const control_id of [control, 99_999, 2 ** 40]) {
      const late = await call('PATCH', BY_KEY, { ...key, control_id, enabled: true });
      expect(errorOfReply(late)).toMatchObject({ status: 404, reason: 'CONTROL_BINDING_NOT_FOUND' });
    }
  });

  it.each(PROTOCOL_NAMES)('are served over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const ask = async (rpc: string, input: object) => {
      const outcome = await client.call(methodNamed(`ControlBindingService.${rpc}`), input, ADMIN);
      if (!outcome.ok) throw new Error(JSON.stringify(outcome));
      return outcome.reply;
    };
    const key = { ...target(), control_id: control };
    const { binding_id } = await ask('CreateControlBinding', key);
    expect(await ask('GetControlBinding', { binding_id })).toMatchObject({ ...key, enabled: true });
    expect(await ask('UpdateControlBinding', { binding_id, enabled: false })).toMatchObject({
      success: true,
    });
    expect(await ask('UpsertControlBinding', key)).toMatchObject({ binding_id, enabled: true });
    await ask('UpdateControlBindingByKey', { ...key, enabled: false });
    const { target_type, target_id } = key;
    expect(await ask('ListControlBindings', { target_type, target_id })).toMatchObject({
      bindings: [{ id: binding_id, ...key, enabled: false }],
      pagination: { total: 1, has_more: false },
    });
    expect(await ask('DeleteControlBindingByKey', key)).toMatchObject({ deleted: true });
    const again = await ask('CreateControlBinding', key);
    expect(await ask('DeleteControlBinding', { binding_id: again.binding_id })).toMatchObject({
      success: true,
    });
    client.close();
  });

  it('are refused twice, of unknown controls, and of controls for one agent', async () => {
    const key = { ...target(), control_id: control };
    await call('PUT', BINDINGS, { ...key, enabled: false });
    const twice = errorOfReply(await call('PUT', BINDINGS, key));
    expect(twice).toMatchObject({ status: 409, reason: 'CONTROL_BINDING_CONFLICT' });
    expect(
      await errorOfRpc(service.url, 'ControlBindingService.CreateControlBinding', key, ADMIN),
    ).toMatchObject({
      status: 'AlreadyExists',
    });
    const scoped = await seed.control('of-one-agent', ofOneAgent);
    for (const path of [BINDINGS, BY_KEY]) {
      const unknown = await call('PUT', path, { ...key, control_id: 99_999 });
      expect(errorOfReply(unknown)).toMatchObject({ status: 404, reason: 'CONTROL_NOT_FOUND' });
      const incompatible = await call('PUT', path, { ...key, control_id: scoped });
      expect(errorOfReply(incompatible)).toMatchObject({
        status: 400,
        reason: 'CONTROL_BINDING_INCOMPATIBLE',
        items: [{ field: 'control_id' }],
      });
    }
  });

  it('are refused with the names of the members that are wrong', async () => {
    const wrong: [object, string[]][] = [
      [{}, ['target_type missing', 'target_id missing', 'control_id missing']],
      [
        { target_type: '', target_id: 'x'.repeat(256), control_id: 0 },
        ['target_type string_too_short', 'target_id string_too_long', 'control_id greater_than_equal'],
      ],
      [
        { target_type: 'a\0b', target_id: '\ud800', control_id: 1 },
        ['target_type value_error', 'target_id value_error'],
      ],
      [
        { target_type: 7, target_id: 'x', control_id: 'y' },
        ['target_type string_type', 'control_id int_parsing'],
      ],
    ];
    for (const [body, expected] of wrong) {
      for (const path of [BINDINGS, BY_KEY]) {
        const { status, items } = errorOfReply(await call('PUT', path, body));
        expect([status, items.map(({ field, code }) => `${field} ${code}`)]).toEqual([422, expected]);
      }
    }
    const without = errorOfReply(await call('PATCH', BY_KEY, { ...target(), control_id: control }));
    expect(without).toMatchObject({ status: 422, items: [{ field: 'enabled', code: 'missing' }] });
  });

  it('are listed by id descending, page by page, as filtered', async () => {
    const of = target();
    const ids = [
      await created(of),
      await created({ ...of, control_id: second, enabled: false }),
      await created({ ...of, target_id: 'another' }),
    ];
    const list = async (query: object) =>
      (await call('GET', `${BINDINGS}?${new URLSearchParams(query as Record<string, string>)}`)).body;
    const idsOf = ({ bindings }: { bindings: { id: number }[] }) => bindings.map(({ id }) => id);
    const newest = [...ids].reverse();
    const first = await list({ limit: 2 });
    expect(idsOf(first)).toEqual(newest.slice(0, 2));
    expect(first.pagination).toMatchObject({ limit: 2, has_more: true, next_cursor: String(newest[1]) });
    expect(idsOf(await list({ limit: 1, cursor: first.pagination.next_cursor }))).toEqual([newest[2]]);
    expect(idsOf(await list(of))).toEqual([ids[1], ids[0]]);
    expect(idsOf(await list({ ...of, control_id: second }))).toEqual([ids[1]]);
    expect(idsOf(await list({ target_id: 'another' }))).toEqual([ids[2]]);
    expect((await list({ target_type: 'no such' })).pagination).toMatchObject({
      total: 0,
      next_cursor: null,
    });
    for (const cursor of ['x', '1.5', '-1', '0', '99999999999']) {
      const refused = errorOfReply(await call('GET', `${BINDINGS}?cursor=${cursor}`));
      expect(refused).toMatchObject({
        status: 400,
        reason: 'VALIDATION_ERROR',
        items: [{ field: 'cursor' }],
      });
    }
    for (const limit of [0, 101]) {
      expect((await call('GET', `${BINDINGS}?limit=${limit}`)).status).toBe(422);
    }
  });

  it('keep a control from being deleted, unless it is by force', async () => {
    const doomed = await seed.control('doomed');
    const id = await created({ control_id: doomed });
    const off = await created({ control_id: doomed, enabled: false });
    const refused = await call('DELETE', `/api/v1/controls/${doomed}`);
    const item = { resource: 'ControlBinding', field: 'control_id', code: 'control_in_use' };
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error_code: 'CONTROL_IN_USE',
        detail: expect.stringContaining('bound to 2 targets'),
        errors: [
          { ...item, value: id },
          { ...item, value: off },
        ],
      },
    });
    const forced = await call('DELETE', `/api/v1/controls/${doomed}?force=true`);
    expect(forced).toMatchObject({
      status: 200,
      body: { success: true, detached_target_bindings: [id, off] },
    });
    expect((await call('GET', `${BINDINGS}/${id}`)).status).toBe(404);
  });

  it('are in the audit log', async () => {
    const of = target();
    const id = await created(of);
    await call('PATCH', `${BINDINGS}/${id}`, { enabled: false });
    await call('DELETE', `${BINDINGS}/${id}`);
    const { body } = await call('GET', `/api/v1/audit?resource=control_binding&limit=3`);
    const state = { ...of, control_id: control };
    const parsed = (text: string | null) => text && JSON.parse(text);
    const told = body.entries.map(({ before, after, ...entry }: { before: string; after: string }) => ({
      ...entry,
      before: parsed(before),
      after: parsed(after),
    }));
    expect(told).toMatchObject([
      { action: 'control_binding.delete', before: { ...state, enabled: false }, after: null },
      { action: 'control_binding.update', before: { enabled: true }, after: { enabled: false } },
      { action: 'control_binding.create', resource_id: String(id), before: null, after: state },
    ]);
  });

  it('are what the lists of controls tell, if they are asked', async () => {
    const attached = await seed.control('attached', denyWord('attached'));
    await seed.link(AGENT, attached);
    const policy = (await call('PUT', '/api/v1/policies', { name: 'attached' })).body.policy_id;
    await call('POST', `/api/v1/policies/${policy}/controls/${attached}`);
    const ids: number[] = [];
    for (let at = 0; at < 22; at += 1) {
      ids.push(
        await created({ target_type: 'many', target_id: String(at), control_id: attached, enabled: at > 0 }),
      );
    }
    const list = async (query: string) =>
      (await call('GET', `/api/v1/controls?name=attached${query}`)).body.controls[0];
    expect((await list('')).attachments).toBeNull();
    const newest = [...ids].reverse();
    expect((await list('&include_attachments=true')).attachments).toEqual({
      agents: [{ agent_name: AGENT }],
      policies: [{ id: policy, name: 'attached' }],
      targets: newest.slice(0, 20).map((id, at) => ({
        binding_id: id,
        target_type: 'many',
        target_id: String(21 - at),
        enabled: true,
      })),
      targets_total: 22,
      targets_truncated: true,
    });
    const filtered = '&include_attachments=true&attachment_target_type=many&attachment_target_id=0';
    expect((await list(filtered)).attachments).toMatchObject({
      targets: [{ binding_id: ids[0], enabled: false }],
      targets_total: 1,
      targets_truncated: false,
    });
    for (const member of ['attachment_target_type', 'attachment_target_id']) {
      const refused = errorOfReply(await call('GET', `/api/v1/controls?${member}=x`));
      expect(refused).toMatchObject({ status: 422, items: [{ field: `query.${member}` }] });
    }
  });

  describe('of another namespace', () => {
    it('are as good as none, in every call', async () => {
      const of = target();
      const id = await created(of);
      const key = { ...of, control_id: control };
      const unknown = { ...of, control_id: 99_999 };
      const pairs: (readonly [Parameters<RestClient>, Parameters<RestClient>])[] = [
        [
          ['GET', `${BINDINGS}/${id}`],
          ['GET', `${BINDINGS}/99999`],
        ],
        [
          ['PATCH', `${BINDINGS}/${id}`, { enabled: false }],
          ['PATCH', `${BINDINGS}/99999`, { enabled: false }],
        ],
        [
          ['DELETE', `${BINDINGS}/${id}`],
          ['DELETE', `${BINDINGS}/99999`],
        ],
        [
          ['PUT', BINDINGS, key],
          ['PUT', BINDINGS, unknown],
        ],
        [
          ['PUT', BY_KEY, key],
          ['PUT', BY_KEY, unknown],
        ],
        [
          ['PATCH', BY_KEY, { ...key, enabled: false }],
          ['PATCH', BY_KEY, { ...unknown, enabled: false }],
        ],
        [
          ['POST', `${BY_KEY}:delete`, key],
          ['POST', `${BY_KEY}:delete`, unknown],
        ],
        [
          ['POST', `/api/v1/controls/${control}/clone-and-bind`, { target_binding: of }],
          ['POST', '/api/v1/controls/99999/clone-and-bind', { target_binding: of }],
        ],
      ];
      const told = async (request: Parameters<RestClient>, missing: number) => {
        const { status, body } = await other(...request);
        const { metadata: _metadata, instance: _instance, ...rest } = body;
        return [status, JSON.stringify(rest).replace(new RegExp(`\\b${missing}\\b`, 'g'), 'ID')];
      };
      for (const [[verb, path, body], missing] of pairs) {
        const number =
          JSON.stringify(body ?? {}).includes('control_id') || path.includes('clone') ? control : id;
        expect(await told([verb, path, body], number)).toEqual(await told(missing, 99_999));
      }
      expect((await other('GET', BINDINGS)).body.bindings).toEqual([]);
      expect((await call('GET', `${BINDINGS}/${id}`)).body.enabled).toBe(true);
    });

    it('decide about its agents only', async () => {
      const of = target();
      const ofOther = seeder(other);
      await ofOther.agent(AGENT);
      const own = await ofOther.control('bound', denyWord('theirs'));
      const theirs = await created({ ...of, control_id: own }, other);
      expect((await other('GET', `${BINDINGS}/${theirs}`)).body.namespace_key).toBe('other-team');
      await created(of);
      const denies = async (client: RestClient, input: string) => {
        const step = { type: 'llm', name: 'answer', input };
        const reply = await client('POST', '/api/v1/evaluation', {
          agent_name: AGENT,
          stage: 'pre',
          step,
          ...of,
        });
        expect(reply.status).toBe(200);
        return !reply.body.is_safe;
      };
      expect([await denies(other, 'theirs'), await denies(other, 'bad')]).toEqual([true, false]);
      expect([await denies(call, 'theirs'), await denies(call, 'bad')]).toEqual([false, true]);
    });
  });

  it('are read and changed by those whose role says so', async () => {
    const id = await created({});
    const statuses = async (key: string) => [
      (await withKey(key)('GET', `${BINDINGS}/${id}`)).status,
      (await withKey(key)('PATCH', `${BINDINGS}/${id}`, { enabled: true })).status,
    ];
    expect(await statuses(ADMIN)).toEqual([200, 200]);
    expect(await statuses(VIEWER)).toEqual([200, 403]);
    expect(await statuses(AGENT_KEY)).toEqual([403, 403]);
    // An agent may ask for its own controls, also for a target.
    const agent = { agent_name: AGENT };
    const init = await withKey(AGENT_KEY)('POST', '/api/v1/agents/initAgent', { agent, ...target() });
    expect(init.status).toBe(200);
  });
});
