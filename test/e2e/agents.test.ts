import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { executeSql } from '../support/sql.js';

const INIT = '/api/v1/agents/initAgent';

describeService('agents over REST', ({ call, seed, service }) => {
  describe('the agent name', () => {
    it('is trimmed and lower-cased wherever it is written', async () => {
      await seed.agent('\t My-Agent:01_x ');
      const id = await seed.control('names-control');
      const written = encodeURIComponent(' MY-agent:01_X\n');
      await seed.link(written, id);
      expect((await call('GET', `/api/v1/agents/${written}`)).body.agent.agent_name).toBe('my-agent:01_x');
      expect((await call('GET', `/api/v1/agents/${written}/controls`)).body.controls).toHaveLength(1);
      const listed = await call('GET', `/api/v1/agents?cursor=${written}&name=AGENT%3A01`);
      expect(listed).toMatchObject({ status: 200, body: { agents: [], pagination: { total: 1 } } });
      expect((await evaluate(call, ' MY-AGENT:01_X ', 'bad')).body.is_safe).toBe(false);
      const unlinked = await call('DELETE', `/api/v1/agents/${written}/controls/${id}`);
      expect(unlinked.body.removed_direct_association).toBe(true);
      expect((await call('POST', INIT, { agent: { agent_name: 'MY-AGENT:01_X' } })).body.created).toBe(false);
    });

    it('may be written as a number, and may have 255 characters', async () => {
      expect((await call('POST', INIT, { agent: { agent_name: 1234567890 } })).body.created).toBe(true);
      expect((await call('GET', '/api/v1/agents/1234567890')).status).toBe(200);
      const long = 'x'.repeat(255);
      expect((await call('POST', INIT, { agent: { agent_name: long } })).body.created).toBe(true);
      expect((await call('GET', `/api/v1/agents/${long}`)).body.agent.agent_name).toBe(long);
    });

    it.each([
      ['nine characters', 'too-short'],
      ['256 characters', 'x'.repeat(256)],
      ['a blank inside', 'two words-01'],
      ['another letter', 'größer-als-01'],
      ['a NUL character', 'billing\u0000bot-01'],
      ['blanks alone', '             '],
      ['null', null],
      ['a boolean', true],
      ['a list', ['billing-bot-01']],
    ])('is refused in bodies: %s', async (_what, agentName) => {
      const registration = await call('POST', INIT, { agent: { agent_name: agentName } });
      expect(registration).toMatchObject(problem(422, 'VALIDATION_ERROR'));
      expect(registration.body.errors).toEqual([
        expect.objectContaining({ resource: 'Agent', field: 'agent.agent_name', code: 'value_error' }),
      ]);
      const evaluation = await evaluate(call, agentName as string, 'x');
      expect(evaluation.status).toBe(422);
      expect(evaluation.body.errors).toEqual([
        expect.objectContaining({ resource: 'Request', field: 'agent_name', code: 'value_error' }),
      ]);
    });

    it('is required', async () => {
      const reply = await call('POST', INIT, { agent: {} });
      expect(reply.body.errors).toEqual([
        expect.objectContaining({ resource: 'Agent', field: 'agent.agent_name', code: 'missing' }),
      ]);
    });

    it.each([
      ['GET', '/api/v1/agents/too-short', 'agent_name'],
      ['GET', '/api/v1/agents/too-short/controls', 'agent_name'],
      ['POST', '/api/v1/agents/too-short/controls/1', 'agent_name'],
      ['DELETE', '/api/v1/agents/two%20words-01/controls/1', 'agent_name'],
      ['GET', '/api/v1/agents?cursor=too-short', 'cursor'],
    ])('is refused in %s %s', async (method, path, field) => {
      const reply = await call(method, path);
      expect(reply.status).toBe(422);
      const { errors, details, error_code } = reply.body;
      expect(error_code).toBe('VALIDATION_ERROR');
      const item = { resource: 'Agent', field, code: 'invalid_format', message: expect.any(String) };
      expect(errors).toEqual([{ ...item, value: '[REDACTED]' }]);
      expect(details).toEqual({ kind: 'Agent', causes: errors });
    });
  });

  it('prints every member of an agent, in the order of the contract', async () => {
    await call('POST', INIT, {
      agent: { agent_metadata: { z: 1, a: null }, agent_name: 'printed-agent' },
      evaluators: [{ description: 'd', name: 'e' }],
      steps: [{ name: 'n', type: 't', unknown_member: 1 }],
    });
    const reply = await call('GET', '/api/v1/agents/printed-agent');
    expect(JSON.stringify(reply.body)).toBe(
      JSON.stringify({
        agent: {
          agent_name: 'printed-agent',
          agent_description: null,
          agent_created_at: null,
          agent_updated_at: null,
          agent_version: null,
          agent_metadata: { z: 1, a: null },
        },
        steps: [
          {
            type: 't',
            name: 'n',
            description: null,
            input_schema: null,
            output_schema: null,
            metadata: null,
          },
        ],
        evaluators: [{ name: 'e', config_schema: {}, description: 'd' }],
      }),
    );
  });

  it('gives texts, numbers and the order of keys back as they came', async () => {
    const metadata =
      '{"zero":"a\\u0000b","half":"\\ud83d","pair":"\\ud83d\\ude00","b":12345678901234567890,' +
      '"a":[-9007199254740993,1.5e300,0.1],"__proto__":{"x":1},"constructor":null}';
    await call('POST', INIT, `{"agent":{"agent_name":"verbatim-agent","agent_metadata":${metadata}}}`);
    const response = await fetch(`${service.url}/api/v1/agents/verbatim-agent`);
    const text = await response.text();
    const printed = metadata.replace('\\ud83d\\ude00', '\u{1f600}').replace('1.5e300', '1.5e+300');
    expect(text).toContain(`"agent_metadata":${printed}`);
  });

  describe('the list', () => {
    const names = ['alpha_agent-1', 'alpha-agent-2', 'beta-agent-03', 'beta-agent-04', 'gamma-agent-5'];
    beforeAll(async () => {
      await executeSql(service.databaseUrl, 'DELETE FROM "agents"');
      for (const name of names) await seed.agent(name);
      // Two were registered in the same moment, another one later than all.
      await executeSql(
        service.databaseUrl,
        `UPDATE "agents" SET "created_at_ms" = CASE "name"
           WHEN 'gamma-agent-5' THEN 1000000000000 WHEN 'alpha_agent-1' THEN 1700000000123
           ELSE 1600000000000 END`,
      );
    });
    const order = ['alpha_agent-1', 'beta-agent-04', 'beta-agent-03', 'alpha-agent-2', 'gamma-agent-5'];
    const list = async (query = '') => {
      const reply = await call('GET', `/api/v1/agents${query}`);
      expect(reply.status).toBe(200);
      const agents = reply.body.agents as { agent_name: string }[];
      return { names: agents.map((agent) => agent.agent_name), pagination: reply.body.pagination };
    };

    it('is by time of registration, then by name, both descending', async () => {
      expect(await list()).toEqual({
        names: order,
        pagination: { limit: 20, total: 5, next_cursor: null, has_more: false },
      });
    });

    it('prints every member in the order of the contract', async () => {
      const id = await seed.control('counted-control');
      const off = await seed.control('uncounted-control', denyWord('x', { enabled: false }));
      const elsewhere = await seed.control('counted-sdk', denyWord('x', { execution: 'sdk' }));
      for (const one of [id, off, elsewhere]) await seed.link('alpha_agent-1', one);
      const reply = await call('GET', '/api/v1/agents?name=alpha');
      expect(JSON.stringify(reply.body)).toBe(
        JSON.stringify({
          agents: [
            {
              agent_name: 'alpha_agent-1',
              policy_ids: [],
              created_at: '2023-11-14T22:13:20.123000',
              step_count: 0,
              evaluator_count: 0,
              active_controls_count: 2,
            },
            {
              agent_name: 'alpha-agent-2',
              policy_ids: [],
              created_at: '2020-09-13T12:26:40',
              step_count: 0,
              evaluator_count: 0,
              active_controls_count: 0,
            },
          ],
          pagination: { limit: 20, total: 2, next_cursor: null, has_more: false },
        }),
      );
    });

    it('is walked through page by page, the total untouched by the cursor', async () => {
      const walked: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(`?limit=2&cursor=${cursor}`);
        walked.push(...page.names);
        expect(page.pagination).toMatchObject({ limit: 2, total: 5 });
        expect(page.pagination.has_more).toBe(page.pagination.next_cursor !== null);
        if (page.pagination.has_more) expect(page.pagination.next_cursor).toBe(page.names.at(-1));
        cursor = page.pagination.next_cursor;
      }
      expect(walked).toEqual(order);
    });

    it('begins again at a cursor that is the name of no agent', async () => {
      expect((await list('?cursor=nobody-at-all')).names).toEqual(order);
    });

    it.each([
      ['0', 1],
      ['-7', 1],
      ['1', 1],
      ['2.0', 2],
      ['+3', 3],
      ['%204%20', 4],
      ['101', 100],
      ['99999999999999999999', 100],
    ])('takes limit=%s for %i', async (limit, taken) => {
      const page = await list(`?limit=${limit}`);
      expect(page.pagination.limit).toBe(taken);
      expect(page.names).toEqual(order.slice(0, taken));
    });

    it.each(['', 'x', '1.5', 'null'])('refuses limit=%s', async (limit) => {
      const reply = await call('GET', `/api/v1/agents?limit=${limit}`);
      expect(reply.status).toBe(422);
      expect(reply.body.errors).toEqual([
        expect.objectContaining({ resource: 'Request', field: 'query.limit', code: 'int_parsing' }),
      ]);
    });

    it.each([
      ['', order],
      ['BETA', ['beta-agent-04', 'beta-agent-03']],
      ['_', ['alpha_agent-1']],
      ['%25', []],
      ['%5C', []],
      ['a%25', []],
      ['gent-0', ['beta-agent-04', 'beta-agent-03']],
      ['%00', []],
    ])('filters by name=%s, every character for itself', async (name, found) => {
      const page = await list(`?name=${name}`);
      expect(page.names).toEqual(found);
      expect(page.pagination.total).toBe(found.length);
    });

    it('lets the last of a repeated parameter count and ignores unknown ones', async () => {
      expect((await list('?limit=1&limit=2&nothing=1')).names).toHaveLength(2);
    });
  });

  describe('registration', () => {
    const step = (name: string, more: object = {}) => ({ type: 'tool', name, ...more });
    const schema = (properties: object, required: string[] = []) => ({
      type: 'object',
      properties,
      required,
    });
    let agentName: string;
    let count = 0;
    beforeEach(() => {
      count += 1;
      agentName = `registered-${count}`;
    });
    const init = (body: object, agent: object = {}) =>
      call('POST', INIT, { agent: { agent_name: agentName, ...agent }, ...body });
    const stored = async () => (await call('GET', `/api/v1/agents/${agentName}`)).body;
    const storedSteps = async () => ((await stored()).steps as { name: string }[]).map(({ name }) => name);
    const revision = (reply: { headers: Headers }) => Number(reply.headers.get('x-service-revision'));

    const NOTHING = {
      metadata_changed: false,
      steps_added: [],
      steps_updated: [],
      steps_removed: [],
      evaluators_added: [],
      evaluators_updated: [],
      evaluators_removed: [],
      evaluator_removals: [],
    };

    it('of a new agent reports it as created, with every member in order and no change in any mode', async () => {
      for (const mode of ['strict', 'overwrite']) {
        agentName = `brand-new-${count}-${mode}`;
        const reply = await init({ conflict_mode: mode, steps: [step('a')], evaluators: [{ name: 'e' }] });
        expect(JSON.stringify(reply.body)).toBe(
          JSON.stringify({
            created: true,
            controls: [],
            overwrite_applied: false,
            overwrite_changes: NOTHING,
          }),
        );
      }
    });

    it('that repeats itself changes nothing and keeps the revision', async () => {
      const body = { steps: [step('a')], evaluators: [{ name: 'e', config_schema: schema({}) }] };
      const first = await init(body);
      const again = await init(body);
      expect(again.body).toEqual({
        created: false,
        controls: [],
        overwrite_applied: false,
        overwrite_changes: NOTHING,
      });
      expect(revision(again)).toBe(revision(first));
      expect(revision(await init({ ...body, force_replace: true }))).toBe(revision(first) + 1);
    });

    it('replaces the whole agent object, strict or not', async () => {
      await init({}, { agent_description: 'old', agent_version: '1' });
      const changed = await init({}, { agent_version: '2' });
      expect(changed.body).toMatchObject({ overwrite_applied: false, overwrite_changes: NOTHING });
      expect((await stored()).agent).toMatchObject({ agent_description: null, agent_version: '2' });
    });

    it('shows the enabled controls of a known agent, newest first, with nulls', async () => {
      await init({});
      const shown = [
        await seed.control(`${agentName}-server`),
        await seed.control(`${agentName}-sdk`, denyWord('x', { execution: 'sdk' })),
      ];
      const hidden = await seed.control(`${agentName}-off`, denyWord('x', { enabled: false }));
      for (const id of [...shown, hidden]) await seed.link(agentName, id);
      const { controls } = (await init({})).body;
      expect(controls.map(({ id }: { id: number }) => id)).toEqual([...shown].reverse());
      expect(Object.keys(controls[0])).toEqual(['id', 'name', 'control']);
      expect(controls[0].control).toMatchObject({ description: null, scope: { stages: null } });
    });

    it('reports with a regular member what is wrong: conflict_mode is an enumeration', async () => {
      const reply = await init({ conflict_mode: 'merge', force_replace: 'maybe' });
      expect(reply.body.errors).toEqual([
        expect.objectContaining({ field: 'force_replace', code: 'bool_parsing' }),
        expect.objectContaining({ field: 'conflict_mode', code: 'enum' }),
      ]);
    });

    it.each([
      [
        { steps: [{ type: '', name: '' }] },
        ['Step steps[0].type string_too_short', 'Step steps[0].name string_too_short'],
      ],
      [{ steps: {} }, ['Step steps list_type']],
      [{ steps: null }, ['Step steps list_type']],
      [
        { steps: [{ type: 1, name: null, input_schema: [] }] },
        [
          'Step steps[0].type string_type',
          'Step steps[0].name string_type',
          'Step steps[0].input_schema dict_type',
        ],
      ],
      [{ evaluators: [{ name: '' }] }, ['Evaluator evaluators[0].name string_too_short']],
      [{ evaluators: [{ name: 'x'.repeat(256) }] }, ['Evaluator evaluators[0].name string_too_long']],
      [
        { evaluators: [{ name: 'x', description: 'y'.repeat(1001), config_schema: null }] },
        [
          'Evaluator evaluators[0].config_schema dict_type',
          'Evaluator evaluators[0].description string_too_long',
        ],
      ],
    ])('refuses %j', async (body, expected) => {
      const reply = await init(body);
      expect(reply.status).toBe(422);
      const items = reply.body.errors as { resource: string; field: string; code: string }[];
      expect(items.map(({ resource, field, code }) => `${resource} ${field} ${code}`)).toEqual(expected);
    });

    it('looks at evaluator names before steps', async () => {
      const reply = await init({
        steps: [step('a'), step('a')],
        evaluators: [{ name: 'list' }, { name: 'regex' }],
      });
      expect(reply).toMatchObject(problem(409, 'EVALUATOR_NAME_CONFLICT'));
      expect(reply.body.errors).toMatchObject([
        { resource: 'Evaluator', field: 'name', code: 'name_conflict' },
      ]);
      expect(reply.body.details.name).toBe('list');
      const twice = await init({
        steps: [step('a'), step('a'), step('b'), step('b')],
        evaluators: [{ name: 'Regex' }],
      });
      expect(twice).toMatchObject(problem(400, 'VALIDATION_ERROR', { reason: 'BadRequest' }));
      expect(twice.body.errors).toMatchObject([
        { resource: 'Step', field: 'name', code: 'duplicate_step_name' },
      ]);
      expect(Object.keys(twice.body.details)).toEqual(['causes']);
      expect(twice.body).not.toHaveProperty('hint');
      expect((await call('GET', `/api/v1/agents/${agentName}`)).status).toBe(404);
    });

    describe('in strict mode', () => {
      it('adds new steps at the end and keeps those it does not name', async () => {
        await init({ steps: [step('b'), step('a')] });
        await init({ steps: [step('c'), step('a')] });
        expect(await storedSteps()).toEqual(['b', 'a', 'c']);
      });

      it('takes a new description over only along with another change', async () => {
        await init({ steps: [step('a', { description: 'old' })] });
        await init({ steps: [step('a', { description: 'new' })] });
        expect((await stored()).steps[0].description).toBe('old');
        await init({ steps: [step('a', { description: 'new' }), step('b')] });
        expect((await stored()).steps[0].description).toBe('new');
      });

      it.each([
        ['input_schema', { type: 'object' }, { type: 'string' }],
        ['output_schema', { a: { b: [1, 2] } }, { a: { b: [2, 1] } }],
        ['input_schema', null, {}],
        ['output_schema', {}, null],
      ])('refuses another %s and stores nothing', async (member, before, after) => {
        await init({ steps: [step('a', { [member]: before })] });
        const reply = await init(
          { steps: [step('new'), step('a', { [member]: after })] },
          { agent_version: '9' },
        );
        expect(reply).toMatchObject(problem(409, 'SCHEMA_INCOMPATIBLE'));
        expect(reply.body.errors).toMatchObject([
          { resource: 'Step', field: 'schema', code: 'schema_mismatch' },
        ]);
        expect(reply.body.details).toMatchObject({ name: 'a', kind: 'Step' });
        expect(await stored()).toMatchObject({ agent: { agent_version: null }, steps: [{ name: 'a' }] });
        expect(await storedSteps()).toEqual(['a']);
      });

      it('accepts equal schemas whatever the order of their keys', async () => {
        await init({ steps: [step('a', { input_schema: { x: 1, y: { p: 1, q: 2 } } })] });
        const reply = await init({ steps: [step('a', { input_schema: { y: { q: 2, p: 1 }, x: 1 } })] });
        expect(reply.status).toBe(200);
      });

      it('refuses an incompatible evaluator schema with one item for each change', async () => {
        const before = schema({
          b: { type: 'string' },
          a: { type: 'string' },
          c: { type: 'object', properties: { d: { type: 'string' } } },
        });
        await init({ evaluators: [{ name: 'tone', config_schema: before }] });
        const after = schema({ c: { type: 'object', properties: { d: { type: 'number' } } }, e: {} }, ['e']);
        const reply = await init({ evaluators: [{ name: 'tone', config_schema: after }] });
        expect(reply).toMatchObject(problem(409, 'SCHEMA_INCOMPATIBLE'));
        const items = reply.body.errors as {
          resource: string;
          field: string;
          code: string;
          message: string;
        }[];
        expect(items).toHaveLength(4);
        for (const item of items) {
          expect(item).toMatchObject({
            resource: 'Evaluator',
            field: 'config_schema',
            code: 'schema_incompatible',
          });
        }
        expect(items.map(({ message }) => /"([^"]+)"/.exec(message)?.[1])).toEqual(['a', 'b', 'c.d', 'e']);
        expect(reply.body.details).toMatchObject({ name: 'tone', kind: 'Evaluator' });
        expect((await stored()).evaluators[0].config_schema).toEqual(before);
      });

      it('replaces a compatible evaluator, adds new ones and keeps the others', async () => {
        await init({
          evaluators: [{ name: 'one', config_schema: schema({ a: { type: 'string' } }) }, { name: 'two' }],
        });
        const wider = schema({ a: { type: 'string', minLength: 1 }, b: {} });
        await init({
          evaluators: [{ name: 'three' }, { name: 'one', config_schema: wider, description: 'new' }],
        });
        expect((await stored()).evaluators).toEqual([
          { name: 'one', config_schema: wider, description: 'new' },
          { name: 'two', config_schema: {}, description: null },
          { name: 'three', config_schema: {}, description: null },
        ]);
      });

      it('stores an evaluator named twice as it came for a new agent, and the last one for a known one', async () => {
        const twice = {
          evaluators: [
            { name: 'e', description: '1' },
            { name: 'e', description: '2' },
          ],
        };
        await init(twice);
        expect((await stored()).evaluators).toHaveLength(2);
        await init({ ...twice, steps: [step('a')] });
        expect((await stored()).evaluators).toEqual([{ name: 'e', config_schema: {}, description: '2' }]);
      });
    });

    describe('in overwrite mode', () => {
      const overwrite = (body: object, agent: object = {}) =>
        init({ ...body, conflict_mode: 'overwrite' }, agent);

      it('stores exactly what came and reports every change, sorted', async () => {
        const removed = { name: 'tone', config_schema: schema({}) };
        await init({
          steps: [
            step('z'),
            step('gone'),
            { type: 'llm', name: 'gone' },
            step('same'),
            step('mine', { description: '1' }),
          ],
          evaluators: [removed, { name: 'kept' }, { name: 'other' }, { name: 'changed' }],
        });
        const uses = (name: string) => ({
          execution: 'server',
          condition: { not: { selector: {}, evaluator: { name: `${agentName}:${name}`, config: {} } } },
          action: { decision: 'observe' },
        });
        const later = await seed.control(`${agentName}-b-user`, uses('tone'));
        const earlier = await seed.control(`${agentName}-a-user`, uses('tone'));
        const off = await seed.control(`${agentName}-off`, { ...uses('tone'), enabled: false });
        await seed.control(`${agentName}-unlinked`, uses('tone'));
        for (const id of [later, earlier, off]) await seed.link(agentName, id);
        const reply = await overwrite(
          {
            steps: [
              step('same'),
              step('mine', { description: '2' }),
              step('y'),
              { type: 'a', name: 'x' },
              step('z', { metadata: {} }),
            ],
            evaluators: [
              { name: 'kept' },
              { name: 'fresh' },
              { name: 'changed', config_schema: schema({}) },
              { name: 'fresh' },
            ],
          },
          { agent_metadata: {} },
        );
        expect(reply.body).toMatchObject({ created: false, overwrite_applied: true });
        expect(JSON.stringify(reply.body.overwrite_changes)).toBe(
          JSON.stringify({
            metadata_changed: true,
            steps_added: [
              { type: 'a', name: 'x' },
              { type: 'tool', name: 'y' },
            ],
            steps_updated: [
              { type: 'tool', name: 'mine' },
              { type: 'tool', name: 'z' },
            ],
            steps_removed: [
              { type: 'llm', name: 'gone' },
              { type: 'tool', name: 'gone' },
            ],
            evaluators_added: ['fresh'],
            evaluators_updated: ['changed'],
            evaluators_removed: ['other', 'tone'],
            evaluator_removals: [
              { name: 'other', referenced_by_active_controls: false, control_ids: [], control_names: [] },
              {
                name: 'tone',
                referenced_by_active_controls: true,
                control_ids: [earlier, later],
                control_names: [`${agentName}-a-user`, `${agentName}-b-user`],
              },
            ],
          }),
        );
        expect(await storedSteps()).toEqual(['same', 'mine', 'y', 'x', 'z']);
        const evaluators = (await stored()).evaluators as { name: string }[];
        expect(evaluators.map(({ name }) => name)).toEqual(['kept', 'fresh', 'changed', 'fresh']);
      });

      it('takes another order alone for no change and does not store it', async () => {
        const first = await init({
          steps: [step('a'), step('b')],
          evaluators: [{ name: 'e' }, { name: 'f' }],
        });
        const reply = await overwrite({
          steps: [step('b'), step('a')],
          evaluators: [{ name: 'f' }, { name: 'e' }],
        });
        expect(reply.body).toMatchObject({ overwrite_applied: false, overwrite_changes: NOTHING });
        expect(revision(reply)).toBe(revision(first));
        expect(await storedSteps()).toEqual(['a', 'b']);
      });

      it('requires no compatible schemas', async () => {
        await init({ steps: [step('a', { input_schema: { type: 'string' } })] });
        const reply = await overwrite({ steps: [step('a', { input_schema: { type: 'object' } })] });
        expect(reply.body.overwrite_changes).toEqual({
          ...NOTHING,
          steps_updated: [{ type: 'tool', name: 'a' }],
        });
      });

      it('removes everything that does not come', async () => {
        await init({ steps: [step('a')], evaluators: [{ name: 'e' }] });
        const reply = await overwrite({});
        expect(reply.body.overwrite_changes).toMatchObject({
          steps_removed: [{ type: 'tool', name: 'a' }],
          evaluators_removed: ['e'],
        });
        expect(await stored()).toMatchObject({ steps: [], evaluators: [] });
      });
    });

    it('of the same new agent fifty times at once succeeds every time and creates it once', async () => {
      const replies = await Promise.all(Array.from({ length: 50 }, () => init({ steps: [step('a')] })));
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      expect(replies.filter(({ body }) => body.created)).toHaveLength(1);
      expect(await storedSteps()).toEqual(['a']);
    });
  });

  describe('the controls of an agent', () => {
    const agentName = 'linked-agent-1';
    const path = `/api/v1/agents/${agentName}/controls`;
    let on: number;
    let off: number;
    beforeAll(async () => {
      await seed.agent(agentName);
      on = await seed.control('linked-on', denyWord('x', { description: 'd' }));
      off = await seed.control('linked-off', denyWord('x', { enabled: false, execution: 'sdk' }));
    });

    it('are linked and unlinked any number of times, and only a change makes a new revision', async () => {
      const revisionOf = async (method: string, id: number, removed?: boolean) => {
        const reply = await call(method, `${path}/${id}`);
        const expected =
          removed === undefined
            ? { success: true }
            : { success: true, removed_direct_association: removed, control_still_active: false };
        expect(JSON.stringify(reply.body)).toBe(JSON.stringify(expected));
        return Number(reply.headers.get('x-service-revision'));
      };
      const linked = await revisionOf('POST', on);
      expect(await revisionOf('POST', on)).toBe(linked);
      expect(await revisionOf('DELETE', on, true)).toBe(linked + 1);
      expect(await revisionOf('DELETE', on, false)).toBe(linked + 1);
      await revisionOf('POST', on);
      // Its client has not asked for controls, and this one is for clients.
      expect((await call('POST', `${path}/${off}`)).body).toMatchObject({
        success: true,
        warnings: [{ code: 'client_side' }],
      });
    });

    it('look for the agent first, then for the control', async () => {
      for (const method of ['POST', 'DELETE']) {
        const neither = await call(method, '/api/v1/agents/nobody-at-all/controls/999');
        expect(neither).toMatchObject(
          problem(404, 'AGENT_NOT_FOUND', { details: { name: 'nobody-at-all', kind: 'Agent' } }),
        );
        const noControl = await call(method, `${path}/999`);
        expect(noControl).toMatchObject(
          problem(404, 'CONTROL_NOT_FOUND', { details: { name: '999', kind: 'Control' } }),
        );
        expect((await call(method, `${path}/x`)).body.errors).toMatchObject([
          { field: 'path.control_id', code: 'int_parsing' },
        ]);
      }
    });

    it('are printed newest first, without nulls, members in order', async () => {
      const reply = await call('GET', path);
      const control = (description: object, enabled: boolean, execution: string) => ({
        condition: {
          selector: { path: 'input' },
          evaluator: { name: 'regex', config: { pattern: 'x' } },
        },
        ...description,
        enabled,
        execution,
        scope: {},
        action: { decision: 'deny' },
        tags: [],
      });
      expect(JSON.stringify(reply.body)).toBe(
        JSON.stringify({
          controls: [
            { id: off, name: 'linked-off', control: control({}, false, 'sdk') },
            { id: on, name: 'linked-on', control: control({ description: 'd' }, true, 'server') },
          ],
        }),
      );
    });

    it.each([
      ['enabled_state=enabled', ['linked-on']],
      ['enabled_state=disabled', ['linked-off']],
      ['enabled_state=all', ['linked-off', 'linked-on']],
      ['rendered_state=rendered', ['linked-off', 'linked-on']],
      ['rendered_state=unrendered', []],
      ['rendered_state=rendered&enabled_state=enabled', ['linked-on']],
      ['rendered_state=unrendered&enabled_state=enabled', []],
      ['rendered_state=all&enabled_state=all', ['linked-off', 'linked-on']],
    ])('are filtered by %s', async (query, names) => {
      const { controls } = (await call('GET', `${path}?${query}`)).body;
      expect((controls as { name: string }[]).map(({ name }) => name)).toEqual(names);
    });

    it.each(['', 'Enabled', 'on', 'null'])('refuse "%s" as a state', async (state) => {
      const reply = await call('GET', `${path}?enabled_state=${state}&rendered_state=${state}`);
      expect(reply.body.errors).toMatchObject([
        { field: 'query.rendered_state', code: 'literal_error' },
        { field: 'query.enabled_state', code: 'literal_error' },
      ]);
    });
  });
});
