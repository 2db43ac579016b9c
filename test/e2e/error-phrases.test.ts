import { beforeAll, expect, it } from 'vitest';
import { denyWord } from '../support/seed.js';
import { describeServiceOnSqlite, type ServiceSuite } from '../support/service-suite.js';
import { errorOfReply, errorOfRpc, toldText } from '../support/told-errors.js';

const CONTROLS = '/api/v1/controls';
const INIT = '/api/v1/agents/initAgent';
const AGENT = 'phrased-agent-01';

const checking = (name: string, config: object, more: object = {}): object => ({
  execution: 'server',
  condition: { selector: { path: 'input' }, evaluator: { name, config } },
  action: { decision: 'deny' },
  ...more,
});
const object = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const text = { type: 'string' };

/** One phrase that deployed software looks for: where it stands, and how the error comes about. */
interface Row {
  readonly what: string;
  readonly phrases: readonly string[];
  readonly rest: readonly [method: string, path: string, body?: unknown];
  /** Null where the binary form of the request cannot say it. */
  readonly rpc: readonly [name: string, input: object] | null;
  readonly status: readonly [rest: number, grpc: string];
  /** `field code` of an item; absent where there are no items. */
  readonly item?: string;
}

/** The same data, validated over both protocols. */
function ofData(what: string, phrase: string, data: object, item: string): Row {
  return {
    what,
    phrases: [phrase],
    rest: ['POST', `${CONTROLS}/validate`, { data }],
    rpc: ['ControlService.ValidateControl', { data }],
    status: [422, 'InvalidArgument'],
    item,
  };
}

/** The same over REST alone: in binary messages an empty list is an absent one. */
function ofEmptyList(what: string, data: object, item: string): Row {
  return { ...ofData(what, 'empty list', data, item), rpc: null };
}

/** The same registration over both protocols. */
function ofInit(what: string, phrases: readonly string[], more: object, grpc: string, item: string): Row {
  const body = { agent: { agent_name: AGENT }, ...more };
  return {
    what,
    phrases,
    rest: ['POST', INIT, body],
    rpc: ['AgentService.InitAgent', body],
    status: [409, grpc],
    item,
  };
}

