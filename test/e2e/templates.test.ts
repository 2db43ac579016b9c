import { beforeAll, describe, expect, it } from 'vitest';
import type { RestReply } from '../support/http.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { damageControl } from '../support/sql.js';

const CONTROLS = '/api/v1/controls';
const RENDER = '/api/v1/control-templates/render';

/** Denies steps whose input has one of the words; the action is a parameter with a default. */
const TEMPLATE = {
  description: 'from a template',
  parameters: {
    words: { type: 'string_list', label: 'Words' },
    decision: { type: 'enum', label: 'Decision', allowed_values: ['deny', 'warn'], default: 'deny' },
  },
  definition_template: {
    execution: 'server',
    scope: { step_types: ['llm'], stages: ['pre'] },
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
    },
    action: { decision: { $param: 'decision' } },
    tags: ['words'],
  },
};
const WORDS = { words: ['bad'] };
const COMPLETE = { template: TEMPLATE, template_values: WORDS };
const INCOMPLETE = { template: TEMPLATE, template_values: { decision: 'deny' } };
const RAW = denyWord('raw');

/** A parameter as it is printed without nulls. */
const PRINTED_TEMPLATE = {
  ...TEMPLATE,
  parameters: {
    words: { label: 'Words', required: true, type: 'string_list' },
    decision: {
      label: 'Decision',
      required: true,
      type: 'enum',
      allowed_values: ['deny', 'warn'],
      default: 'deny',
    },
  },
};
const PRINTED = {
  condition: {
    selector: { path: 'input' },
    evaluator: { name: 'list', config: { values: ['bad'], match_mode: 'contains' } },
  },
  enabled: true,
  execution: 'server',
  scope: { step_types: ['llm'], stages: ['pre'] },
  action: { decision: 'deny' },
  tags: ['words'],
  template: PRINTED_TEMPLATE,
  template_values: { words: ['bad'], decision: 'deny' },
};
const PRINTED_DRAFT = {
  enabled: false,
  template: PRINTED_TEMPLATE,
  template_values: { decision: 'deny' },
};

