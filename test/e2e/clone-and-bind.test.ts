import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { methodNamed, PROTOCOL_NAMES, PROTOCOLS } from '../support/protocol-clients.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';
import { errorOfReply } from '../support/told-errors.js';

const CONTROLS = '/api/v1/controls';
const ADMIN = 'admin-key-of-this-test';
const WITHOUT_BINDINGS = 'key-without-bindings-of-this-test';
const AGENT = 'cloning-agent-01';
const TARGET = { target_type: 'project', target_id: 'one' };

describeAboveStores('clone and bind', (freshDatabaseUrl) => {
  let service: TestService;
  let keys: TestKeysFile;
  let call: RestClient;
  let seed: ReturnType<typeof seeder>;
  let source: number;
  const clone = (body: object, id = source, headers: Record<string, string> = {}) =>
    call('POST', `${CONTROLS}/${id}/clone-and-bind`, body, headers);
  const controls = async () => (await call('GET', `${CONTROLS}?limit=100`)).body.pagination.total as number;

  beforeAll(async () => {
    keys = createKeysFile([
      { name: 'admin', key: ADMIN, role: 'admin' },
      { name: 'partial', key: WITHOUT_BINDINGS, scopes: ['controls.read', 'controls.write'] },
    ]);
    service = await startService({ DATABASE_URL: await freshDatabaseUrl(), ...keys.environment });
    call = restClient(service.url, { 'x-api-key': ADMIN });
    seed = seeder(call);
    await seed.agent(AGENT, { evaluators: [{ name: 'tone', config_schema: {} }] });
    source = await seed.control('source', denyWord('bad', { tags: ['pii'], scope: { step_types: ['llm'] } }));
  });
  afterAll(async () => {
    await service.stop();
    keys.remove();
  });

  it('makes a copy with a name, a first version and a binding that decides', async () => {
    const { status, body } = await clone({ target_binding: TARGET });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(Number),
      name: expect.stringMatching(/^source-clone-[0-9a-f]{16}$/),
      cloned_from_control_id: source,
      binding_id: expect.any(Number),
    });
    const read = (await call('GET', `${CONTROLS}/${body.id}`)).body;
    const original = (await call('GET', `${CONTROLS}/${source}`)).body;
    expect(read).toMatchObject({ id: body.id, name: body.name, cloned_from_control_id: source });
    expect(read.data).toEqual(original.data);
    expect(original.cloned_from_control_id).toBeNull();
    const versions = (await call('GET', `${CONTROLS}/${body.id}/versions`)).body.versions;
    expect(versions).toMatchObject([{ version_num: 1, event_type: 'cloned' }]);
    const version = (await call('GET', `${CONTROLS}/${body.id}/versions/1`)).body;
    expect(version.snapshot).toMatchObject({ name: body.name, cloned_from_control_id: source });
    const binding = (await call('GET', `/api/v1/control-bindings/${body.binding_id}`)).body;
    expect(binding).toMatchObject({ ...TARGET, control_id: body.id, enabled: true });
    const step = { type: 'llm', name: 'answer', input: 'bad' };
    const asked = { agent_name: AGENT, stage: 'pre', step };
    expect((await call('POST', '/api/v1/evaluation', { ...asked, ...TARGET })).body.is_safe).toBe(false);
    expect((await call('POST', '/api/v1/evaluation', asked)).body.is_safe).toBe(true);
    // The copy is its own: the source may change.
    await call('PUT', `${CONTROLS}/${body.id}/data`, { data: denyWord('worse') });
    expect((await call('GET', `${CONTROLS}/${source}`)).body.data).toEqual(original.data);
    const { body: audit } = await call('GET', `/api/v1/audit?action=control.clone_and_bind&limit=1`);
    expect(JSON.parse(audit.entries[0].after)).toMatchObject({
      cloned_from_control_id: source,
      binding: TARGET,
    });
  });

  it('makes lists tell and filter what is cloned', async () => {
    const { id } = (await clone({ name: 'listed-clone', target_binding: TARGET })).body;
    const list = async (query: string) =>
      (await call('GET', `${CONTROLS}?name=listed-clone${query}`)).body.controls;
    expect(await list('')).toMatchObject([{ id, cloned_from_control_id: source, tags: ['pii'] }]);
    expect(await list('&cloned=true&tag=pii&step_type=llm')).toHaveLength(1);
    expect(await list('&cloned=false')).toEqual([]);
    const others = (await call('GET', `${CONTROLS}?cloned=false&name=source&limit=100`)).body.controls;
    expect(others).toMatchObject([{ id: source, cloned_from_control_id: null }]);
  });

  it.each(PROTOCOL_NAMES)(
    'makes no second clone when it is repeated with a key over %s',
    async (protocol) => {
      const client = PROTOCOLS[protocol](service.url);
      const method = methodNamed('ControlService.CloneAndBindControl');
      const target_binding = { ...TARGET, target_id: `repeated-${protocol}` };
      const input = { control_id: source, target_binding, idempotency_key: `key of ${protocol}` };
      const before = await controls();
      const first = await client.call(method, input, ADMIN);
      expect(first).toMatchObject({ ok: true, reply: { cloned_from_control_id: source } });
      expect(await client.call(method, input, ADMIN)).toEqual(first);
      expect(await controls()).toBe(before + 1);
      const other = await client.call(method, { ...input, name: 'another' }, ADMIN);
      expect(other).toMatchObject({ ok: false, reason: 'IDEMPOTENCY_CONFLICT' });
      const { idempotency_key: _key, ...without } = input;
      const second = await client.call(method, { ...without, name: `again-${before}` }, ADMIN);
      expect(second).toMatchObject({ ok: true, reply: { name: `again-${before}` } });
      client.close();
    },
  );

  it('takes the key as a header, and makes one clone of calls at the same time', async () => {
    const before = await controls();
    const target_binding = { ...TARGET, target_id: 'at once' };
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => clone({ target_binding }, source, { 'idempotency-key': 'at once' })),
    );
    expect(new Set(replies.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    expect(await controls()).toBe(before + 1);
    const other = await clone({ name: 'other', target_binding }, source, { 'idempotency-key': 'at once' });
    expect(errorOfReply(other)).toMatchObject({ status: 409, reason: 'IDEMPOTENCY_CONFLICT' });
  });

  it('makes nothing when it is refused', async () => {
    await seed.control('taken');
    const scoped = await seed.control(
      'of-one-agent',
      denyWord('x', {
        condition: { selector: { path: 'input' }, evaluator: { name: `${AGENT}:tone`, config: {} } },
      }),
    );
    const before = await controls();
    const refused: [object, number, object][] = [
      [{ target_binding: TARGET, name: 'taken' }, source, { status: 409, reason: 'CONTROL_NAME_CONFLICT' }],
      [{ target_binding: TARGET }, 99_999, { status: 404, reason: 'CONTROL_NOT_FOUND' }],
      [{ target_binding: TARGET }, scoped, { status: 400, reason: 'CONTROL_BINDING_INCOMPATIBLE' }],
      [{}, source, { status: 422, items: [{ field: 'target_binding', code: 'missing' }] }],
      [
        { target_binding: { target_type: '', enabled: 'maybe' } },
        source,
        {
          status: 422,
          items: [
            { field: 'target_binding.target_type', code: 'string_too_short' },
            { field: 'target_binding.target_id', code: 'missing' },
            { field: 'target_binding.enabled', code: 'bool_parsing' },
          ],
        },
      ],
      [
        { target_binding: { ...TARGET, more: 1 }, data: {} },
        source,
        {
          status: 422,
          items: expect.arrayContaining([expect.objectContaining({ code: 'extra_forbidden' })]),
        },
      ],
      [{ target_binding: TARGET, name: 'two words' }, source, { status: 422, items: [{ field: 'name' }] }],
    ];
    for (const [body, id, expected] of refused) {
      expect(errorOfReply(await clone(body, id))).toMatchObject(expected);
    }
    expect(await controls()).toBe(before);
  });

  it('needs the scope to bind as well, and names it', async () => {
    const partial = restClient(service.url, { 'x-api-key': WITHOUT_BINDINGS });
    const reply = await partial('POST', `${CONTROLS}/${source}/clone-and-bind`, { target_binding: TARGET });
    expect(errorOfReply(reply)).toMatchObject({
      status: 403,
      reason: 'AUTH_INSUFFICIENT_PRIVILEGES',
      detail: expect.stringContaining('bindings.write'),
    });
  });

  it('keeps names within their length', async () => {
    const long = await seed.control('l'.repeat(255));
    const { status, body } = await clone({ target_binding: TARGET }, long);
    expect([status, body.name.length]).toEqual([200, 255]);
    expect(body.name).toMatch(/^l{232}-clone-[0-9a-f]{16}$/);
  });
});