const leaf = 'data.condition';
const ROWS: Row[] = [
  ofData(
    'a missing member',
    'Field required',
    { ...checking('list', { values: [] }), execution: undefined },
    'data.execution missing',
  ),
  ofData(
    'a missing condition',
    'Field required',
    { ...checking('list', {}), condition: undefined },
    `${leaf} missing`,
  ),
  ofData(
    'a missing member of a configuration',
    'Field required',
    checking('list', {}),
    `${leaf}.evaluator.values missing`,
  ),
  ofData(
    'an empty list value',
    'empty or whitespace-only strings',
    checking('list', { values: ['a', ''] }),
    `${leaf}.evaluator.values[1] value_error`,
  ),
  ofData(
    'a blank list value',
    'empty or whitespace-only strings',
    checking('list', { values: [' \t'] }),
    `${leaf}.evaluator.values[0] value_error`,
  ),
  ofData(
    'an empty evaluator name',
    'empty or whitespace-only',
    checking('', {}),
    `${leaf}.evaluator.name value_error`,
  ),
  ofData(
    'a blank evaluator name',
    'empty or whitespace-only',
    checking('  ', {}),
    `${leaf}.evaluator.name value_error`,
  ),
  ofData(
    'a pattern that does not compile',
    'Invalid regex pattern',
    checking('regex', { pattern: '[' }),
    `${leaf}.evaluator.pattern value_error`,
  ),
  ofData(
    'a scope pattern that does not compile',
    'Invalid regex pattern',
    denyWord('x', { scope: { step_name_regex: '(' } }),
    'data.scope.step_name_regex value_error',
  ),
  ofData(
    'a field pattern that does not compile',
    'Invalid regex pattern',
    checking('json', { field_patterns: { a: '(' } }),
    `${leaf}.evaluator.field_patterns value_error`,
  ),
  ofData(
    'a selector path without a character',
    'empty string',
    {
      ...checking('list', { values: ['a'] }),
      condition: { selector: { path: '' }, evaluator: { name: 'list', config: { values: ['a'] } } },
    },
    `${leaf}.selector.path value_error`,
  ),
  ofEmptyList(
    'no step names',
    denyWord('x', { scope: { step_names: [] } }),
    'data.scope.step_names value_error',
  ),
  ofEmptyList(
    'no step types',
    denyWord('x', { scope: { step_types: [] } }),
    'data.scope.step_types value_error',
  ),
  ofData(
    'a template beside rendered members',
    'cannot mix template fields with rendered control fields',
    denyWord('x', { template: { definition_template: {} } }),
    'data value_error',
  ),
  ofData(
    'an evaluator that the agent lacks',
    'not registered',
    checking(`${AGENT}:not-there`, {}),
    `${leaf}.evaluator.name evaluator_not_found`,
  ),
  ofInit(
    'a step with other schemas',
    ['schema conflict'],
    { steps: [{ type: 'tool', name: 'refund', input_schema: { type: 'null' } }] },
    'FailedPrecondition',
    'schema schema_mismatch',
  ),
  ofInit(
    'an evaluator named like a built-in one',
    ['conflicts with built-in evaluator'],
    { evaluators: [{ name: 'regex' }] },
    'AlreadyExists',
    'name name_conflict',
  ),
  ofInit(
    'a changed type',
    ['not backward compatible', 'type changed', '"tone.level"'],
    {
      evaluators: [{ name: 'tone', config_schema: object({ tone: object({ level: { type: 'integer' } }) }) }],
    },
    'FailedPrecondition',
    'config_schema schema_incompatible',
  ),
  ofInit(
    'an added required property',
    ['not backward compatible', 'Added required property', '"tone.words"'],
    {
      evaluators: [
        { name: 'tone', config_schema: object({ tone: object({ level: text, words: text }, ['words']) }) },
      ],
    },
    'FailedPrecondition',
    'config_schema schema_incompatible',
  ),
  ofInit(
    'a removed property',
    ['not backward compatible', 'Removed property', '"tone"'],
    { evaluators: [{ name: 'tone', config_schema: object({}) }] },
    'FailedPrecondition',
    'config_schema schema_incompatible',
  ),
  {
    what: 'an unknown agent',
    phrases: ['not found'],
    rest: ['GET', '/api/v1/agents/nobody-at-all'],
    rpc: ['AgentService.GetAgent', { agent_name: 'nobody-at-all' }],
    status: [404, 'NotFound'],
  },
];

