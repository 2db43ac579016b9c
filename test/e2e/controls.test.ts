import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { Stage } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { EvaluationService } from '../../gen/proto/enforcement/v1/evaluation_service_pb.js';
import type { RestReply } from '../support/http.js';
import { problem } from '../support/refusals.js';
import { rpcTransport } from '../support/rpc-transports.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';

const CONTROLS = '/api/v1/controls';

describeService('controls over REST', ({ call, seed, service }) => {
  const items = (reply: RestReply): string[] =>
    (reply.body.errors as { field?: string; code: string }[]).map(({ field, code }) => `${field} ${code}`);
  const revision = (reply: RestReply) => Number(reply.headers.get('x-service-revision'));

  describe('names', () => {
    it('are trimmed and unique, case counts', async () => {
      const id = await seed.control('  Name-1_x\t');
      expect((await call('GET', `${CONTROLS}/${id}`)).body.name).toBe('Name-1_x');
      expect((await call('PUT', CONTROLS, { name: 'name-1_x', data: denyWord('x') })).status).toBe(200);
      const conflict = await call('PUT', CONTROLS, { name: ' Name-1_x', data: denyWord('x') });
      expect(conflict).toMatchObject(
        problem(409, 'CONTROL_NAME_CONFLICT', { details: { name: 'Name-1_x', kind: 'Control' } }),
      );
      expect((await call('PUT', CONTROLS, { name: 'x'.repeat(255), data: denyWord('x') })).status).toBe(200);
    });

    it.each([
      ['', 'too_short'],
      ['   ', 'too_short'],
      ['x'.repeat(256), 'too_long'],
      ['two words', 'string_pattern_mismatch'],
      ['-dash-first', 'string_pattern_mismatch'],
      ['_line-first', 'string_pattern_mismatch'],
      ['ends-with-newline\nx', 'string_pattern_mismatch'],
      ['ümlaut', 'string_pattern_mismatch'],
      ['nul\u0000', 'string_pattern_mismatch'],
      [5, 'string_type'],
      [null, 'string_type'],
    ])('%j are refused', async (name, code) => {
      const reply = await call('PUT', CONTROLS, { name, data: denyWord('x') });
      expect(reply.status).toBe(422);
      expect(items(reply)).toEqual([`name ${code}`]);
    });
  });

  describe('definitions', () => {
    it('are printed with every member in order, null where nothing is set', async () => {
      const id = await seed.control('bare-definition', {
        description: null,
        action: { decision: 'deny', steering_context: null },
        scope: { step_names: null, stages: ['post'] },
        condition: { not: { evaluator: { name: ' regex ', config: { pattern: '' } }, selector: {} } },
        execution: 'server',
      });
      const node = { selector: null, evaluator: null, and: null, or: null, not: null };
      const leaf = {
        selector: { path: '*' },
        evaluator: { name: 'regex', config: { pattern: '' }, metadata: null },
        and: null,
        or: null,
        not: null,
      };
      const whole = await call('GET', `${CONTROLS}/${id}`);
      expect(JSON.stringify(whole.body)).toBe(
        JSON.stringify({
          id,
          name: 'bare-definition',
          data: {
            condition: { ...node, not: leaf },
            description: null,
            enabled: true,
            execution: 'server',
            scope: { step_types: null, step_names: null, step_name_regex: null, stages: ['post'] },
            action: { decision: 'deny', steering_context: null, metadata: null },
            tags: [],
            template: null,
            template_values: null,
          },
          action: { decision: 'deny', steering_context: null, metadata: null },
          attachments: null,
          cloned_from_control_id: null,
        }),
      );
      const data = await call('GET', `${CONTROLS}/${id}/data`);
      expect(JSON.stringify(data.body)).toBe(
        JSON.stringify({
          data: {
            condition: {
              not: { selector: { path: '*' }, evaluator: { name: 'regex', config: { pattern: '' } } },
            },
            enabled: true,
            execution: 'server',
            scope: { stages: ['post'] },
            action: { decision: 'deny' },
            tags: [],
          },
        }),
      );
    });

    it('are listed with the metadata of the action only where it is set', async () => {
      const data = denyWord('x') as { action: object };
      await seed.control('unmarked-action', data);
      await seed.control('marked-action', { ...data, action: { ...data.action, metadata: { k: 1 } } });
      const { controls } = (await call('GET', `${CONTROLS}?name=marked-action`)).body;
      const actions = controls.map(({ name, action }: { name: string; action: object }) => [name, action]);
      expect(Object.fromEntries(actions)).toEqual({
        'unmarked-action': { decision: 'deny', steering_context: null },
        'marked-action': { decision: 'deny', steering_context: null, metadata: { k: 1 } },
      });
    });

    it('keep a required selector, which denies a step without its part over every protocol', async () => {
      const agent = 'required-agent';
      const definition = (required?: boolean) => ({
        execution: 'server',
        scope: { stages: ['pre'] },
        condition: {
          selector: { path: 'input.text', ...(required === undefined ? {} : { required }) },
          evaluator: { name: 'regex', config: { pattern: 'secret' } },
        },
        action: { decision: 'deny' },
      });
      const id = await seed.control('required-data', definition(true));
      await seed.agent(agent);
      await seed.link(agent, id);
      const printed = (await call('GET', `${CONTROLS}/${id}`)).body.data.condition.selector;
      expect(printed).toEqual({ path: 'input.text', required: true });
      const transport = rpcTransport('gRPC', service.url);
      const over = await createClient(ControlService, transport).getControl({ controlId: id });
      expect(over.data?.condition?.selector).toMatchObject({ path: 'input.text', required: true });
      const step = { type: 'tool', name: 'send', input: { subject: 'x' } };
      const lacking = await call('POST', '/api/v1/evaluation', { agent_name: agent, stage: 'pre', step });
      expect(lacking.body).toMatchObject({
        is_safe: false,
        errors: [{ result: { error: 'The step lacks data that the control requires' } }],
      });
      const stepJson = new TextEncoder().encode(JSON.stringify(step));
      const verdict = await createClient(EvaluationService, transport).evaluate({
        agentName: agent,
        stage: Stage.PRE,
        stepForm: { case: 'stepJson', value: stepJson },
      });
      expect(verdict.isSafe).toBe(false);
      for (const required of [false, undefined]) {
        await call('PUT', `${CONTROLS}/${id}/data`, { data: definition(required) });
        expect((await call('GET', `${CONTROLS}/${id}`)).body.data.condition.selector).toEqual({
          path: 'input.text',
        });
      }
      const wrong = await call('PUT', CONTROLS, {
        name: 'wrongly-required',
        data: {
          ...definition(),
          condition: { ...definition().condition, selector: { path: 'input', required: 'x' } },
        },
      });
      expect([wrong.status, items(wrong)]).toEqual([422, ['data.condition.selector.required bool_parsing']]);
    });

    it('keep required_actions and metadata, and give them back in lists and matches', async () => {
      const action = {
        decision: 'deny',
        steering_context: { message: 'm', required_actions: ['b', 'a'] },
        metadata: { k: [1] },
      };
      const evaluator = { name: 'regex', config: { pattern: 'x' }, metadata: { owner: 'me' } };
      const id = await seed.control('guiding-control', {
        execution: 'server',
        condition: { selector: { path: 'input' }, evaluator },
        action,
      });
      const { data } = (await call('GET', `${CONTROLS}/${id}/data`)).body;
      expect(data.action).toEqual(action);
      expect(data.condition.evaluator).toEqual(evaluator);
      await seed.agent('guided-agent-1');
      await seed.link('guided-agent-1', id);
      const verdict = await evaluate(call, 'guided-agent-1', 'x');
      expect(verdict.body.matches[0].steering_context).toEqual({
        message: 'm',
        required_actions: ['b', 'a'],
      });
    });

    it('give the configuration back as it was sent: texts, numbers and the order of keys', async () => {
      const config =
        '{"pattern":"x","zero":"a\\u0000b","half":"\\ud83d","big":123456789012345678901234567890,"b":{"z":1,"a":null},' +
        '"__proto__":{"y":2}}';
      const condition = `{"selector":{"path":"input"},"evaluator":{"name":"regex","config":${config}}}`;
      const body = `{"name":"verbatim-control","data":{"execution":"server","condition":${condition},"action":{"decision":"deny"}}}`;
      const { control_id: id } = (await call('PUT', CONTROLS, body)).body;
      for (const path of [`${CONTROLS}/${id}`, `${CONTROLS}/${id}/data`]) {
        const text = await (await fetch(service.url + path)).text();
        expect(text).toContain(`"config":${config}`);
      }
      // A change of another member must not touch it either.
      await call('PATCH', `${CONTROLS}/${id}`, { enabled: false });
      expect(await (await fetch(`${service.url}${CONTROLS}/${id}/data`)).text()).toContain(
        `"config":${config}`,
      );
    });

    it('keep texts with NUL characters and halves of surrogate pairs wherever text is free', async () => {
      const odd = 'a\u0000b\ud83dc';
      const id = await seed.control(
        'odd-texts',
        denyWord('x', { description: odd, tags: [odd], scope: { step_types: [odd], step_names: [odd] } }),
      );
      const { data } = (await call('GET', `${CONTROLS}/${id}/data`)).body;
      expect(data).toMatchObject({
        description: odd,
        tags: [odd],
        scope: { step_types: [odd], step_names: [odd] },
      });
      const list = await call('GET', `${CONTROLS}?tag=${encodeURIComponent('a\u0000b')}`);
      expect(list).toMatchObject({ status: 200, body: { controls: [] } });
    });

    it('are read in the older flat shape and with and_, or_, not_', async () => {
      const leaf = { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } };
      const flat = await seed.control('flat-shape', {
        ...leaf,
        execution: 'server',
        action: { decision: 'deny' },
      });
      expect((await call('GET', `${CONTROLS}/${flat}/data`)).body.data).toMatchObject({ condition: leaf });
      const underscored = await seed.control('underscored', {
        execution: 'server',
        condition: { and_: [{ or_: [{ not_: leaf }] }] },
        action: { decision: 'deny' },
      });
      expect((await call('GET', `${CONTROLS}/${underscored}/data`)).body.data.condition).toEqual({
        and: [{ or: [{ not: leaf }] }],
      });
    });

    it('warn of each evaluator the service lacks, wherever it is, on create, validate and replace', async () => {
      const leaf = (name: string) => ({ selector: {}, evaluator: { name, config: {} } });
      const data = {
        execution: 'server',
        condition: { and: [leaf('one.more'), { not: leaf('two-more') }] },
        action: { decision: 'observe' },
      };
      const warnings = [
        { code: 'unknown_evaluator', field: 'data.condition.and[0].evaluator.name' },
        { code: 'unknown_evaluator', field: 'data.condition.and[1].not.evaluator.name' },
      ];
      const created = await call('PUT', CONTROLS, { name: 'warned', data });
      expect(created.body).toMatchObject({ warnings });
      const id = created.body.control_id;
      expect((await call('POST', `${CONTROLS}/validate`, { data })).body).toMatchObject({
        success: true,
        warnings,
      });
      expect((await call('PUT', `${CONTROLS}/${id}/data`, { data })).body).toMatchObject({
        success: true,
        warnings,
      });
      expect(created.body.warnings[0].message).toContain('one.more');
    });

    it('are only validated by validate', async () => {
      const before = (await call('GET', CONTROLS)).body.pagination.total;
      const reply = await call('POST', `${CONTROLS}/validate`, { data: denyWord('x') });
      expect(JSON.stringify(reply.body)).toBe('{"success":true,"warnings":[]}');
      expect((await call('GET', CONTROLS)).body.pagination.total).toBe(before);
    });

    let targets = 0;
    const leaf = { selector: { path: 'input' }, evaluator: { name: 'regex', config: { pattern: 'x' } } };
    const list = (config: object) => ({ selector: {}, evaluator: { name: 'list', config } });
    const nested = (depth: number): object => (depth === 1 ? leaf : { not: nested(depth - 1) });
    const definition = (more: object) => ({
      execution: 'server',
      condition: leaf,
      action: { decision: 'deny' },
      ...more,
    });
    it.each<[string, unknown, string[]]>([
      [
        'null',
        null,
        ['data.ControlDefinition model_attributes_type', 'data.TemplateControlInput model_attributes_type'],
      ],
      [
        'a list',
        [],
        ['data.ControlDefinition model_attributes_type', 'data.TemplateControlInput model_attributes_type'],
      ],
      ['nothing', {}, ['data.condition missing', 'data.execution missing', 'data.action missing']],
      [
        'a null template alone',
        { template: null },
        ['data.condition missing', 'data.execution missing', 'data.action missing'],
      ],
      ['another execution', definition({ execution: 'client' }), ['data.execution literal_error']],
      ['enabled null', definition({ enabled: null }), ['data.enabled bool_type']],
      ['scope null', definition({ scope: null }), ['data.scope model_type']],
      [
        'empty scope lists',
        definition({ scope: { step_types: [], step_names: [''], stages: [] } }),
        [
          'data.scope.step_types value_error',
          'data.scope.step_names value_error',
          'data.scope.stages value_error',
        ],
      ],
      [
        'another stage',
        definition({ scope: { stages: ['pre', 'mid'] } }),
        ['data.scope.stages[1] literal_error'],
      ],
      [
        'a broken scope pattern',
        definition({ scope: { step_name_regex: '(?!x)' } }),
        ['data.scope.step_name_regex value_error'],
      ],
      ['an old decision', definition({ action: { decision: 'warn' } }), ['data.action.decision value_error']],
      ['no decision', definition({ action: {} }), ['data.action.decision missing']],
      [
        'guidance without message',
        definition({ action: { decision: 'steer', steering_context: {} } }),
        ['data.action.steering_context.message missing'],
      ],
      [
        'a composite steer without guidance',
        definition({ condition: { not: leaf }, action: { decision: 'steer' } }),
        ['data value_error'],
      ],
      ['tags that are no texts', definition({ tags: ['a', 1] }), ['data.tags[1] string_type']],
      [
        'selector without evaluator',
        definition({ condition: { selector: {} } }),
        ['data.condition value_error'],
      ],
      ['two forms', definition({ condition: { ...leaf, not: leaf } }), ['data.condition value_error']],
      ['no form', definition({ condition: { and: null } }), ['data.condition value_error']],
      ['an empty and', definition({ condition: { and: [] } }), ['data.condition value_error']],
      ['an and that is no list', definition({ condition: { and: leaf } }), ['data.condition.and list_type']],
      [
        'children that are no objects',
        definition({ condition: { or: [leaf, 5] } }),
        ['data.condition.or[1] model_type'],
      ],
      [
        'a selector into nowhere',
        definition({ condition: { ...leaf, selector: { path: 'secret.x' } } }),
        ['data.condition.selector.path value_error'],
      ],
      [
        'an empty selector path',
        definition({ condition: { ...leaf, selector: { path: '' } } }),
        ['data.condition.selector.path value_error'],
      ],
      [
        'an evaluator without config',
        definition({ condition: { selector: {}, evaluator: { name: 'x' } } }),
        ['data.condition.evaluator.config missing'],
      ],
      [
        'a blank evaluator name',
        definition({ condition: { selector: {}, evaluator: { name: ' ', config: {} } } }),
        ['data.condition.evaluator.name value_error'],
      ],
      [
        'a regex without pattern',
        definition({ condition: { selector: {}, evaluator: { name: 'regex', config: {} } } }),
        ['data.condition.evaluator.pattern missing'],
      ],
      [
        'a look-ahead, deep inside',
        definition({
          condition: {
            and: [
              leaf,
              { not: { selector: {}, evaluator: { name: 'regex', config: { pattern: '(?=x)' } } } },
            ],
          },
        }),
        ['data.condition.and[1].not.evaluator.pattern value_error'],
      ],
      [
        'a list without values',
        definition({ condition: list({}) }),
        ['data.condition.evaluator.values missing'],
      ],
      [
        'a blank list value',
        definition({ condition: list({ values: [' '] }) }),
        ['data.condition.evaluator.values[0] value_error'],
      ],
      [
        'an unknown match mode',
        definition({ condition: list({ values: [], match_mode: 'fuzzy' }) }),
        ['data.condition.evaluator.match_mode literal_error'],
      ],
      ['thirteen levels', definition({ condition: nested(13) }), ['data value_error']],
      ['flat shape and condition', definition({ ...leaf }), ['data value_error']],
      [
        'half a flat shape',
        { execution: 'server', action: { decision: 'deny' }, selector: {} },
        ['data value_error'],
      ],
      [
        'several problems',
        { condition: {}, execution: 1, action: { decision: null }, tags: 'x' },
        [
          'data.condition value_error',
          'data.execution literal_error',
          'data.action.decision value_error',
          'data.tags list_type',
        ],
      ],
    ])('are refused the same way on create, validate and replace: %s', async (_what, data, expected) => {
      targets += 1;
      const id = await seed.control(`target-${targets}`);
      const replies = [
        await call('PUT', CONTROLS, { name: 'never-stored', data }),
        await call('POST', `${CONTROLS}/validate`, { data }),
        await call('PUT', `${CONTROLS}/${id}/data`, { data }),
      ];
      for (const reply of replies) {
        expect(reply).toMatchObject(problem(422, 'VALIDATION_ERROR'));
        expect(items(reply)).toEqual(expected);
        for (const { resource } of reply.body.errors) expect(resource).toBe('Control');
      }
      expect((await call('GET', `${CONTROLS}/${id}`)).body.data.action.decision).toBe('deny');
    });

    it('may have twelve levels, and unknown members are ignored', async () => {
      const id = await seed.control('twelve-levels', definition({ condition: nested(12), other: { x: 1 } }));
      const { data } = (await call('GET', `${CONTROLS}/${id}/data`)).body;
      expect(data).not.toHaveProperty('other');
      expect(JSON.stringify(data).split('"not"')).toHaveLength(12);
    });
  });

  describe('ids', () => {
    it('are read leniently in paths', async () => {
      const id = await seed.control('lenient-id');
      for (const form of [`${id}.0`, `+${id}`, `00${id}`, `%20${id}%20`]) {
        expect((await call('GET', `${CONTROLS}/${form}`)).body.id).toBe(id);
      }
    });

    it.each(['0', '-1', '2147483648', '-2147483649', '9007199254740993', `1${'0'.repeat(30)}`])(
      '%s is the id of no control',
      async (id) => {
        for (const [method, path, body] of [
          ['GET', `${CONTROLS}/${id}`, undefined],
          ['GET', `${CONTROLS}/${id}/data`, undefined],
          ['PATCH', `${CONTROLS}/${id}`, {}],
          ['DELETE', `${CONTROLS}/${id}`, undefined],
          ['PUT', `${CONTROLS}/${id}/data`, { data: denyWord('x') }],
        ] as const) {
          const reply = await call(method, path, body);
          expect(reply).toMatchObject(problem(404, 'CONTROL_NOT_FOUND'));
        }
      },
    );

    it.each(['validate', '1.5', '1e3', '0x1', '1__0', '%00'])('%s is no id', async (id) => {
      const reply = await call('GET', `${CONTROLS}/${id}`);
      expect(reply.status).toBe(422);
      expect(items(reply)).toEqual(['path.control_id int_parsing']);
      expect((await call('PATCH', `${CONTROLS}/${id}`, { enabled: 'x' })).body.errors).toMatchObject([
        { field: 'path.control_id', code: 'int_parsing' },
        { field: 'enabled', code: 'bool_parsing' },
      ]);
    });

    it('come from the path, whatever the body contains', async () => {
      const id = await seed.control('id-in-path');
      const other = await seed.control('id-in-body');
      const reply = await call('PATCH', `${CONTROLS}/${id}`, { control_id: other, enabled: false });
      expect(reply.body.name).toBe('id-in-path');
      expect((await call('GET', `${CONTROLS}/${other}`)).body.data.enabled).toBe(true);
    });

    it('are never given again, even that of the newest control', async () => {
      const id = await seed.control('newest-control');
      expect((await call('DELETE', `${CONTROLS}/${id}`)).status).toBe(200);
      expect(await seed.control('newest-control')).toBeGreaterThan(id);
    });
  });

  describe('PATCH', () => {
    it('with nothing, nulls or what is already so changes nothing', async () => {
      const id = await seed.control('patched-noop');
      const before = await call('PATCH', `${CONTROLS}/${id}`, { enabled: false });
      for (const body of [
        {},
        { name: null, enabled: null },
        { name: ' patched-noop ' },
        { enabled: 'off' },
      ]) {
        const reply = await call('PATCH', `${CONTROLS}/${id}`, body);
        expect(JSON.stringify(reply.body)).toBe('{"success":true,"name":"patched-noop","enabled":false}');
        expect(revision(reply)).toBe(revision(before));
      }
    });

    it('renames, and the old name is free again', async () => {
      const id = await seed.control('patched-old');
      const reply = await call('PATCH', `${CONTROLS}/${id}`, { name: 'patched-new' });
      expect(reply.body).toEqual({ success: true, name: 'patched-new', enabled: true });
      expect(await seed.control('patched-old')).toBeGreaterThan(id);
    });

    it('stores nothing when the name is taken', async () => {
      const id = await seed.control('patched-loser');
      await seed.control('patched-winner');
      const reply = await call('PATCH', `${CONTROLS}/${id}`, { name: 'patched-winner', enabled: false });
      expect(reply).toMatchObject(
        problem(409, 'CONTROL_NAME_CONFLICT', { details: { name: 'patched-winner' } }),
      );
      expect((await call('GET', `${CONTROLS}/${id}`)).body).toMatchObject({
        name: 'patched-loser',
        data: { enabled: true },
      });
    });

    it('keeps members of the stored definition that are unknown to the service', async () => {
      const id = await seed.control('patched-unknown');
      const stored = JSON.stringify({ ...denyWord('x'), from_the_future: { a: [1] }, enabled: true });
      await executeSql(service.databaseUrl, `UPDATE "controls" SET "data" = '${stored}' WHERE "id" = ${id}`);
      await call('PATCH', `${CONTROLS}/${id}`, { enabled: false });
      // Only the stored text can tell: a control with exactly this text is renamed behind the service's back.
      const expected = JSON.stringify({ ...denyWord('x'), from_the_future: { a: [1] }, enabled: false });
      await executeSql(
        service.databaseUrl,
        `UPDATE "controls" SET "name" = 'kept-its-members' WHERE "id" = ${id} AND "data" = '${expected}'`,
      );
      expect((await call('GET', `${CONTROLS}/${id}`)).body.name).toBe('kept-its-members');
    });
  });

  describe('DELETE', () => {
    it('refuses a linked control and names its agents', async () => {
      const id = await seed.control('deleted-linked');
      for (const agent of ['user-agent-b', 'user-agent-a']) {
        await seed.agent(agent);
        await seed.link(agent, id);
      }
      const refused = await call('DELETE', `${CONTROLS}/${id}?force=false`);
      expect(refused).toMatchObject(
        problem(409, 'CONTROL_IN_USE', { details: { name: 'deleted-linked', kind: 'Control' } }),
      );
      expect(refused.body.errors).toEqual(
        [1, 2].map(() => ({
          resource: 'Agent',
          field: 'controls',
          code: 'control_in_use',
          message: expect.any(String),
          value: '[REDACTED]',
        })),
      );
      const forced = await call('DELETE', `${CONTROLS}/${id}?force=yes`);
      expect(JSON.stringify(forced.body)).toBe(
        JSON.stringify({
          success: true,
          dissociated_from: [],
          dissociated_from_policies: [],
          dissociated_from_agents: ['user-agent-a', 'user-agent-b'],
          detached_target_bindings: [],
        }),
      );
      expect((await call('GET', '/api/v1/agents/user-agent-a/controls')).body.controls).toEqual([]);
      expect((await call('DELETE', `${CONTROLS}/${id}?force=true`)).status).toBe(404);
      expect(await seed.control('deleted-linked')).toBeGreaterThan(id);
    });

    it.each(['', 'maybe', '2'])('refuses force=%s', async (force) => {
      const id = await seed.control(`deleted-force-${force.length}${force}`);
      const reply = await call('DELETE', `${CONTROLS}/${id}?force=${force}`);
      expect(items(reply)).toEqual(['query.force bool_parsing']);
      expect((await call('GET', `${CONTROLS}/${id}`)).status).toBe(200);
    });
  });

  describe('PUT data', () => {
    it('replaces the whole definition; what is left out returns to its default', async () => {
      const id = await seed.control(
        'replaced',
        denyWord('old', { enabled: false, description: 'd', tags: ['t'], scope: { stages: ['pre'] } }),
      );
      await seed.agent('replacing-agent');
      await seed.link('replacing-agent', id);
      const reply = await call('PUT', `${CONTROLS}/${id}/data`, { data: denyWord('new') });
      expect(JSON.stringify(reply.body)).toBe('{"success":true,"warnings":[]}');
      expect((await call('GET', `${CONTROLS}/${id}/data`)).body.data).toEqual({
        ...denyWord('new'),
        enabled: true,
        scope: {},
        tags: [],
      });
      expect((await call('GET', `${CONTROLS}?tag=t`)).body.controls).toEqual([]);
      expect((await evaluate(call, 'replacing-agent', 'new')).body.is_safe).toBe(false);
    });

    it('checks the definition before it looks for the control', async () => {
      expect((await call('PUT', `${CONTROLS}/999999/data`, { data: {} })).status).toBe(422);
    });
  });

  describe('the list', () => {
    const ids = new Map<string, number>();
    const CONTENT: Record<string, object> = {
      'plain-one': {},
      plain_two: { enabled: false, description: 'second' },
      'tool-pre': { scope: { step_types: ['tool', 'x%'], stages: ['pre'] }, tags: ['Money', 'a'] },
      'llm-post': { scope: { step_types: ['llm'], stages: ['post', 'pre'] }, tags: ['money', ''] },
      'sdk-Only': { execution: 'sdk', scope: { stages: ['post'] }, tags: ['a'] },
    };
    const ALL = Object.keys(CONTENT).reverse();
    beforeAll(async () => {
      await executeSql(service.databaseUrl, 'DELETE FROM "controls"');
      for (const [name, more] of Object.entries(CONTENT)) {
        ids.set(name, await seed.control(name, denyWord('x', more)));
      }
    });
    const list = async (query = '') => {
      const reply = await call('GET', `${CONTROLS}${query}`);
      expect(reply.status).toBe(200);
      const names = (reply.body.controls as { name: string }[]).map(({ name }) => name);
      return { names, pagination: reply.body.pagination };
    };

    it.each([
      ['', ALL],
      ['name=', ALL],
      ['name=ONLY', ['sdk-Only']],
      ['name=_', ['plain_two']],
      ['name=%25', []],
      ['name=%5C_', []],
      ['name=%00', []],
      ['enabled=true', ['sdk-Only', 'llm-post', 'tool-pre', 'plain-one']],
      ['enabled=no', ['plain_two']],
      ['template_backed=false', ALL],
      ['template_backed=1', []],
      ['step_type=tool', ['sdk-Only', 'tool-pre', 'plain_two', 'plain-one']],
      ['step_type=TOOL', ['sdk-Only', 'plain_two', 'plain-one']],
      ['step_type=x%25', ['sdk-Only', 'tool-pre', 'plain_two', 'plain-one']],
      ['step_type=', ['sdk-Only', 'plain_two', 'plain-one']],
      ['stage=pre', ['llm-post', 'tool-pre', 'plain_two', 'plain-one']],
      ['stage=post', ['sdk-Only', 'llm-post', 'plain_two', 'plain-one']],
      ['stage=never', ['plain_two', 'plain-one']],
      ['stage=', ['plain_two', 'plain-one']],
      ['execution=server', ['llm-post', 'tool-pre', 'plain_two', 'plain-one']],
      ['execution=sdk', ['sdk-Only']],
      ['execution=', []],
      ['execution=Server', []],
      ['execution=%00', []],
      ['tag=money', ['llm-post']],
      ['tag=Money', ['tool-pre']],
      ['tag=a', ['sdk-Only', 'tool-pre']],
      ['tag=mon', []],
      ['tag=', ['llm-post']],
      ['tag=%25', []],
      ['step_type=tool&stage=pre&tag=a', ['tool-pre']],
      ['step_type=tool&stage=post&execution=server', ['plain_two', 'plain-one']],
      ['name=PLAIN&enabled=true&template_backed=false&execution=server', ['plain-one']],
      ['tag=a&tag=money', ['llm-post']],
    ])('with %s shows what it should', async (query, names) => {
      const page = await list(`?${query}`);
      expect(page.names).toEqual(names);
      expect(page.pagination).toEqual({ limit: 20, total: names.length, next_cursor: null, has_more: false });
    });

    it('is walked through page by page, the total respecting filters and not the cursor', async () => {
      const walked: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof list>> = await list(
          `?limit=2&execution=server${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        walked.push(...page.names);
        expect(page.pagination).toMatchObject({
          limit: 2,
          total: 4,
          has_more: page.pagination.next_cursor !== null,
        });
        if (page.pagination.has_more) {
          expect(page.pagination.next_cursor).toBe(String(ids.get(page.names.at(-1) ?? '')));
        }
        cursor = page.pagination.next_cursor;
      } while (cursor !== null);
      expect(walked).toEqual(['llm-post', 'tool-pre', 'plain_two', 'plain-one']);
    });

    it.each([
      ['2147483647', ALL],
      ['99999999999999999999', ALL],
      ['0', []],
      ['-1', []],
      ['-99999999999999999999', []],
      ['1', []],
    ])('after cursor=%s', async (cursor, names) => {
      const page = await list(`?cursor=${cursor}`);
      expect(page.names).toEqual(names);
      expect(page.pagination.total).toBe(ALL.length);
    });

    it('begins below the cursor, whether a control has that id or not', async () => {
      expect((await list(`?cursor=${ids.get('tool-pre')}`)).names).toEqual(['plain_two', 'plain-one']);
      await call('DELETE', `${CONTROLS}/${await seed.control('gone-cursor')}`);
      const newest = (ids.get('sdk-Only') ?? 0) + 1;
      expect((await list(`?cursor=${newest}`)).names).toEqual(ALL);
    });

    it.each([
      ['limit=0', 'query.limit greater_than_equal'],
      ['limit=-1', 'query.limit greater_than_equal'],
      ['limit=101', 'query.limit less_than_equal'],
      ['limit=', 'query.limit int_parsing'],
      ['limit=ten', 'query.limit int_parsing'],
      ['limit=2.5', 'query.limit int_parsing'],
      ['cursor=', 'query.cursor int_parsing'],
      ['cursor=x', 'query.cursor int_parsing'],
      ['enabled=', 'query.enabled bool_parsing'],
      ['enabled=maybe', 'query.enabled bool_parsing'],
      ['template_backed=null', 'query.template_backed bool_parsing'],
    ])('refuses %s', async (query, item) => {
      const reply = await call('GET', `${CONTROLS}?${query}`);
      expect(reply.status).toBe(422);
      expect(items(reply)).toEqual([item]);
    });

    it('prints a summary with every member in order', async () => {
      const id = ids.get('tool-pre') ?? 0;
      for (const agent of ['summary-agent-b', 'summary-agent-a']) {
        await seed.agent(agent);
        await seed.link(agent, id);
      }
      const { controls } = (await call('GET', `${CONTROLS}?name=tool-pre`)).body;
      expect(JSON.stringify(controls)).toBe(
        JSON.stringify([
          {
            id,
            name: 'tool-pre',
            description: null,
            enabled: true,
            execution: 'server',
            step_types: ['tool', 'x%'],
            stages: ['pre'],
            tags: ['Money', 'a'],
            template_backed: false,
            template_rendered: null,
            used_by_agent: { agent_name: 'summary-agent-a' },
            used_by_agents_count: 2,
            action: { decision: 'deny', steering_context: null },
            attachments: null,
            cloned_from_control_id: null,
          },
        ]),
      );
      const [unused] = (await call('GET', `${CONTROLS}?name=plain_two`)).body.controls;
      expect(unused).toMatchObject({
        description: 'second',
        enabled: false,
        step_types: null,
        stages: null,
        tags: [],
        used_by_agent: null,
        used_by_agents_count: 0,
      });
    });

    it('has twenty controls on a page unless requested otherwise, and a hundred at most', async () => {
      for (let count = 0; count < 20; count += 1) await seed.control(`many-${count}`);
      expect((await list()).pagination).toMatchObject({ limit: 20, total: 25, has_more: true });
      expect((await list('?limit=100')).names).toHaveLength(25);
    });
  });
});
