import { create } from '@bufbuild/protobuf';
import { WireType } from '@bufbuild/protobuf/wire';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { beforeAll, describe, expect, it } from 'vitest';
import { AgentService } from '../../gen/proto/enforcement/v1/agent_service_pb.js';
import { ControlDefinitionSchema } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import { BadRequestSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { describeOnSqlite } from '../support/databases.js';
import type { RestReply } from '../support/http.js';
import { methodNamed } from '../support/protocol-clients.js';
import { problem } from '../support/refusals.js';
import { denyWord } from '../support/seed.js';
import { suiteClient, suiteService } from '../support/service-suite.js';
import { until } from '../support/until.js';

const CONTROLS = '/api/v1/controls';
const AGENTS = '/api/v1/agents';

/** A mistake of a configuration: what it is, the definition, the member that is told of, and the code. */
type Mistake = [what: string, data: object, member: string, code: string];

/** What a definition may say that has no effect, or less than it seems, one mistake at a time. */
const MISTAKES = (
  [
    [
      'a flag that is not known',
      checking('regex', { pattern: 'x', flags: ['MULTILINE'] }),
      'flags[0]',
      'unknown_value',
    ],
    ['an option of another name', checking('regex', { pattern: 'x', flag: ['I'] }), 'flag', 'unknown_member'],
    [
      'a misspelled option',
      checking('list', { values: ['a'], match_onn: 'match' }),
      'match_onn',
      'unknown_member',
    ],
    ['a pattern that is found nowhere', checking('regex', { pattern: 'a^b' }), 'pattern', 'never_matches'],
    [
      'a list that misses absent data',
      checking('list', { values: ['a'], match_on: 'no_match' }),
      'match_on',
      'absent_data',
    ],
    ['blanks around a value', checking('list', { values: ['root '] }), 'values[0]', 'surrounding_blanks'],
    [
      'a value in decomposed form',
      checking('list', { values: ['cafe\u0301'] }),
      'values[0]',
      'decomposed_text',
    ],
    [
      'an invisible character',
      checking('regex', { pattern: 'ad\u200bmin' }),
      'pattern',
      'invisible_characters',
    ],
    [
      'a value that is no word',
      checking('list', { values: ['c++'], match_mode: 'contains' }),
      'values[0]',
      'word_boundary',
    ],
    [
      'an option that needs another',
      checking('json', { required_fields: ['a'], allow_extra_fields: false }),
      'allow_extra_fields',
      'no_effect',
    ],
    [
      'a context of the agent',
      checking('sql', { required_column_values: { t: 't' } }),
      'required_column_values',
      'context_from_data',
    ],
  ] satisfies Mistake[]
).map(
  ([what, data, member, code]): Mistake => [what, data, `data.condition.evaluator.config.${member}`, code],
);

function checking(name: string, config: object, more: object = {}): object {
  const condition = { selector: { path: 'input' }, evaluator: { name, config } };
  return { execution: 'server', condition, action: { decision: 'deny' }, ...more };
}

const scoped = (scope: object) => checking('regex', { pattern: 'x' }, { scope });

const DRAFT = {
  template: {
    parameters: { words: { type: 'string_list', label: 'Words' } },
    definition_template: checking('list', { values: { $param: 'words' } }),
  },
};

interface Told {
  readonly code: string;
  readonly field: string;
  readonly message: string;
}

/** What a reply tells, without the wording. */
const places = (reply: RestReply | { body: { warnings?: Told[] } }) =>
  ((reply.body.warnings ?? []) as Told[]).map(({ field, code }) => `${field} ${code}`);

describeOnSqlite('warnings', (freshDatabaseUrl) => {
  let names = 0;
  const newName = (kind: string) => {
    names += 1;
    return `${kind}-number-${names}`;
  };
  /** Calls an RPC over gRPC with the plain form of its input. */
  const rpc = async (name: string, input: object) => {
    const outcome = await grpc.call(methodNamed(name), input);
    // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
    return outcome as any;
  };

  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_DUPLICATE_MEMBERS: 'last',
  }));
  const { call, seed } = service;
  const grpc = suiteClient(service, 'gRPC (Connect transport)');

  describe('about a definition', () => {
    it.each(MISTAKES)(
      'report %s over REST and gRPC, on create, validate and replace',
      async (_, data, field, code) => {
        const created = await call('PUT', CONTROLS, { name: newName('control'), data });
        expect(places(created)).toEqual([`${field} ${code}`]);
        const id = created.body.control_id;
        expect(places(await call('POST', `${CONTROLS}/validate`, { data }))).toEqual([`${field} ${code}`]);
        expect(places(await call('PUT', `${CONTROLS}/${id}/data`, { data }))).toEqual([`${field} ${code}`]);
        for (const [method, input] of [
          ['CreateControl', { name: newName('control'), data }],
          ['ValidateControl', { data }],
          ['SetControlData', { control_id: id, data }],
        ] as const) {
          const outcome = await rpc(`ControlService.${method}`, input);
          expect(outcome).toMatchObject({ ok: true, reply: { warnings: [{ field, code }] } });
        }
      },
    );

    it.each(MISTAKES)('are refused in strict mode: %s', async (_, data, field, code) => {
      const before = (await call('GET', CONTROLS)).body.pagination.total;
      const name = newName('refused');
      const kept = await seed.control(newName('kept'));
      const replies = [
        await call('PUT', `${CONTROLS}?strict=true`, { name, data }),
        await call('PUT', CONTROLS, { name, data, strict: true }),
        await call('POST', `${CONTROLS}/validate?strict=1`, { data }),
        await call('PUT', `${CONTROLS}/${kept}/data?strict=yes`, { data }),
      ];
      for (const { status, body } of replies) {
        expect({ status, body }).toMatchObject(problem(422, 'VALIDATION_ERROR'));
        expect(body.errors).toEqual([{ resource: 'Control', field, code, message: expect.any(String) }]);
      }
      for (const [method, input] of [
        ['CreateControl', { name, data }],
        ['ValidateControl', { data }],
        ['SetControlData', { control_id: kept, data }],
      ] as const) {
        expect(await rpc(`ControlService.${method}`, { ...input, strict: true })).toMatchObject({
          ok: false,
          status: 'InvalidArgument',
          reason: 'VALIDATION_ERROR',
          fields: [`${field} ${code}`],
        });
      }
      expect((await call('GET', CONTROLS)).body.pagination.total).toBe(before + 1);
      expect((await call('GET', `${CONTROLS}/${kept}/data`)).body.data).toMatchObject(denyWord('bad'));
    });

    it('report members that are misspelled or there twice, at every level', async () => {
      const text = `{"name": "${newName('odd')}", "data": {
        "execution": "server", "scop": {"step_types": ["tool"]}, "enabeld": false,
        "condition": {"selector": {"pth": "input"}, "evaluator": {"name": "regex", "config": {"pattern": "x", "pattern": "y"}}},
        "action": {"decision": "deny"}}}`;
      const expected = [
        [
          'duplicate_member',
          'data.condition.evaluator.config.pattern',
          'stands in this object more than once',
        ],
        ['unknown_member', 'data.scop', 'unknown member; did you mean scope?'],
        ['unknown_member', 'data.enabeld', 'unknown member; did you mean enabled?'],
        ['unknown_member', 'data.condition.selector.pth', 'unknown member; did you mean path?'],
      ].map(([code, field, message]) => ({
        code,
        field,
        message: expect.stringContaining(message as string),
      }));
      const refused = await call('PUT', `${CONTROLS}?strict=true`, text);
      expect(refused.status).toBe(422);
      expect(refused.body.errors).toEqual(expected.map((item) => ({ resource: 'Control', ...item })));
      const created = await call('PUT', CONTROLS, text);
      expect(created.body.warnings).toEqual(expected);
    });

    it('report members misspelled over Connect with JSON, which refuses those that are there twice', async () => {
      const text = `{"name": "${newName('odd')}", "nme": 1, "data": {
        "execution": "EXECUTION_SERVER", "scop": {"stepTypes": ["tool"]}, "scope": {"stepType": [], "stages": []},
        "condition": {"and": {"conditions": [
          {"selectr": {}, "selector": {}, "evaluator": {"name": "regex", "config": {"pattern": "x"}}}]}},
        "action": {"decision": "DECISION_DENY"}}}`;
      const url = '/enforcement.v1.ControlService/CreateControl';
      const strict = await call('POST', url, text.replace('{', '{"strict": true, '));
      expect(strict).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
      const twice = await call('POST', url, text.replace('"pattern": "x"', '"pattern": "x", "pattern": "y"'));
      expect(twice).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
      const reply = await call('POST', url, text);
      expect(places(reply)).toEqual([
        'nme unknown_member',
        'data.scop unknown_member',
        'data.scope.stepType unknown_member',
        'data.condition.and[0].selectr unknown_member',
      ]);
    });

    it('report fields of a newer client over binary protocols', async () => {
      const client = createClient(ControlService, createGrpcTransport({ baseUrl: service.url }));
      const data = create(ControlDefinitionSchema, {
        execution: 1,
        condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } },
        action: { decision: 1 },
      });
      data.$unknown = [{ no: 200, wireType: WireType.Varint, data: Uint8Array.of(1) }];
      const reply = await client.createControl({ name: newName('newer'), data });
      expect(reply.warnings).toMatchObject([{ code: 'unknown_member', field: 'data' }]);
      expect(reply.warnings[0]?.message).toContain('200');
    });

    it('report an evaluator that is not there, and what was probably meant', async () => {
      const data = checking('regexp', { pattern: 'x' });
      const created = await call('PUT', CONTROLS, { name: newName('control'), data });
      expect(places(created)).toEqual(['data.condition.evaluator.name unknown_evaluator']);
      expect(created.body.warnings[0].message).toContain(
        'The service has no evaluator "regexp"; did you mean regex?',
      );
      expect((await call('PUT', `${CONTROLS}?strict=true`, { name: newName('x'), data })).status).toBe(422);
      // Clients may have it.
      const sdk = { ...data, execution: 'sdk' };
      const told = await call('PUT', `${CONTROLS}?strict=true`, { name: newName('sdk'), data: sdk });
      expect(places(told)).toEqual(['data.condition.evaluator.name client_evaluator']);
    });

    it('name the values a template lacks: when it is stored, linked, put into a policy and explained', async () => {
      const incomplete = ['template_values.words incomplete_template'];
      const name = newName('draft');
      const created = await call('PUT', CONTROLS, { name, data: DRAFT });
      expect(places(created)).toEqual(incomplete);
      expect(created.body.warnings[0].message).toBe(
        'Stored as disabled draft: template_values.words is missing',
      );
      expect(places(await call('POST', `${CONTROLS}/validate`, { data: DRAFT }))).toEqual(incomplete);
      const refused = await call('PUT', `${CONTROLS}?strict=true`, { name: newName('x'), data: DRAFT });
      expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'template_values.words' }] } });
      const id = created.body.control_id;
      const agent = newName('agent-with-draft');
      await seed.agent(agent);
      const linked = await call('POST', `${AGENTS}/${agent}/controls/${id}`);
      expect(places(linked)).toEqual(incomplete);
      expect(linked.body.warnings[0].message).toContain(`control "${name}" (${id})`);
      const { policy_id: policy } = (await call('PUT', '/api/v1/policies', { name: newName('policy') })).body;
      expect(places(await call('POST', `/api/v1/policies/${policy}/controls/${id}`))).toEqual(incomplete);
      expect(places(await call('POST', `${AGENTS}/${agent}/policies/${policy}`))).toEqual(incomplete);
      expect(places(await call('POST', `${AGENTS}/${agent}/policy/${policy}`))).toEqual(incomplete);
      const links = await rpc('AgentService.AddAgentControl', { agent_name: agent, control_id: id });
      expect(links.reply.warnings).toMatchObject([{ code: 'incomplete_template' }]);
      const step = { type: 'llm', name: 'answer', input: 'x' };
      const explained = await call('POST', '/api/v1/evaluation/explain', {
        agent_name: agent,
        stage: 'pre',
        step,
      });
      expect(explained.body.controls[0]).toMatchObject({
        reason: 'template_unrendered',
        warnings: [{ code: 'incomplete_template', field: 'template_values.words' }],
      });
    });

    it('report problems of a rendered template', async () => {
      const more = { parameters: { words: { type: 'string_list', label: 'W', allowed_values: ['x'] } } };
      const template = { ...DRAFT.template, ...more };
      const request = { template, template_values: { words: ['x '] } };
      const rendered = await call('POST', '/api/v1/control-templates/render', request);
      expect(places(rendered)).toEqual([
        'template.parameters.words.allowed_values no_effect',
        'condition.evaluator.config.values[0] surrounding_blanks',
      ]);
      const strict = await call('POST', '/api/v1/control-templates/render?strict=true', request);
      expect(strict).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      const over = await rpc('TemplateService.RenderTemplate', request);
      expect(over.reply.warnings.map((one: Told) => one.code)).toEqual(['no_effect', 'surrounding_blanks']);
      const fine = await call('POST', '/api/v1/control-templates/render', {
        template: DRAFT.template,
        template_values: { words: ['x'] },
      });
      expect(Object.keys(fine.body)).toEqual(['control']);
    });

    it('come again when an older version is restored, which strict mode does not refuse', async () => {
      const data = checking('list', { values: ['root '] });
      const id = await seed.control(newName('restored'), data);
      await call('PUT', `${CONTROLS}/${id}/data`, { data: denyWord('x') });
      const restored = await call('POST', `${CONTROLS}/${id}/versions/1/restore`);
      expect(places(restored)).toEqual(['data.condition.evaluator.config.values[0] surrounding_blanks']);
    });
  });

  describe('about what agents have registered', () => {
    const agent = 'registered-steps-01';
    const STEPS = [
      {
        type: 'tool',
        name: 'send_mail',
        input_schema: { type: 'object', properties: { text: {}, to: {} }, additionalProperties: false },
      },
      { type: 'chain', name: 'research' },
    ];
    beforeAll(() => seed.agent(agent, { steps: STEPS }));

    it.each<[string, object, string[], string?]>([
      [
        'a type of another case',
        { step_types: ['Tool'] },
        ['data.scope.step_types[0] misspelled_step_type'],
        'tool',
      ],
      [
        'a type with a mistake',
        { step_types: ['tol'] },
        ['data.scope.step_types[0] misspelled_step_type'],
        'tool',
      ],
      [
        'an unknown type',
        { step_types: ['tool', 'workflow'] },
        ['data.scope.step_types[1] unregistered_step_type'],
      ],
      ['a registered type', { step_types: ['chain', 'llm'] }, []],
      [
        'a misspelled name',
        { step_names: ['send_mial'] },
        ['data.scope.step_names[0] unregistered_step_name'],
        'send_mail',
      ],
      [
        'a name of another type',
        { step_types: ['chain'], step_names: ['send_mail'] },
        ['data.scope.step_names[0] unregistered_step_name'],
      ],
      ['a registered name', { step_names: ['send_mail'], step_types: ['tool'] }, []],
      [
        'a pattern for no name',
        { step_name_regex: 'delete' },
        ['data.scope.step_name_regex unmatched_step_name_regex'],
      ],
      ['a pattern for a name', { step_name_regex: '^send' }, []],
    ])('report %s', async (_, scope, expected, meant) => {
      const reply = await call('POST', `${CONTROLS}/validate`, { data: scoped(scope) });
      expect(places(reply)).toEqual(expected);
      if (meant !== undefined) expect(reply.body.warnings[0].message).toContain(`did you mean ${meant}?`);
      const over = await rpc('ControlService.ValidateControl', { data: scoped(scope) });
      expect(over.reply.warnings.map(({ field, code }: Told) => `${field} ${code}`)).toEqual(expected);
    });

    it('report a selector that the schemas leave no room for', async () => {
      const at = (path: string, scope: object) => ({
        ...scoped(scope),
        condition: { selector: { path }, evaluator: { name: 'regex', config: { pattern: 'x' } } },
      });
      const validate = (data: object) => call('POST', `${CONTROLS}/validate`, { data });
      const reply = await validate(at('input.txt', { step_names: ['send_mail'] }));
      expect(places(reply)).toEqual(['data.condition.selector.path unreachable_selector']);
      expect(reply.body.warnings[0].message).toContain('did you mean text?');
      const notGuaranteed = ['data.condition.selector path_not_guaranteed'];
      for (const [path, scope, expected] of [
        ['input.text', { step_names: ['send_mail'] }, notGuaranteed],
        ['input.text.deep', { step_names: ['send_mail'] }, notGuaranteed],
        // A step without a schema may have anything.
        ['input.txt', { step_names: ['send_mail', 'research'] }, notGuaranteed],
        ['input.txt', {}, []],
        ['output.txt', { step_names: ['send_mail'] }, []],
      ] as const) {
        expect(places(await validate(at(path, scope)))).toEqual(expected);
      }
    });

    it('are not refused in strict mode unless they are misspellings', async () => {
      const strict = (scope: object) =>
        call('POST', `${CONTROLS}/validate?strict=true`, { data: scoped(scope) });
      expect((await strict({ step_types: ['workflow'], step_names: ['x'] })).status).toBe(200);
      expect((await strict({ step_name_regex: 'delete$' })).status).toBe(200);
      expect(await strict({ step_types: ['Tool'] })).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'data.scope.step_types[0]', code: 'misspelled_step_type' }] },
      });
    });

    it('come when a control is linked to an agent without such steps', async () => {
      const id = await seed.control(newName('scoped'), scoped({ step_names: ['send_mail', 'research'] }));
      const other = newName('other-agent');
      await seed.agent(other, { steps: [{ type: 'tool', name: 'research' }] });
      const linked = await call('POST', `${AGENTS}/${other}/controls/${id}`);
      expect(places(linked)).toEqual(['data.scope.step_names[0] unregistered_step_name']);
      expect(linked.body.warnings[0].message).toContain(`agent "${other}"`);
      const silent = newName('without-steps');
      await seed.agent(silent);
      const unsaid = await call('POST', `${AGENTS}/${silent}/controls/${id}`);
      expect(JSON.stringify(unsaid.body)).toBe('{"success":true}');
    });
  });

  describe('about a control that clients evaluate', () => {
    it('come when it is linked to an agent whose client never requested controls', async () => {
      const agent = newName('sdk-agent');
      await seed.agent(agent);
      const id = await seed.control(newName('sdk'), denyWord('x', { execution: 'sdk' }));
      const link = () => call('POST', `${AGENTS}/${agent}/controls/${id}`);
      expect(places(await link())).toEqual(['data.execution client_side']);
      // People look at all controls.
      await call('GET', `${AGENTS}/${agent}/controls`);
      expect(places(await link())).toEqual(['data.execution client_side']);
      const { policy_id: policy } = (await call('PUT', '/api/v1/policies', { name: newName('policy') })).body;
      expect(places(await call('POST', `/api/v1/policies/${policy}/controls/${id}`))).toEqual([]);
      expect(places(await call('POST', `${AGENTS}/${agent}/policies/${policy}`))).toEqual([
        'data.execution client_side',
      ]);
      expect(places(await call('POST', `/api/v1/policies/${policy}/controls/${id}`))).toEqual([
        'data.execution client_side',
      ]);
      await call('GET', `${AGENTS}/${agent}/controls?rendered_state=rendered&enabled_state=enabled`);
      await until(
        async () => places(await link()),
        (told) => told.length === 0,
      );
      expect(places(await call('POST', `/api/v1/policies/${policy}/controls/${id}`))).toEqual([]);
    });

    it('stop when a client watches the controls', async () => {
      const agent = newName('watching-agent');
      await seed.agent(agent);
      const id = await seed.control(newName('sdk'), denyWord('x', { execution: 'sdk' }));
      expect(places(await call('POST', `${AGENTS}/${agent}/controls/${id}`))).toEqual([
        'data.execution client_side',
      ]);
      const client = createClient(AgentService, createGrpcTransport({ baseUrl: service.url }));
      const ended = new AbortController();
      const messages = client
        .watchControls({ agentName: agent }, { signal: ended.signal })
        [Symbol.asyncIterator]();
      await messages.next();
      await until(
        async () => places(await call('POST', `${AGENTS}/${agent}/controls/${id}`)),
        (told) => told.length === 0,
      );
      ended.abort();
    });

    it('come in explanations', async () => {
      const agent = newName('explained-sdk');
      await seed.linked(agent, newName('sdk'), denyWord('x', { execution: 'sdk' }));
      const body = { agent_name: agent, stage: 'pre', step: { type: 'llm', name: 'answer', input: 'x' } };
      const { controls } = (await call('POST', '/api/v1/evaluation/explain', body)).body;
      expect(controls[0]).toMatchObject({ reason: 'not_server_side', warnings: [{ code: 'client_side' }] });
      expect(controls[0].warnings[0].message).toContain('never asked');
    });
  });

  it('come when a control that cannot be evaluated is linked', async () => {
    const agent = newName('linking-agent');
    await seed.agent(agent);
    const link = async (data: object) =>
      places(
        await call('POST', `${AGENTS}/${agent}/controls/${await seed.control(newName('linked'), data)}`),
      );
    expect(await link(denyWord('x', { enabled: false }))).toEqual([]);
    expect(await link(checking('regexp', {}))).toEqual(['data.condition.evaluator.name unknown_evaluator']);
    // What was told when it was written is not told again.
    expect(await link(checking('list', { values: ['root '] }))).toEqual([]);
  });

  describe('in explanations', () => {
    const explain = async (data: object, step: object = {}) => {
      const body = { stage: 'pre', step: { type: 'llm', name: 'answer', input: 'x', ...step }, data };
      return (await call('POST', '/api/v1/evaluation/explain', body)).body.controls[0];
    };

    it.each(MISTAKES)('report %s', async (_, data, field, code) => {
      expect(await explain(data)).toMatchObject({ warnings: [{ field, code }] });
    });

    it('report members that have no effect, and evaluators that are not there', async () => {
      expect(await explain({ ...denyWord('x'), scop: {} })).toMatchObject({
        warnings: [{ code: 'unknown_member', field: 'data.scop' }],
      });
      expect(await explain(checking('regexp', {}))).toMatchObject({
        warnings: [{ code: 'unknown_evaluator' }],
      });
    });

    it('report the end of a pattern only for a step name with a line break behind it', async () => {
      const data = scoped({ step_name_regex: '^answer$' });
      expect(await explain(data)).toMatchObject({ applies: true, warnings: [] });
      expect(await explain(data, { name: 'answer\n' })).toMatchObject({
        applies: false,
        warnings: [{ code: 'end_anchor', field: 'data.scope.step_name_regex' }],
      });
    });

    it('come over gRPC as well', async () => {
      const client = createClient(EvaluationService, createGrpcTransport({ baseUrl: service.url }));
      const reply = await client.explain({
        stage: 1,
        step: { type: 'llm', name: 'answer', input: { kind: { case: 'stringValue', value: 'x' } } },
        data: {
          execution: 1,
          condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'a^b' } } },
          action: { decision: 1 },
        },
      });
      expect(reply.controls[0]?.warnings).toMatchObject([{ code: 'never_matches' }]);
    });
  });

  describe('about a change that changes nothing', () => {
    it('are errors: PATCH of a control by members that it does not have', async () => {
      const id = await seed.control(newName('patched'));
      const patch = (body: unknown, query = '') => call('PATCH', `${CONTROLS}/${id}${query}`, body);
      const refused = await patch({ template_values: {}, nonsense: 1, enabeld: true });
      expect(refused).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      expect(refused.body.errors).toEqual(
        [
          ['template_values', `template_values cannot be patched; use PUT /controls/${id}/data`],
          ['nonsense', 'unknown member'],
          ['enabeld', 'unknown member; did you mean enabled?'],
        ].map(([field, message]) => ({ resource: 'Control', field, code: 'extra_forbidden', message })),
      );
      expect((await patch({ name: null, control_id: 7 })).status).toBe(422);
      expect(JSON.stringify((await patch({})).body)).toMatch(
        /^{"success":true,"name":"[\w-]+","enabled":true}$/,
      );
      expect((await patch({ name: null })).status).toBe(200);
    });

    it('are warnings when there is something to change, and errors in strict mode', async () => {
      const id = await seed.control(newName('patched'));
      const patch = (query: string) =>
        call('PATCH', `${CONTROLS}/${id}${query}`, { enabled: false, template_values: {} });
      expect((await patch('?strict=true')).status).toBe(422);
      expect((await call('GET', `${CONTROLS}/${id}/data`)).body.data.enabled).toBe(true);
      const patched = await patch('');
      expect(patched).toMatchObject({ status: 200, body: { enabled: false } });
      expect(places(patched)).toEqual(['template_values unknown_member']);
    });

    it('are errors: PATCH of an agent by members that it does not have', async () => {
      const agent = newName('patched-agent');
      await seed.agent(agent, { steps: [{ type: 'tool', name: 'a' }] });
      const patch = (body: object, query = '') => call('PATCH', `${AGENTS}/${agent}${query}`, body);
      expect(await patch({ remove_step: [{ type: 'tool', name: 'a' }] })).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'remove_step', message: 'unknown member; did you mean remove_steps?' }] },
      });
      expect((await patch({ remove_evaluators: ['x'], steps: [] }, '?strict=true')).status).toBe(422);
      const mixed = await patch({ remove_steps: [{ type: 'tool', name: 'a' }], stps: [] });
      expect(mixed).toMatchObject({ status: 200, body: { steps_removed: [{ name: 'a' }] } });
      expect(places(mixed)).toEqual(['stps unknown_member']);
      expect(JSON.stringify((await patch({})).body)).toBe('{"steps_removed":[],"evaluators_removed":[]}');
    });

    it('are reported by initAgent', async () => {
      const agent = { agent_name: newName('registered'), agent_nmae: 'x' };
      const body = { agent, stps: [], target_type: 'env', target_id: 'prod' };
      const reply = await call('POST', `${AGENTS}/initAgent`, body);
      expect(places(reply)).toEqual(['agent.agent_nmae unknown_member', 'stps unknown_member']);
      const usual = await call('POST', `${AGENTS}/initAgent`, { agent: { agent_name: agent.agent_name } });
      expect(Object.keys(usual.body)).toEqual([
        'created',
        'controls',
        'overwrite_applied',
        'overwrite_changes',
      ]);
    });
  });

  describe('about filters and parameters', () => {
    it.each(['query', 'export'])('are errors of events/%s', async (route) => {
      const search = (body: object) => call('POST', `/api/v1/observability/events/${route}`, body);
      expect(await search({ agent: 'x', limit_: 5 })).toMatchObject(
        problem(422, 'VALIDATION_ERROR', {
          errors: [
            {
              resource: 'Request',
              field: 'agent',
              code: 'extra_forbidden',
              message: 'unknown filter; did you mean agent_name?',
            },
            { field: 'limit_' },
          ],
        }),
      );
      expect((await search({ agent_name: null, control_ids: null, matched: null })).status).toBe(200);
    });

    it('are errors of QueryEvents, ExportEvents and WatchEvents over Connect with JSON', async () => {
      const url = '/enforcement.v1.ObservabilityService';
      const reply = await call('POST', `${url}/QueryEvents`, { agent: 'x' });
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
      expect(reply.body.message).toContain('agent: unknown filter; did you mean agent_name?');
      for (const method of ['ExportEvents', 'WatchEvents']) {
        const message = Buffer.from('{"agent": "x"}');
        const prefix = Buffer.from([0, 0, 0, 0, message.length]);
        const response = await fetch(`${service.url}${url}/${method}`, {
          method: 'POST',
          headers: { 'content-type': 'application/connect+json' },
          body: Buffer.concat([prefix, message]),
        });
        expect(await response.text()).toContain('agent: unknown filter; did you mean agent_name?');
      }
    });

    it.each<[string, string, string, string?]>([
      ['GET', `${CONTROLS}?nam=x`, 'nam: unknown query parameter; did you mean name?'],
      ['GET', `${CONTROLS}?strict=true&limit=1`, 'strict: unknown query parameter'],
      ['GET', `${AGENTS}?Limit=1`, 'Limit: unknown query parameter; did you mean limit?'],
      [
        'GET',
        '/api/v1/observability/stats?agent_name=some-agent-01&range=1h',
        'range: unknown query parameter; did you mean time_range?',
      ],
      ['POST', `${CONTROLS}/validate?Strict=true`, 'Strict: unknown query parameter; did you mean strict?'],
      ['PUT', '/api/v1/policies', 'controls: unknown member', '{"name": "%", "controls": [1]}'],
    ])('are told by a header of %s %s', async (method, path, expected, text) => {
      const body =
        text?.replace('%', newName('policy')) ?? (method === 'GET' ? undefined : { data: denyWord('x') });
      const reply = await call(method, path, body);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('x-service-warning')).toBe(expected);
    });

    it('are not in the header for a request as it should be, or for a reply that lists them itself', async () => {
      const usual = await call('GET', `${CONTROLS}?limit=1&name=`);
      expect(usual.headers.get('x-service-warning')).toBeNull();
      const told = await call('POST', `${CONTROLS}/validate`, { data: { ...denyWord('x'), scop: 1 } });
      expect(places(told)).toEqual(['data.scop unknown_member']);
      expect(told.headers.get('x-service-warning')).toBeNull();
    });

    it('travel as a trailer over gRPC', async () => {
      const reply = await call('POST', '/enforcement.v1.ControlService/ListControls', { nam: 'x' });
      expect(reply.headers.get('trailer-x-service-warning')).toBe('nam: unknown member; did you mean name?');
    });

    it('are readable for pages of other origins', async () => {
      const { headers } = await call('GET', `${CONTROLS}?nam=x`, undefined, {
        origin: 'https://console.example',
      });
      expect(headers.get('access-control-expose-headers')).toContain('x-service-warning');
    });
  });

  it('state in strict mode over gRPC which member is meant, in the message and in the details', async () => {
    const client = createClient(ControlService, createGrpcTransport({ baseUrl: service.url }));
    const failure = await client
      .createControl({
        strict: true,
        name: newName('x'),
        data: {
          execution: 1,
          condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x', flag: ['I'] } } },
          action: { decision: 1 },
        },
      })
      .catch((error: unknown) => ConnectError.from(error));
    if (!(failure instanceof ConnectError)) throw new Error('it was accepted');
    expect(failure.code).toBe(Code.InvalidArgument);
    const field = 'data.condition.evaluator.config.flag';
    const description = 'unknown member; did you mean flags?';
    expect(failure.rawMessage).toContain(`${field}: ${description}`);
    expect(failure.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
      { field, description, reason: 'UNKNOWN_MEMBER' },
    ]);
  });
});