describeServiceOnSqlite('the phrases that deployed software looks for', (suite) => {
  const { call, seed, service } = suite;

  beforeAll(async () => {
    await seed.agent(AGENT, {
      steps: [{ type: 'tool', name: 'refund', input_schema: { type: 'object' } }],
      evaluators: [{ name: 'tone', config_schema: object({ tone: object({ level: text }) }) }],
    });
  });

  it.each(ROWS)('stand in the error of $what', async ({ phrases, rest, rpc, status, item }) => {
    const told = [errorOfReply(await call(...rest))];
    if (rpc !== null) told.push(await errorOfRpc(service.url, ...rpc));
    for (const [index, error] of told.entries()) {
      expect(error.status).toBe(status[index]);
      for (const phrase of phrases) expect(toldText(error)).toContain(phrase);
      const items = error.items.map(({ field, code }) => `${field} ${code}`);
      if (item !== undefined) expect(items).toContain(item);
    }
  });

  // Whether an evaluator is registered is asked once the shape is right.
  const shapes = ROWS.filter(
    ({ status, item }) => status[0] === 422 && !item?.endsWith('evaluator_not_found'),
  );
  it.each(shapes)('begin the detail of what fails validation of its shape: $what', async ({ rest, rpc }) => {
    expect(errorOfReply(await call(...rest)).detail).toBe(
      'Request validation failed: 1 problem in the request',
    );
    if (rpc === null) return;
    const { detail, items } = await errorOfRpc(service.url, ...rpc);
    const [first] = items;
    expect(detail).toBe(
      `Request validation failed: 1 problem in the request (${first?.field}: ${first?.message})`,
    );
  });

  it('state in the detail how an evaluator changed, and no more than fits', async () => {
    const change = (config_schema: object) =>
      call('POST', INIT, { agent: { agent_name: AGENT }, evaluators: [{ name: 'tone', config_schema }] });
    const typed = errorOfReply(await change(object({ tone: object({ level: { type: 'integer' } }) })));
    expect(typed.detail).toBe(
      'the schema of evaluator "tone" is not backward compatible with the registered one: ' +
        'Property "tone.level": type changed from string to integer',
    );
    const words = Array.from({ length: 60 }, (_, index) => `word-${index}`);
    const required = errorOfReply(await change(object({ tone: object({ level: text }, words) })));
    expect(required.detail).toContain('Added required property "tone.word-0"; Added required property');
    expect(required.detail).toMatch(/; and \d+ more$/);
    expect(required.detail.length).toBeLessThanOrEqual(500);
    expect(required.items).toHaveLength(60);
  });

  it('count the problems of a request', async () => {
    const body = { name: '%', data: { execution: 'x' } };
    const { detail } = errorOfReply(await call('PUT', CONTROLS, body));
    expect(detail).toBe('Request validation failed: 4 problems in the request');
    const rpc = await errorOfRpc(service.url, 'ControlService.CreateControl', { name: '%', data: {} });
    expect(rpc.detail).toContain(
      'Request validation failed: 4 problems in the request (first: name: must match',
    );
  });

  it.each<[string, string | undefined]>([
    ['no body', undefined],
    ['null', 'null'],
  ])('state that the body is required: %s', async (_, body) => {
    const told = errorOfReply(await call('PUT', CONTROLS, body));
    expect(told).toMatchObject({ status: 422, items: [{ field: '', code: 'missing' }] });
    expect(toldText(told)).toContain('Field required');
  });

  it('state that evaluators in use cannot be removed, and what is incompatible with an agent', async () => {
    const control = await seed.control('toned', checking(`${AGENT}:tone`, { tone: {} }));
    await seed.link(AGENT, control);
    const change = { remove_evaluators: ['tone'] };
    const inUse = [
      errorOfReply(await call('PATCH', `/api/v1/agents/${AGENT}`, change)),
      await errorOfRpc(service.url, 'AgentService.UpdateAgent', { agent_name: AGENT, ...change }),
    ];
    expect(inUse.map(({ status }) => status)).toEqual([409, 'FailedPrecondition']);
    for (const error of inUse) {
      expect(error.detail).toContain('Cannot remove evaluators');
      expect(error.items).toMatchObject([{ field: 'evaluator.name', code: 'in_use' }]);
    }
    const other = 'phrased-agent-02';
    await seed.agent(other);
    const link = { agent_name: other, control_id: control };
    const refused = [
      errorOfReply(await call('POST', `/api/v1/agents/${other}/controls/${control}`)),
      await errorOfRpc(service.url, 'AgentService.AddAgentControl', link),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 'FailedPrecondition']);
    for (const error of refused) {
      expect(error.detail).toContain('What is to be linked is incompatible with the agent: 1 problem.');
      expect(error.items).toMatchObject([{ field: 'evaluator', code: 'incompatible' }]);
    }
  });

  it('state where a control is in use', async () => {
    const control = await seed.control('in-use');
    const policy = (await call('PUT', '/api/v1/policies', { name: 'using' })).body.policy_id;
    const details: string[] = [];
    const remove = async () => {
      const told = errorOfReply(await call('DELETE', `${CONTROLS}/${control}`));
      details.push(told.detail);
      expect(told.status).toBe(409);
      const rpc = await errorOfRpc(service.url, 'ControlService.DeleteControl', { control_id: control });
      expect(rpc.detail).toContain(told.detail);
    };
    await call('POST', `/api/v1/policies/${policy}/controls/${control}`);
    await remove();
    await seed.agent('using-agent-01');
    await seed.link('using-agent-01', control);
    await remove();
    await seed.agent('using-agent-02');
    await seed.link('using-agent-02', control);
    await call('DELETE', `/api/v1/policies/${policy}/controls/${control}`);
    await remove();
    expect(details).toEqual([
      'The control "in-use" is in 1 policy.',
      'The control "in-use" is in 1 policy and linked to 1 agent.',
      'The control "in-use" is linked to 2 agents.',
    ]);
  });

  it('note the deletion of a control in its history', async () => {
    const control = await seed.control('deleted');
    expect((await call('DELETE', `${CONTROLS}/${control}`)).status).toBe(200);
    const { versions } = (await call('GET', `${CONTROLS}/${control}/versions`)).body;
    expect(versions[0]).toMatchObject({ event_type: 'deleted', note: 'Deleted' });
  });

  everyMissingResource(suite);
});

