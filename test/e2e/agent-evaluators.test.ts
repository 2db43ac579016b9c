import { describe, expect, it } from 'vitest';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { damageAgent, damageControl } from '../support/sql.js';

const INIT = '/api/v1/agents/initAgent';
const CONTROLS = '/api/v1/controls';

const TONE_SCHEMA = {
  type: 'object',
  properties: { level: { type: 'integer', minimum: 1, maximum: 5 }, words: { type: 'array' } },
  required: ['level'],
  additionalProperties: false,
};

const leaf = (name: string, config: object = {}) => ({
  selector: { path: 'output' },
  evaluator: { name, config },
});
const definition = (condition: object, more: object = {}) => ({
  execution: 'sdk',
  condition,
  action: { decision: 'deny' },
  ...more,
});

describeService('evaluators of agents', ({ call, seed, service }) => {
  let count = 0;

  /** A fresh agent with the evaluators `tone` (with a schema) and `free` (without one). */
  const freshAgent = async (evaluators: object[] = []): Promise<string> => {
    count += 1;
    const name = `evaluator-agent-${count}`;
    await seed.agent(name, {
      steps: [
        { type: 'tool', name: 'one' },
        { type: 'tool', name: 'two' },
      ],
      evaluators: [
        { name: 'tone', config_schema: TONE_SCHEMA, description: 'how it sounds' },
        { name: 'free' },
        ...evaluators,
      ],
    });
    return name;
  };
  const freshName = () => {
    count += 1;
    return `control-${count}`;
  };

  describe('are listed', () => {
    it('with every member, in the order of the contract', async () => {
      const agent = await freshAgent();
      const reply = await call('GET', `/api/v1/agents/${agent}/evaluators`);
      expect(reply.status).toBe(200);
      expect(JSON.stringify(reply.body)).toBe(
        JSON.stringify({
          evaluators: [
            {
              name: 'tone',
              description: 'how it sounds',
              config_schema: reply.body.evaluators[0].config_schema,
            },
            { name: 'free', description: null, config_schema: {} },
          ],
          pagination: { limit: 20, total: 2, next_cursor: null, has_more: false },
        }),
      );
      expect(reply.body.evaluators[0].config_schema).toEqual(TONE_SCHEMA);
    });

    it('page by page in the order of registration, whatever their names', async () => {
      const names = ['zeta', 'Alpha', 'alpha', 'a/b', ' x ', 'ü:y'];
      const agent = await freshAgent(names.map((name) => ({ name })));
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const query = `limit=3&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await call('GET', `/api/v1/agents/${agent}/evaluators?${query}`);
        seen.push(...body.evaluators.map(({ name }: { name: string }) => name));
        expect(body.pagination).toMatchObject({ limit: 3, total: 8, has_more: seen.length < 8 });
        cursor = body.pagination.next_cursor;
      }
      expect(seen).toEqual(['tone', 'free', ...names]);
    });

    it('from the start for a cursor that names none, and by a page size within bounds', async () => {
      const agent = await freshAgent();
      const list = async (query: string) =>
        (await call('GET', `/api/v1/agents/${agent}/evaluators?${query}`)).body;
      expect((await list('cursor=TONE')).evaluators).toHaveLength(2);
      expect((await list('limit=0')).pagination).toMatchObject({ limit: 1, next_cursor: 'tone' });
      expect((await list('limit=1000')).pagination).toMatchObject({ limit: 100, has_more: false });
      expect(await list('limit=x')).toMatchObject({ error_code: 'VALIDATION_ERROR' });
    });

    it('once when a new agent brought a name twice, with its last schema', async () => {
      const agent = await freshAgent([
        { name: 'twice', config_schema: { type: 'object' } },
        { name: 'between' },
        { name: 'twice', config_schema: { required: ['x'] } },
      ]);
      const { body } = await call('GET', `/api/v1/agents/${agent}/evaluators?limit=3`);
      expect(body.evaluators.at(-1)).toMatchObject({ name: 'twice', config_schema: { required: ['x'] } });
      expect(body.pagination).toMatchObject({ total: 4, next_cursor: 'twice' });
      const next = await call('GET', `/api/v1/agents/${agent}/evaluators?cursor=twice`);
      expect(next.body.evaluators).toMatchObject([{ name: 'between' }]);
    });

    it('one by one; an unknown one is not found', async () => {
      const agent = await freshAgent([{ name: 'ü:y z' }]);
      const path = `/api/v1/agents/${agent.toUpperCase()}/evaluators`;
      expect((await call('GET', `${path}/${encodeURIComponent('ü:y z')}`)).body).toEqual({
        name: 'ü:y z',
        description: null,
        config_schema: {},
      });
      expect(await call('GET', `${path}/Tone`)).toMatchObject(
        problem(404, 'EVALUATOR_NOT_FOUND', {
          reason: 'NotFound',
          details: { name: 'Tone', kind: 'Evaluator' },
        }),
      );
    });

    it('only for an agent that there is', async () => {
      for (const path of ['evaluators', 'evaluators/tone']) {
        const reply = await call('GET', `/api/v1/agents/nobody-at-all/${path}`);
        expect(reply).toMatchObject(problem(404, 'AGENT_NOT_FOUND'));
        const invalid = await call('GET', `/api/v1/agents/short/${path}`);
        expect(invalid).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      }
    });

    it('not at all when the registration cannot be read', async () => {
      const agent = await freshAgent();
      await damageAgent(service.databaseUrl, agent, '{"agent":');
      const list = await call('GET', `/api/v1/agents/${agent}/evaluators`);
      expect(list).toMatchObject({ status: 200, body: { evaluators: [], pagination: { total: 0 } } });
      const one = await call('GET', `/api/v1/agents/${agent}/evaluators/tone`);
      expect(one).toMatchObject(problem(404, 'EVALUATOR_NOT_FOUND'));
    });
  });

  describe('in a definition', () => {
    /** Every route that takes a definition, applied to `data`. */
    const everywhere = async (data: object) => {
      const existing = await seed.control(freshName());
      return {
        create: await call('PUT', CONTROLS, { name: freshName(), data }),
        validate: await call('POST', `${CONTROLS}/validate`, { data }),
        setData: await call('PUT', `${CONTROLS}/${existing}/data`, { data }),
        stored: (await call('GET', `${CONTROLS}/${existing}`)).body.data,
      };
    };
    const refusedEverywhere = async (data: object, expected: object) => {
      const { stored, ...replies } = await everywhere(data);
      for (const reply of Object.values(replies)) expect(reply).toMatchObject(expected);
      expect(stored.condition.evaluator.name).toBe('regex');
    };

    it('are accepted without a warning, and the definition comes back as it was sent', async () => {
      const agent = await freshAgent();
      const condition = {
        and: [leaf(`${agent}:tone`, { level: 2 }), leaf(`${agent}:free`, { any: ['thing'] })],
      };
      const { stored, ...replies } = await everywhere(definition(condition));
      for (const { status, body } of Object.values(replies)) {
        expect({ status, warnings: body.warnings }).toEqual({ status: 200, warnings: [] });
      }
      expect(stored.condition.and).toMatchObject(condition.and);
    });

    it('belong to an agent that exists, named as it is stored', async () => {
      const agent = await freshAgent();
      for (const name of ['nobody-at-all:tone', ':tone', `${agent.toUpperCase()}:tone`]) {
        await refusedEverywhere(
          definition(leaf(name)),
          problem(404, 'AGENT_NOT_FOUND', {
            details: { kind: 'Agent', name: name.slice(0, -':tone'.length) },
          }),
        );
      }
    });

    it('must be registered; the first colon ends the name of the agent', async () => {
      const agent = await freshAgent([{ name: 'a:b' }]);
      for (const name of [`${agent}:Tone`, `${agent}:`, `${agent}:tone:b`]) {
        await refusedEverywhere(
          definition({ not: leaf(name) }),
          problem(422, 'EVALUATOR_NOT_FOUND', {
            errors: [
              {
                resource: 'Control',
                field: 'data.condition.not.evaluator.name',
                code: 'evaluator_not_found',
              },
            ],
          }),
        );
      }
      const reply = await call('POST', `${CONTROLS}/validate`, { data: definition(leaf(`${agent}:a:b`)) });
      expect(reply.status).toBe(200);
    });

    it('are configured as their schema requires', async () => {
      const agent = await freshAgent();
      for (const config of [{}, { level: 0 }, { level: 'two' }, { level: 2, more: 1 }]) {
        await refusedEverywhere(
          definition({ and: [leaf('regex', { pattern: 'x' }), leaf(`${agent}:tone`, config)] }),
          problem(422, 'INVALID_CONFIG', {
            title: 'Invalid Configuration',
            errors: [
              {
                resource: 'Control',
                field: 'data.condition.and[1].evaluator.config',
                code: 'schema_validation_error',
                value: '[REDACTED]',
              },
            ],
          }),
        );
      }
    });

    it.each([
      ['is none', { type: 'text' }],
      ['leads elsewhere', { $ref: 'https://example.com/schema.json' }],
      ['refers to itself without end', { $ref: '#' }],
      ['needs backtracking', { patternProperties: { '(?=x)': {} } }],
    ])('are refused when the registered schema %s', async (_what, config_schema) => {
      const agent = await freshAgent([{ name: 'broken', config_schema }]);
      await refusedEverywhere(definition(leaf(`${agent}:broken`)), problem(422, 'INVALID_CONFIG'));
    });

    it('of an agent that cannot be read report what is wrong with it', async () => {
      const agent = await freshAgent();
      await damageAgent(
        service.databaseUrl,
        agent,
        JSON.stringify({ agent: { agent_name: agent }, steps: [{ type: '' }], evaluators: [] }),
      );
      await refusedEverywhere(
        definition(leaf(`${agent}:tone`)),
        problem(422, 'CORRUPTED_DATA', {
          errors: [
            { resource: 'Agent', field: 'steps[0].type' },
            { resource: 'Agent', field: 'steps[0].name', code: 'missing' },
          ],
        }),
      );
    });

    it('are checked from left to right, and the first failing one is reported', async () => {
      const agent = await freshAgent();
      const leaves = [
        leaf(`${agent}:free`),
        leaf(`${agent}:tone`, { level: 9 }),
        leaf(`${agent}:none`),
        leaf('nobody-at-all:tone'),
      ];
      const codes: string[] = [];
      for (let start = 0; start < leaves.length; start += 1) {
        const data = definition({ or: leaves.slice(start) });
        codes.push((await call('POST', `${CONTROLS}/validate`, { data })).body.error_code);
      }
      expect(codes).toEqual(['INVALID_CONFIG', 'INVALID_CONFIG', 'EVALUATOR_NOT_FOUND', 'AGENT_NOT_FOUND']);
    });

    it('are looked up for a few agents only', async () => {
      const agents: string[] = [];
      for (let index = 0; index < 17; index += 1) agents.push(await freshAgent());
      const data = (names: string[]) => definition({ and: names.map((name) => leaf(`${name}:free`)) });
      const validate = (names: string[]) => call('POST', `${CONTROLS}/validate`, { data: data(names) });
      expect((await validate(agents.slice(1))).status).toBe(200);
      expect(await validate(agents)).toMatchObject(
        problem(422, 'VALIDATION_ERROR', {
          errors: [{ field: 'data.condition.and[16].evaluator.name', code: 'value_error' }],
        }),
      );
    });

    it('are checked after the shape, and after the name of the control', async () => {
      const name = freshName();
      await seed.control(name);
      const unknown = definition(leaf('nobody-at-all:tone'));
      const taken = await call('PUT', CONTROLS, { name, data: unknown });
      expect(taken).toMatchObject(problem(409, 'CONTROL_NAME_CONFLICT'));
      const shape = await call('PUT', CONTROLS, { name, data: { ...unknown, execution: 'nowhere' } });
      expect(shape).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      const missing = await call('PUT', `${CONTROLS}/999999/data`, { data: unknown });
      expect(missing).toMatchObject(problem(404, 'CONTROL_NOT_FOUND'));
    });

    it('are errors of an evaluation, which fails closed', async () => {
      const agent = await freshAgent();
      const data = definition(leaf(`${agent}:free`), { execution: 'server' });
      await seed.link(agent, await seed.control(freshName(), data));
      const { status, body } = await evaluate(call, agent, 'x');
      expect(status).toBe(200);
      expect(body).toMatchObject({ is_safe: false, matches: [], errors: [{ action: 'deny' }] });
    });
  });

  describe('decide whether a control can be linked', () => {
    const link = (agent: string, controlId: number) =>
      call('POST', `/api/v1/agents/${agent}/controls/${controlId}`);
    const controlsOf = async (agent: string) =>
      (await call('GET', `/api/v1/agents/${agent}/controls`)).body.controls.map(
        ({ id }: { id: number }) => id,
      );

    it('to the agent that has them, disabled ones too', async () => {
      const agent = await freshAgent();
      const data = definition(leaf(`${agent}:tone`, { level: 1 }), { enabled: false });
      const id = await seed.control(freshName(), data);
      expect((await link(agent, id)).status).toBe(200);
      expect((await link(agent, id)).status).toBe(200);
      expect(await controlsOf(agent)).toEqual([id]);
    });

    it('with every offending leaf named', async () => {
      const owner = await freshAgent();
      const other = await freshAgent();
      const condition = {
        and: [
          leaf(`${owner}:tone`, { level: 1 }),
          { not: leaf(`${owner}:free`) },
          leaf(`${other}:free`),
          leaf('regex', { pattern: 'x' }),
        ],
      };
      const id = await seed.control(freshName(), definition(condition));
      const refused = await link(other, id);
      expect(refused).toMatchObject(problem(400, 'POLICY_CONTROL_INCOMPATIBLE', { reason: 'BadRequest' }));
      const item = {
        resource: 'Control',
        field: 'evaluator',
        code: 'incompatible',
        message: expect.any(String),
      };
      expect(refused.body.errors).toEqual([item, item]);
      expect(refused.body.details).toEqual({ causes: refused.body.errors });
      expect(await controlsOf(other)).toEqual([]);
    });

    it('again when the link exists and the registration has changed', async () => {
      const agent = await freshAgent();
      const id = await seed.control(
        freshName(),
        definition({ and: [leaf(`${agent}:tone`, { level: 4 }), leaf(`${agent}:free`)] }),
      );
      await seed.link(agent, id);
      const evaluators = [{ name: 'tone', config_schema: { properties: { level: { maximum: 3 } } } }];
      await call('POST', INIT, { agent: { agent_name: agent }, evaluators, conflict_mode: 'overwrite' });
      const refused = await link(agent, id);
      expect(refused.status).toBe(400);
      expect(refused.body.errors).toHaveLength(2);
      expect(await controlsOf(agent)).toEqual([id]);
    });

    it('only if it can be read', async () => {
      const agent = await freshAgent();
      const id = await seed.control(freshName());
      await damageControl(service.databaseUrl, id, '{"condition":5}');
      expect(await link(agent, id)).toMatchObject(
        problem(400, 'POLICY_CONTROL_INCOMPATIBLE', { errors: [{ code: 'incompatible' }] }),
      );
    });

    it('unless nothing is stored in it yet', async () => {
      const agent = await freshAgent();
      const empty = await seed.control(freshName());
      await damageControl(service.databaseUrl, empty, '{}');
      expect((await link(agent, empty)).status).toBe(200);
    });

    it('to an agent that cannot be read: it cannot', async () => {
      const agent = await freshAgent();
      const id = await seed.control(freshName());
      await damageAgent(service.databaseUrl, agent, '[]');
      expect(await link(agent, id)).toMatchObject(
        problem(400, 'POLICY_CONTROL_INCOMPATIBLE', { errors: [{ code: 'incompatible' }] }),
      );
    });

    it('after it is known that both exist', async () => {
      const owner = await freshAgent();
      const id = await seed.control(freshName(), definition(leaf(`${owner}:free`)));
      expect((await link('nobody-at-all', id)).body.error_code).toBe('AGENT_NOT_FOUND');
      expect((await link(await freshAgent(), 999_999)).body.error_code).toBe('CONTROL_NOT_FOUND');
    });
  });

  describe('are removed together with steps', () => {
    const patch = (agent: string, body: object) => call('PATCH', `/api/v1/agents/${agent}`, body);
    const read = async (agent: string) => (await call('GET', `/api/v1/agents/${agent}`)).body;

    it('and the reply lists which there were, in stored order', async () => {
      const agent = await freshAgent();
      const reply = await patch(agent, {
        remove_steps: [
          { type: 'tool', name: 'two' },
          { type: 'tool', name: 'one', surplus: 1 },
          { type: 'llm', name: 'one' },
        ],
        remove_evaluators: ['free', 'tone', 'free', 'none'],
      });
      expect(reply).toMatchObject({ status: 200 });
      expect(reply.body).toEqual({
        steps_removed: [
          { type: 'tool', name: 'one' },
          { type: 'tool', name: 'two' },
        ],
        evaluators_removed: ['tone', 'free'],
        warnings: [{ code: 'unknown_member', field: 'remove_steps[1].surplus', message: 'unknown member' }],
      });
      expect(await read(agent)).toMatchObject({ agent: { agent_name: agent }, steps: [], evaluators: [] });
      expect(Number(reply.headers.get('x-service-revision'))).toBeGreaterThan(0);
    });

    it('and an unknown name changes nothing, as does an empty request', async () => {
      const agent = await freshAgent();
      const before = await call('GET', '/health');
      const nothing = { steps_removed: [], evaluators_removed: [] };
      expect((await patch(agent, {})).body).toEqual(nothing);
      const unknown = { remove_steps: [{ type: 'tool', name: '' }], remove_evaluators: ['Tone', ''] };
      expect((await patch(agent, unknown)).body).toEqual(nothing);
      expect((await call('GET', '/health')).body.revision).toBe(before.body.revision);
      expect(await read(agent)).toMatchObject({ steps: [{}, {}], evaluators: [{}, {}] });
    });

    it.each([
      [
        { remove_steps: null, remove_evaluators: null },
        ['remove_steps list_type', 'remove_evaluators list_type'],
      ],
      [{ remove_steps: [{}] }, ['remove_steps[0].type missing', 'remove_steps[0].name missing']],
      [{ remove_evaluators: [5] }, ['remove_evaluators[0] string_type']],
    ])('but not by %j', async (body, expected) => {
      const reply = await patch(await freshAgent(), body);
      expect(reply.status).toBe(422);
      const fields = reply.body.errors.map(
        ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
      );
      expect(fields).toEqual(expected);
    });

    it('but not while enabled controls name them; then nothing is removed', async () => {
      const agent = await freshAgent();
      const both = {
        and: [leaf(`${agent}:tone`, { level: 1 }), leaf(`${agent}:free`), leaf(`${agent}:free`)],
      };
      const first = freshName();
      const second = freshName();
      await seed.link(agent, await seed.control(second, definition(both)));
      await seed.link(agent, await seed.control(first, definition({ not: leaf(`${agent}:free`) })));
      const refused = await patch(agent, {
        remove_steps: [{ type: 'tool', name: 'one' }],
        remove_evaluators: ['tone', 'free'],
      });
      expect(refused).toMatchObject(problem(409, 'EVALUATOR_IN_USE', { reason: 'Conflict' }));
      const { errors } = refused.body as { errors: { message: string }[] };
      expect(errors).toHaveLength(3);
      for (const item of errors) {
        expect(item).toMatchObject({ resource: 'Control', field: 'evaluator.name', code: 'in_use' });
      }
      const named = (control: string, evaluator: string) =>
        expect.stringMatching(new RegExp(`"${control}".*"${evaluator}"`));
      expect(errors.map(({ message }) => message)).toEqual([
        named(first, 'free'),
        named(second, 'free'),
        named(second, 'tone'),
      ]);
      expect(await read(agent)).toMatchObject({ steps: [{}, {}], evaluators: [{}, {}] });
      expect((await patch(agent, { remove_steps: [{ type: 'tool', name: 'one' }] })).status).toBe(200);
    });

    it('even if a control is disabled, not linked, or names another agent', async () => {
      const agent = await freshAgent();
      const names = definition(leaf(`${agent}:free`));
      await seed.control(freshName(), names);
      const id = await seed.control(freshName(), names);
      await seed.link(agent, id);
      await call('PATCH', `${CONTROLS}/${id}`, { enabled: false });
      expect((await patch(agent, { remove_evaluators: ['free'] })).body.evaluators_removed).toEqual(['free']);
    });

    it('but not while a policy brings a control that names them', async () => {
      const agent = await freshAgent();
      const id = await seed.control(freshName(), definition(leaf(`${agent}:free`)));
      const policy = (await call('PUT', '/api/v1/policies', { name: freshName() })).body.policy_id as number;
      expect((await call('POST', `/api/v1/policies/${policy}/controls/${id}`)).status).toBe(200);
      expect((await call('POST', `/api/v1/agents/${agent}/policies/${policy}`)).status).toBe(200);
      const refused = await patch(agent, { remove_evaluators: ['free'] });
      expect(refused).toMatchObject(problem(409, 'EVALUATOR_IN_USE'));
    });

    it('only if the agent and, for evaluators, its controls can be read', async () => {
      const agent = await freshAgent();
      const id = await seed.control(freshName(), denyWord('x'));
      await seed.link(agent, id);
      await damageControl(service.databaseUrl, id, '{"condition":');
      const steps = { remove_steps: [{ type: 'tool', name: 'one' }] };
      expect(await patch(agent, { ...steps, remove_evaluators: ['none'] })).toMatchObject(
        problem(422, 'CORRUPTED_DATA', { details: { name: String(id), kind: 'Control' } }),
      );
      expect((await patch(agent, steps)).body.steps_removed).toHaveLength(1);
      await damageAgent(service.databaseUrl, agent, '{}');
      expect(await patch(agent, {})).toMatchObject(
        problem(422, 'CORRUPTED_DATA', { details: { name: agent, kind: 'Agent' } }),
      );
    });

    it('only from an agent that there is', async () => {
      expect((await patch('nobody-at-all', {})).body.error_code).toBe('AGENT_NOT_FOUND');
      const invalid = await patch('short', {});
      expect(invalid).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'agent_name', code: 'invalid_format' }] },
      });
    });
  });
});