describeOnSqlite('strict mode by setting', (freshDatabaseUrl) => {
  const service = suiteService(async () => ({
    DATABASE_URL: await freshDatabaseUrl(),
    SERVICE_STRICT_DEFINITIONS: 'true',
  }));
  const { call } = service;

  it('refuses mistaken members of a request that requests nothing, or less', async () => {
    const data = { ...denyWord('x'), scop: {} };
    for (const query of ['', '?strict=false']) {
      expect((await call('PUT', CONTROLS + query, { name: 'x', data })).status).toBe(422);
      expect((await call('POST', `${CONTROLS}/validate${query}`, { data, strict: false })).status).toBe(422);
    }
    const created = await call('PUT', CONTROLS, { name: 'fine', data: denyWord('x') });
    expect(created).toMatchObject({ status: 200, body: { warnings: [] } });
    const path = `${CONTROLS}/${created.body.control_id}`;
    expect((await call('PUT', `${path}/data`, { data })).status).toBe(422);
    expect((await call('PATCH', path, { enabled: false, scop: {} })).status).toBe(422);
    expect((await call('PATCH', path, { enabled: false })).status).toBe(200);
  });

  it('refuses parameters of a query that a route does not have', async () => {
    const reply = await call('GET', `${CONTROLS}?nam=x`);
    expect(reply).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            resource: 'Request',
            field: 'query.nam',
            code: 'extra_forbidden',
            message: 'unknown query parameter; did you mean name?',
          },
        ],
      },
    });
    expect((await call('GET', `${CONTROLS}?name=x`)).status).toBe(200);
  });

  it('lets agents register whatever they send', async () => {
    const body = { agent: { agent_name: 'strict-agent-01' }, stps: [] };
    const reply = await call('POST', `${AGENTS}/initAgent`, body);
    expect(reply).toMatchObject({ status: 200, body: { warnings: [{ field: 'stps' }] } });
  });
});