function everyMissingResource({ call, seed }: ServiceSuite): void {
  const NOBODY = 'nobody-at-all';
  const KNOWN = 'phrased-agent-03';
  const step = { type: 'llm', name: 'answer', input: 'x' };
  const explain = { agent_name: KNOWN, stage: 'pre', step };
  /** What a route needs beside its path so that only the lookup fails. */
  const BODIES: Readonly<Record<string, object>> = {
    'PATCH /api/v1/controls/{control_id}': { enabled: true },
    'PUT /api/v1/controls/{control_id}/data': { data: denyWord('x') },
    'PATCH /api/v1/agents/{agent_name}': {},
    'PUT /api/v1/coverage/{agent_name}/expectations': {},
    'PATCH /api/v1/policies/{policy_id}': { name: 'renamed' },
    'POST /api/v1/policies/{policy_id}/agents': { agent_names: [KNOWN] },
    'POST /api/v1/policies/{policy_id}/agents/remove': { agent_names: [KNOWN] },
    'POST /api/v1/controls/{control_id}/clone-and-bind': {
      target_binding: { target_type: 'env', target_id: 'prod' },
    },
    'PATCH /api/v1/control-bindings/{binding_id}': { enabled: false },
    'POST /api/v1/keys/{key_id}/rotate': {},
    'POST /api/v1/halts/{halt_id}/lift': { reason: 'x' },
    'PUT /api/v1/controls/{control_id}/shadow': { data: denyWord('x') },
    'POST /api/v1/controls/{control_id}/shadow/promote': { shadow_version: 1 },
    'POST /api/v1/approvals/{approval_id}/decide': { decision: 'deny' },
    'POST /api/v1/approvals/{approval_id}/cancel': { agent_name: KNOWN },
    'POST /access/v1/agents/{agent_name}/requests/{request_id}/cancel': {},
    'PATCH /api/v1/notification-destinations/{destination_id}': { name: 'renamed' },
    'POST /api/v1/notification-destinations/{destination_id}/rotate-secret': {},
    'POST /api/v1/notification-destinations/{destination_id}/test': {},
    'POST /api/v1/notification-deliveries/{delivery_id}/resend': {},
    'PATCH /api/v1/namespaces/{namespace}': { display_name: 'Renamed' },
    'POST /api/v1/namespaces/{namespace}/export': {},
    'POST /api/v1/packs/{pack_name}/preview': {},
    'POST /api/v1/packs/{pack_name}/install': { policy_name: 'new-policy' },
    'POST /api/v1/pack-installations/{installation_id}/update': { version: '1.0.0' },
  };
  /** Routes that answer without looking for what their path names, or by which it is gone, whether it was there or not. */
  const NEVER_MISSING = [
    'GET /api/v1/observability/stats/controls/{control_id}',
    'DELETE /api/v1/pack-installations/{installation_id}',
    // Waits for an approval of the agent that its query names.
    'GET /api/v1/approvals/{approval_id}/await',
    // An invalid denial is no missing path.
    'POST /access/v1/agents/{agent_name}/requests',
  ];

  it('contain "not found" wherever a path names what does not exist', async () => {
    const { paths } = (await call('GET', '/openapi.json')).body as { paths: Record<string, object> };
    const routes = Object.entries(paths)
      .flatMap(([path, item]) => Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`))
      .filter((route) => route.includes('{') && !NEVER_MISSING.includes(route));
    expect(routes.length).toBeGreaterThan(20);
    const found: unknown[] = [];
    for (const route of routes) {
      const [method = '', template = ''] = route.split(' ');
      const path = template.replace('{agent_name}', NOBODY).replaceAll(/\{\w+\}/g, '4711');
      const reply = await call(method, path, BODIES[route]);
      const { status, detail } = errorOfReply(reply);
      found.push({ route, status, says: String(detail).includes('not found') });
    }
    expect(found).toEqual(routes.map((route) => ({ route, status: 404, says: true })));
  });

  it('contain "not found" for what is looked for behind a path', async () => {
    await seed.agent(KNOWN);
    const control = await seed.control('found');
    const agent = `/api/v1/agents/${KNOWN}`;
    const missing: [string, string, unknown?][] = [
      ['GET', `${agent}/evaluators/not-there`],
      ['GET', `${agent}/policy`],
      ['DELETE', `${agent}/policy`],
      ['POST', `${agent}/controls/4711`],
      ['DELETE', `${agent}/controls/4711`],
      ['POST', `${agent}/policies/4711`],
      ['DELETE', `${agent}/policies/4711`],
      ['POST', `${agent}/policy/4711`],
      ['GET', `${CONTROLS}/${control}/versions/99`],
      ['POST', `${CONTROLS}/${control}/versions/99/restore`],
      ['PUT', CONTROLS, { name: 'x', data: checking(`${NOBODY}:tone`, {}) }],
      ['POST', '/api/v1/evaluation', { ...explain, agent_name: NOBODY }],
      ['POST', '/api/v1/evaluation/explain', { ...explain, agent_name: NOBODY }],
      ['POST', '/api/v1/evaluation/explain', { ...explain, control_ids: [control] }],
      ['GET', '/api/v1/nothing'],
      ['POST', '/nothing/at/all'],
      ['GET', '/api/nothing'],
    ];
    for (const [method, path, body] of missing) {
      const { status, detail } = errorOfReply(await call(method, path, body));
      expect({ path, status, detail }).toEqual({
        path,
        status: 404,
        detail: expect.stringContaining('not found'),
      });
    }
    const batch = await call('POST', '/api/v1/evaluation/batch', {
      evaluations: [{ ...explain, agent_name: NOBODY }],
    });
    expect(batch.body.results[0].error).toMatchObject({ status: 404 });
    expect(batch.body.results[0].error.detail).toContain('not found');
  });
}

describeServiceOnSqlite(
  'the phrases of refused credentials',
  ({ call, service }) => {
    it.each<[string, string | undefined, string]>([
      ['without a key', undefined, 'Missing credentials'],
      ['with an empty key', '', 'Missing credentials'],
      ['with a wrong key', 'a-wrong-key', 'Invalid API key'],
    ])('are sent %s', async (_, key, phrase) => {
      const reply = await call('GET', CONTROLS, undefined, key === undefined ? {} : { 'x-api-key': key });
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toBe('ApiKey');
      expect(reply.body.detail).toContain(phrase);
      const told = await errorOfRpc(service.url, 'ControlService.ListControls', {}, key);
      expect(told).toMatchObject({ status: 'Unauthenticated', detail: expect.stringContaining(phrase) });
    });
  },
  { SERVICE_API_KEY_ENABLED: 'true', SERVICE_API_KEYS: 'a-good-key' },
);