describeService('templates', ({ call, seed, service }) => {
  let names = 0;
  const newName = () => {
    names += 1;
    return `template-${names}-control`;
  };
  const create = (data: object) => seed.control(newName(), data);
  const dataOf = async (id: number) => (await call('GET', `${CONTROLS}/${id}/data`)).body.data;
  const put = (id: number, data: object) => call('PUT', `${CONTROLS}/${id}/data`, { data });
  const patch = (id: number, change: object) => call('PATCH', `${CONTROLS}/${id}`, change);
  /** Status, code and items of a refusal. */
  const problem = ({ status, body }: RestReply) => [
    status,
    body.error_code,
    ...(body.errors ?? []).map(({ field, code }: { field?: string; code: string }) => `${field} ${code}`),
  ];
  const MISSING = [422, 'TEMPLATE_PARAMETER_INVALID', 'template_values.words missing_parameter'];
  const CONFLICT = [409, 'CONTROL_TEMPLATE_CONFLICT', 'data template_backed_control_conflict'];

  describe('rendering', () => {
    it('gives the definition with the template and all values, and stores nothing', async () => {
      const before = (await call('GET', CONTROLS)).body.pagination.total;
      expect(await call('POST', RENDER, COMPLETE)).toMatchObject({ status: 200 });
      expect((await call('POST', RENDER, COMPLETE)).body).toStrictEqual({ control: PRINTED });
      expect((await call('GET', CONTROLS)).body.pagination.total).toBe(before);
    });

    it('needs all values', async () => {
      expect(problem(await call('POST', RENDER, INCOMPLETE))).toEqual(MISSING);
      expect(problem(await call('POST', RENDER, { template: TEMPLATE }))).toEqual(MISSING);
    });

    it('takes nothing beside the template and its values', async () => {
      expect(problem(await call('POST', RENDER, { ...COMPLETE, name: 'x', tags: [] }))).toEqual([
        422,
        'VALIDATION_ERROR',
        'name extra_forbidden',
        'tags extra_forbidden',
      ]);
    });

    it('blames the parameter that made the definition invalid', async () => {
      const template_values = { ...WORDS, decision: 'warn' };
      const reply = await call('POST', RENDER, { template: TEMPLATE, template_values });
      expect(reply.body).toMatchObject({
        error_code: 'TEMPLATE_PARAMETER_INVALID',
        title: 'Template Parameter Invalid',
        status: 422,
        details: { kind: 'Control' },
      });
      expect(reply.body.errors).toStrictEqual([
        {
          resource: 'Control',
          field: 'template_values.decision',
          code: 'template_parameter_invalid',
          message: expect.any(String),
          value: '[REDACTED]',
          parameter: 'decision',
          parameter_label: 'Decision',
          rendered_field: 'action.decision',
        },
      ]);
      expect(reply.body.details.causes).toEqual(reply.body.errors);
    });
  });

  describe('the data of a control', () => {
    it.each<[string, object, string[]]>([
      ['a template and a written member', { ...COMPLETE, tags: [] }, ['data value_error']],
      ['a template and a null member', { ...COMPLETE, selector: null, other: 1 }, ['data value_error']],
      ['a template and a name', { ...COMPLETE, name: 'x' }, ['data.name extra_forbidden']],
      [
        'a template and other members',
        { ...COMPLETE, a: 1, b: null },
        ['data.a extra_forbidden', 'data.b extra_forbidden'],
      ],
      ['values without a template', { ...RAW, template_values: {} }, ['data value_error']],
      [
        'a parameter without a type',
        { template: { parameters: { x: { label: 'X' } }, definition_template: {} } },
        ['data.template.parameters.x union_tag_not_found'],
      ],
    ])('may not be %s', async (_what, data, items) => {
      for (const reply of [
        await call('PUT', CONTROLS, { name: newName(), data }),
        await call('POST', `${CONTROLS}/validate`, { data }),
      ]) {
        expect(problem(reply)).toEqual([422, 'VALIDATION_ERROR', ...items]);
      }
    });

    it('are checked on creation and validation: structure, values, definition', async () => {
      const unused = {
        ...TEMPLATE,
        parameters: { ...TEMPLATE.parameters, more: { type: 'string', label: 'M' } },
      };
      const cases: [object, unknown[]][] = [
        [
          { template: unused },
          [422, 'TEMPLATE_RENDER_ERROR', 'template.parameters.more unused_template_parameter'],
        ],
        [
          { template: TEMPLATE, template_values: { decision: 'x', words: true } },
          [422, 'TEMPLATE_PARAMETER_INVALID', 'template_values.words invalid_type'],
        ],
        [
          { template: TEMPLATE, template_values: { decision: 'x' } },
          [422, 'TEMPLATE_PARAMETER_INVALID', 'template_values.decision invalid_enum_value'],
        ],
        [
          { template: TEMPLATE, template_values: { words: [''] } },
          [422, 'TEMPLATE_RENDER_ERROR', 'condition.evaluator.values[0] value_error'],
        ],
      ];
      for (const [data, expected] of cases) {
        expect(problem(await call('PUT', CONTROLS, { name: newName(), data }))).toEqual(expected);
        expect(problem(await call('POST', `${CONTROLS}/validate`, { data }))).toEqual(expected);
      }
    });

    it('may be a template whose values are incomplete', async () => {
      const reply = await call('POST', `${CONTROLS}/validate`, { data: INCOMPLETE });
      expect(reply.body).toMatchObject({ success: true, warnings: [{ code: 'incomplete_template' }] });
    });

    it('are checked after the name', async () => {
      const id = await create(RAW);
      const { name } = (await call('GET', `${CONTROLS}/${id}`)).body;
      const reply = await call('PUT', CONTROLS, { name, data: { template: { definition_template: [] } } });
      expect(problem(reply).slice(0, 2)).toEqual([409, 'CONTROL_NAME_CONFLICT']);
    });

    it('warn of unknown evaluators in what a template gives', async () => {
      const definition_template = {
        ...RAW,
        condition: { selector: {}, evaluator: { name: 'not-there', config: {} } },
      };
      const reply = await call('PUT', CONTROLS, {
        name: newName(),
        data: { template: { definition_template } },
      });
      expect(reply.body.warnings).toMatchObject([{ code: 'unknown_evaluator' }]);
    });
  });

  describe('a control', () => {
    it('made from a template shows the definition beside it', async () => {
      const id = await create(COMPLETE);
      expect(await dataOf(id)).toStrictEqual(PRINTED);
      const { data } = (await call('GET', `${CONTROLS}/${id}`)).body;
      expect(Object.keys(data)).toEqual([
        ...['condition', 'description', 'enabled', 'execution', 'scope', 'action', 'tags'],
        ...['template', 'template_values'],
      ]);
      const { words, decision } = data.template.parameters;
      expect(JSON.stringify(words)).toBe(
        '{"label":"Words","description":null,"required":true,"ui_hint":null,"type":"string_list",' +
          '"default":null,"placeholder":null}',
      );
      expect(JSON.stringify(decision)).toBe(
        '{"label":"Decision","description":null,"required":true,"ui_hint":null,"type":"enum",' +
          '"allowed_values":["deny","warn"],"default":"deny"}',
      );
    });

    it('without a template prints null for it', async () => {
      const id = await create(RAW);
      const { data } = (await call('GET', `${CONTROLS}/${id}`)).body;
      expect(data).toMatchObject({ template: null, template_values: null });
      expect(Object.keys(await dataOf(id))).not.toContain('template');
    });

    it('that is a draft shows its template, its values and that it is disabled', async () => {
      const id = await create(INCOMPLETE);
      expect(await dataOf(id)).toStrictEqual(PRINTED_DRAFT);
      const { data } = (await call('GET', `${CONTROLS}/${id}`)).body;
      expect(Object.keys(data).sort()).toEqual(['enabled', 'template', 'template_values']);
      expect(data).toMatchObject({
        enabled: false,
        template: { description: 'from a template' },
        template_values: { decision: 'deny' },
      });
    });
  });

  describe('replacing data', () => {
    const stored = { raw: RAW, rendered: COMPLETE, draft: INCOMPLETE };
    const disable = async (id: number) => {
      await patch(id, { enabled: false });
      return id;
    };

    it.each(['rendered', 'draft'] as const)(
      'refuses a written definition over a %s template',
      async (kind) => {
        const id = await create(stored[kind]);
        const before = await dataOf(id);
        expect(problem(await put(id, RAW))).toEqual(CONFLICT);
        expect(await dataOf(id)).toEqual(before);
      },
    );

    it.each(['raw', 'rendered'] as const)(
      'by a complete template keeps the state of a %s control',
      async (kind) => {
        const id = await create(stored[kind]);
        expect((await put(id, COMPLETE)).body).toEqual({ success: true, warnings: [] });
        expect(await dataOf(id)).toEqual(PRINTED);
        await disable(id);
        expect((await put(id, COMPLETE)).status).toBe(200);
        expect(await dataOf(id)).toEqual({ ...PRINTED, enabled: false });
      },
    );

    it.each(['raw', 'rendered'] as const)('of a %s control needs all values', async (kind) => {
      const id = await create(stored[kind]);
      const before = await dataOf(id);
      expect(problem(await put(id, INCOMPLETE))).toEqual(MISSING);
      expect(await dataOf(id)).toEqual(before);
    });

    it('of a draft by a complete template leaves it disabled', async () => {
      const id = await create(INCOMPLETE);
      expect((await put(id, COMPLETE)).status).toBe(200);
      expect(await dataOf(id)).toEqual({ ...PRINTED, enabled: false });
    });

    it('of a draft by an incomplete template leaves it a draft', async () => {
      const id = await create(INCOMPLETE);
      expect((await put(id, { template: TEMPLATE })).status).toBe(200);
      expect(await dataOf(id)).toEqual({ ...PRINTED_DRAFT, template_values: {} });
    });

    it.each([
      ['nothing', '{}', true],
      ['a template that is damaged', '{"template":5,"template_values":{},"enabled":false}', false],
    ])('repairs %s', async (_what, text, enabled) => {
      const incomplete = await disable(await create(RAW));
      await damageControl(service.databaseUrl, incomplete, text);
      expect((await put(incomplete, INCOMPLETE)).status).toBe(200);
      expect(await dataOf(incomplete)).toEqual(PRINTED_DRAFT);
      const complete = await disable(await create(RAW));
      await damageControl(service.databaseUrl, complete, text);
      expect((await put(complete, COMPLETE)).status).toBe(200);
      expect(await dataOf(complete)).toEqual({ ...PRINTED, enabled });
      const written = await create(COMPLETE);
      await damageControl(service.databaseUrl, written, text);
      expect((await put(written, RAW)).status).toBe(200);
      expect(await dataOf(written)).toMatchObject({ execution: 'server', enabled: true });
    });

    it('of a damaged definition needs all values', async () => {
      const id = await create(RAW);
      await damageControl(service.databaseUrl, id, JSON.stringify({ ...RAW, action: {} }));
      expect(problem(await put(id, INCOMPLETE))).toEqual(MISSING);
    });

    it('looks for the control first', async () => {
      expect(problem(await put(999_999, { template: { definition_template: [] } }))).toEqual([
        404,
        'CONTROL_NOT_FOUND',
      ]);
    });
  });

  describe('a draft', () => {
    it('cannot be enabled, and nothing of the call is done', async () => {
      const id = await create(INCOMPLETE);
      const { name } = (await call('GET', `${CONTROLS}/${id}`)).body;
      expect(problem(await patch(id, { enabled: true, name: newName() }))).toEqual([
        422,
        'VALIDATION_ERROR',
        'enabled unrendered_template_cannot_enable',
      ]);
      expect((await call('GET', `${CONTROLS}/${id}`)).body.name).toBe(name);
    });

    it('can be disabled and renamed', async () => {
      const id = await create(INCOMPLETE);
      const name = newName();
      expect((await patch(id, { enabled: false, name })).body).toEqual({
        success: true,
        name,
        enabled: false,
      });
      expect((await patch(id, {})).body).toEqual({ success: true, name, enabled: false });
      expect(await dataOf(id)).toEqual(PRINTED_DRAFT);
    });

    it('that is damaged is one problem', async () => {
      const agent = 'damaged-draft-agent';
      await seed.agent(agent);
      const id = await create(INCOMPLETE);
      await seed.link(agent, id);
      const text = '{"template":{"parameters":5},"template_values":{},"enabled":false}';
      await damageControl(service.databaseUrl, id, text);
      for (const path of [`${CONTROLS}/${id}/data`, `/api/v1/agents/${agent}/controls`]) {
        const reply = await call('GET', path);
        expect(problem(reply)).toEqual([422, 'CORRUPTED_DATA', 'data corrupted_data']);
        expect(reply.body.details.name).toBe(String(id));
      }
      expect((await call('GET', `${CONTROLS}/${id}`)).body.data).toBeNull();
      expect((await evaluate(call, agent, 'bad')).body).toMatchObject({ is_safe: true, errors: [] });
    });

    it('that is marked as enabled is damaged, and fails closed', async () => {
      const agent = 'enabled-draft-agent';
      await seed.agent(agent);
      const id = await create(INCOMPLETE);
      await seed.link(agent, id);
      const text = JSON.stringify({ template: TEMPLATE, template_values: {}, enabled: true });
      await damageControl(service.databaseUrl, id, text);
      expect((await call('GET', `${CONTROLS}/${id}/data`)).status).toBe(422);
      expect((await evaluate(call, agent, 'fine')).body).toMatchObject({
        is_safe: false,
        errors: [{ control_id: id }],
      });
    });

    it('takes part in nothing until it is filled in and enabled', async () => {
      const agent = 'draft-lifecycle-agent';
      await seed.agent(agent);
      const id = await create(INCOMPLETE);
      await seed.link(agent, id);
      const init = { agent: { agent_name: agent } };
      const active = async () => ({
        verdict: (await evaluate(call, agent, 'so bad')).body.is_safe as boolean,
        registered: (await call('POST', '/api/v1/agents/initAgent', init)).body.controls.length as number,
        counted: (await call('GET', `/api/v1/agents?name=${agent}`)).body.agents[0]
          .active_controls_count as number,
      });
      expect(await active()).toEqual({ verdict: true, registered: 0, counted: 0 });
      await put(id, COMPLETE);
      expect(await active()).toEqual({ verdict: true, registered: 0, counted: 0 });
      expect((await patch(id, { enabled: true })).body.enabled).toBe(true);
      expect(await active()).toEqual({ verdict: false, registered: 1, counted: 1 });
      await put(id, { template: TEMPLATE, template_values: { words: ['other'] } });
      expect(await active()).toEqual({ verdict: true, registered: 1, counted: 1 });
    });
  });

  describe('lists', () => {
    const agent = 'template-list-agent';
    let ids: { raw: number; rendered: number; disabled: number; draft: number };
    const label = (found: { id: number }[]) =>
      found.flatMap(({ id }) => Object.entries(ids).find(([, one]) => one === id)?.[0] ?? []).sort();
    beforeAll(async () => {
      await seed.agent(agent);
      const named = (name: string, data: object) => seed.control(`listed-${name}`, data);
      ids = {
        raw: await named(
          'raw',
          denyWord('x', { tags: ['words'], scope: { step_types: ['llm'], stages: ['pre'] } }),
        ),
        rendered: await named('rendered', COMPLETE),
        disabled: await named('disabled', { ...COMPLETE, template: { ...TEMPLATE, description: null } }),
        draft: await named('draft', INCOMPLETE),
      };
      await patch(ids.disabled, { enabled: false });
      for (const id of Object.values(ids)) await seed.link(agent, id);
    });

    it.each<[string, string[]]>([
      ['', ['disabled', 'draft', 'raw', 'rendered']],
      ['rendered_state=all', ['disabled', 'draft', 'raw', 'rendered']],
      ['rendered_state=rendered', ['disabled', 'raw', 'rendered']],
      ['rendered_state=unrendered', ['draft']],
      ['enabled_state=disabled', ['disabled', 'draft']],
      ['rendered_state=rendered&enabled_state=disabled', ['disabled']],
      ['rendered_state=unrendered&enabled_state=enabled', []],
    ])('of an agent with "%s"', async (query, expected) => {
      const { body } = await call('GET', `/api/v1/agents/${agent}/controls?${query}`);
      expect(label(body.controls)).toEqual(expected);
    });

    it.each<[string, string[]]>([
      ['template_backed=true', ['disabled', 'draft', 'rendered']],
      ['template_backed=false', ['raw']],
      ['enabled=false', ['disabled', 'draft']],
      ['execution=server', ['disabled', 'raw', 'rendered']],
      ['tag=words', ['disabled', 'raw', 'rendered']],
      ['step_type=llm', ['disabled', 'raw', 'rendered']],
      ['step_type=tool', []],
      ['stage=pre', ['disabled', 'raw', 'rendered']],
      ['stage=post', []],
    ])('of controls with %s', async (query, expected) => {
      const { body } = await call('GET', `${CONTROLS}?name=listed-&limit=100&${query}`);
      expect(label(body.controls)).toEqual(expected);
    });

    it('show what a template is and whether it is filled in', async () => {
      const { controls } = (await call('GET', `${CONTROLS}?name=listed-`)).body;
      const shown = controls.map((control: Record<string, unknown>) => {
        const { id, used_by_agent: _agent, used_by_agents_count: _count, action, ...rest } = control;
        const { attachments: _attachments, cloned_from_control_id: _cloned, ...summary } = rest;
        return { ...summary, action: (action as { decision: string } | null)?.decision ?? null };
      });
      const rendered = {
        execution: 'server',
        step_types: ['llm'],
        stages: ['pre'],
        tags: ['words'],
        template_backed: true,
        template_rendered: true,
        action: 'deny',
      };
      expect(shown).toEqual([
        {
          name: 'listed-draft',
          description: 'from a template',
          enabled: false,
          execution: null,
          step_types: null,
          stages: null,
          tags: [],
          template_backed: true,
          template_rendered: false,
          action: null,
        },
        { name: 'listed-disabled', description: null, enabled: false, ...rendered },
        { name: 'listed-rendered', description: 'from a template', enabled: true, ...rendered },
        {
          name: 'listed-raw',
          description: null,
          enabled: true,
          ...rendered,
          template_backed: false,
          template_rendered: null,
        },
      ]);
    });
  });
});