describe('the messages of common mistakes', () => {
  const service = suiteService();
  const { call } = service;
  const grpc = suiteClient(service, 'gRPC (Connect transport)');

  it.each<[string, string, object, string]>([
    ['PUT', CONTROLS, { name: 'x', dat: denyWord('x') }, 'dat: unknown member; did you mean data?'],
    ['POST', `${AGENTS}/initAgent`, { agent_name: 'some-agent-01' }, 'agent_name: unknown member'],
    [
      'PUT',
      CONTROLS,
      { name: 'x', data: { ...denyWord('x'), actions: 1, action: undefined } },
      'data.actions: unknown member; did you mean action?',
    ],
  ])(
    'hint at the member that is not read when one is missing: %s %s %j',
    async (method, path, body, hint) => {
      const reply = await call(method, path, body);
      expect(reply).toMatchObject({ status: 422, body: { errors: [{ code: 'missing' }] } });
      expect(reply.body.hint).toContain(hint);
    },
  );

  const pattern = (text: string) => checking('regex', { pattern: text });
  const steer = { condition: { not: checking('regex', { pattern: 'x' }) }, action: { decision: 'steer' } };
  it.each<[string, object, string, string]>([
    ['look-behind', pattern('(?<=a)b'), 'data.condition.evaluator.pattern', 'RE2 has no look-behind (?<=…)'],
    [
      'negative look-behind',
      pattern('(?<!a)b'),
      'data.condition.evaluator.pattern',
      'RE2 has no look-behind (?<!…)',
    ],
    ['look-ahead', pattern('a(?=b)'), 'data.condition.evaluator.pattern', 'RE2 has no look-ahead (?=…)'],
    [
      'negative look-ahead',
      pattern('a(?!b)'),
      'data.condition.evaluator.pattern',
      'RE2 has no look-ahead (?!…)',
    ],
    ['a back-reference', pattern('(a)\\1'), 'data.condition.evaluator.pattern', 'RE2 has no back-references'],
    [
      'a possessive quantifier',
      pattern('a++'),
      'data.condition.evaluator.pattern',
      'RE2 has no possessive quantifiers',
    ],
    [
      'a missing parenthesis',
      pattern('(a'),
      'data.condition.evaluator.pattern',
      'Invalid regex pattern: missing closing )',
    ],
    [
      'a pattern of a scope',
      scoped({ step_name_regex: '(?<=a)b' }),
      'data.scope.step_name_regex',
      'Invalid regex pattern: RE2 has no look-behind (?<=…)',
    ],
    [
      'steer without guidance',
      {
        ...denyWord('x'),
        ...steer,
        condition: { not: (checking('regex', { pattern: 'x' }) as { condition: object }).condition },
      },
      'data',
      'action.steering_context: required for steer when the condition is and, or, not',
    ],
  ])('say what is wrong with %s', async (_, data, field, message) => {
    const reply = await call('POST', `${CONTROLS}/validate`, { data });
    expect(reply).toMatchObject({ status: 422, body: { errors: [{ field, code: 'value_error' }] } });
    expect(reply.body.errors[0].message).toContain(message);
    expect(await grpc.call(methodNamed('ControlService.ValidateControl'), { data })).toMatchObject({
      ok: false,
      status: 'InvalidArgument',
      fields: [`${field} value_error`],
    });
  });
});
