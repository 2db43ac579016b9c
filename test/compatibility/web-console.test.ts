import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnPostgresql } from '../support/databases.js';
import { exchange, restClient } from '../support/http.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import type { TestService } from '../support/service.js';
import { formErrors, NetworkError, type WebConsole, webConsole } from './web-console.js';
import { ADMIN_KEY, CONSOLE_ORIGIN, READER_KEY, startDeployed, WORDS_TEMPLATE } from './world.js';

const V1 = '/api/v1';

describeOnPostgresql('the web console', (freshDatabaseUrl) => {
  let service: TestService;
  let admin: WebConsole;
  let seed: ReturnType<typeof seeder>;
  beforeAll(async () => {
    service = await startDeployed(await freshDatabaseUrl());
    seed = seeder(restClient(service.url, { 'x-api-key': ADMIN_KEY }));
    admin = webConsole(service.url, CONSOLE_ORIGIN);
    await admin.login(ADMIN_KEY);
  });
  afterAll(() => service.stop());

  describe('at the login', () => {
    it('shows it until a key is known, and again after the logout', async () => {
      const page = webConsole(service.url, CONSOLE_ORIGIN);
      await page.open();
      expect(page.screen()).toBe('login');
      expect(await page.login('unknown')).toMatchObject({
        status: 401,
        body: { authenticated: false, is_admin: false },
      });
      expect(page.cookies.size).toBe(0);
      expect(await page.login(` ${READER_KEY} `)).toEqual({
        status: 200,
        body: { authenticated: true, is_admin: false },
      });
      await page.open();
      expect(page.screen()).toBe('content');
      expect((await page.call('GET', `${V1}/agents?limit=10`)).status).toBe(200);
      await page.logout();
      expect(page.cookies.size).toBe(0);
      await page.open();
      expect(page.screen()).toBe('login');
    });

    it('keeps the session in a cookie that scripts and other sites cannot use', () => {
      expect(admin.cookies.size).toBe(1);
      const [cookie] = admin.cookies.values();
      expect(cookie?.value).not.toContain(ADMIN_KEY);
      const attributes = (cookie?.attributes ?? []).map((attribute) => attribute.toLowerCase());
      expect(attributes).toEqual(
        expect.arrayContaining(['httponly', 'samesite=lax', 'path=/', 'max-age=2592000']),
      );
    });

    it('is sent back to it by any 401', async () => {
      const page = webConsole(service.url, CONSOLE_ORIGIN);
      expect(page.screen()).toBe('content');
      const { status, body } = await page.call('GET', `${V1}/agents?limit=10`);
      expect([status, body.error_code, page.screen()]).toEqual([401, 'AUTH_MISSING_KEY', 'login']);
    });

    it('may not change anything with a regular key, and stays signed in', async () => {
      const page = webConsole(service.url, CONSOLE_ORIGIN);
      await page.login(READER_KEY);
      const { status, body } = await page.call('PUT', `${V1}/policies`, { name: 'refused' });
      expect([status, body.error_code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
      expect(page.screen()).toBe('content');
    });

    it('gets nowhere from an origin that is not listed, not even with a session', async () => {
      const foreign = webConsole(service.url, 'https://elsewhere.example');
      await expect(foreign.open()).rejects.toThrow(NetworkError);
      await expect(foreign.login(ADMIN_KEY)).rejects.toThrow(NetworkError);
      const [name, cookie] = [...admin.cookies][0] ?? [];
      const forged = await exchange(service.url, {
        method: 'PUT',
        path: `${V1}/policies`,
        // What a form of another site could send without being asked about it first.
        headers: {
          origin: 'https://elsewhere.example',
          'content-type': 'text/plain',
          cookie: `${name}=${cookie?.value}`,
        },
        body: JSON.stringify({ name: 'forged' }),
      });
      expect([forged.status, forged.json.error_code]).toEqual([403, 'AUTH_INSUFFICIENT_PRIVILEGES']);
      // The name is still free: nothing was stored.
      expect((await admin.call('PUT', `${V1}/policies`, { name: 'forged' })).status).toBe(200);
    });
  });

  describe('in its lists', () => {
    const AGENTS = Array.from({ length: 23 }, (_none, index) => `scrolled-agent-${index}`);
    beforeAll(async () => {
      for (const agent of AGENTS) await seed.agent(agent);
      for (const agent of AGENTS) await seed.control(agent.replace('agent', 'control'));
    });

    it('scrolls agents to the end, each once, the latest first', async () => {
      const agents = await admin.scroll<{ agent_name: string }>(`${V1}/agents?name=SCROLLED-`, 'agents');
      expect(agents.map(({ agent_name: name }) => name)).toEqual([...AGENTS].reverse());
    });

    it('scrolls controls to the end by a cursor that it sends as a number', async () => {
      const controls = await admin.scroll<{ id: number; name: string }>(
        `${V1}/controls?name=scrolled-`,
        'controls',
      );
      expect(controls).toHaveLength(AGENTS.length);
      const ids = controls.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    });

    it('finds what the statistics of an agent need, at first for an hour, then for a week', async () => {
      for (const range of ['1h', '7d']) {
        const path = `${V1}/observability/stats?agent_name=scrolled-agent-1&time_range=${range}&include_timeseries=true`;
        const { status, body } = await admin.call('GET', path);
        expect([status, body.totals.execution_count, body.controls]).toEqual([200, 0, []]);
        expect(body.totals.timeseries.length).toBeGreaterThan(0);
      }
    });
  });

  describe('in its editors', () => {
    const agent = 'edited-agent-01';
    beforeAll(() => seed.agent(agent));

    it('builds forms from the schemas of definitions and evaluators', async () => {
      const { schema } = (await admin.call('GET', `${V1}/controls/schema`)).body;
      expect(Object.keys(schema.properties)).toEqual(
        expect.arrayContaining([
          'condition',
          'execution',
          'action',
          'scope',
          'tags',
          'enabled',
          'description',
        ]),
      );
      const evaluators = (await admin.call('GET', `${V1}/evaluators`)).body;
      expect(evaluators.regex.config_schema).toMatchObject({
        type: 'object',
        properties: { pattern: { type: 'string' } },
        required: ['pattern'],
      });
    });

    it('loads, changes, renames, switches, links, unlinks and deletes a control', async () => {
      const created = await admin.createFor(agent, 'edited', denyWord('bad'));
      const id = created.body.control_id;
      const control = `${V1}/controls/${id}`;
      const { data } = (await admin.call('GET', `${control}/data`)).body;
      // What the editor loaded can be stored as it is.
      expect((await admin.call('PUT', `${control}/data`, { data: { ...data, tags: ['new'] } })).status).toBe(
        200,
      );
      expect((await admin.call('GET', `${control}/data`)).body.data).toEqual({ ...data, tags: ['new'] });
      expect((await admin.call('PATCH', control, { name: 'edited-2', enabled: false })).body).toMatchObject({
        success: true,
        name: 'edited-2',
        enabled: false,
      });
      const states = (await admin.call('GET', `${V1}/agents/${agent}/controls`)).body.controls;
      expect(states).toMatchObject([{ id, name: 'edited-2', control: { enabled: false, tags: ['new'] } }]);
      const refused = await admin.call('DELETE', control);
      expect([refused.status, refused.body.error_code]).toEqual([409, 'CONTROL_IN_USE']);
      expect((await admin.call('DELETE', `${V1}/agents/${agent}/controls/${id}`)).body).toMatchObject({
        control_still_active: false,
      });
      expect((await admin.call('DELETE', `${control}?force=false`)).status).toBe(200);
    });

    it('creates, links and sees the control act at once', async () => {
      const created = await admin.createFor(agent, 'acting', denyWord('worst'));
      expect(created.status).toBe(200);
      const reader = restClient(service.url, { 'x-api-key': READER_KEY });
      expect((await evaluate(reader, agent, 'the worst')).body).toMatchObject({ is_safe: false });
    });

    it('does not keep a control that cannot be linked', async () => {
      const failed = await admin.createFor('missing-agent-01', 'short-lived', denyWord('bad'));
      expect([failed.status, failed.body.error_code]).toEqual([404, 'AGENT_NOT_FOUND']);
      expect(await admin.scroll(`${V1}/controls?name=short-lived`, 'controls')).toEqual([]);
      expect((await admin.createFor(agent, 'short-lived', denyWord('bad'))).status).toBe(200);
    });

    it('shows a taken name at the name, on creating and on renaming', async () => {
      await seed.control('taken');
      const other = await seed.control('not-taken');
      const created = await admin.call('PUT', `${V1}/controls`, { name: 'taken', data: denyWord('x') });
      const renamed = await admin.call('PATCH', `${V1}/controls/${other}`, { name: 'taken' });
      for (const reply of [created, renamed])
        expect(formErrors(reply)).toEqual({ name: 'CONTROL_NAME_CONFLICT' });
    });

    const twoLeaves = (first: object, second: object) => ({
      execution: 'server',
      condition: { and: [first, { not: second }] },
      action: { decision: 'deny' },
    });
    const leaf = (name: string, config: object) => ({
      selector: { path: 'input' },
      evaluator: { name, config },
    });

    it.each<[string, object, Record<string, string>]>([
      [
        'plain members',
        { name: '', data: { ...denyWord('x'), execution: 'nowhere', tags: 'one' } },
        { name: 'too_short', 'data.execution': 'literal_error', 'data.tags': 'list_type' },
      ],
      [
        'members in lists',
        { name: 'x', data: denyWord('x', { scope: { stages: ['pre', 'mid'], step_names: [] } }) },
        { 'data.scope.stages[1]': 'literal_error', 'data.scope.step_names': 'value_error' },
      ],
      [
        'the config of an evaluator',
        { name: 'x', data: twoLeaves(leaf('regex', { pattern: '(' }), leaf('list', {})) },
        {
          'data.condition.and[0].evaluator.pattern': 'value_error',
          'data.condition.and[1].not.evaluator.values': 'missing',
        },
      ],
      [
        'a node of the condition',
        { name: 'x', data: { ...denyWord('x'), condition: { and: [] } } },
        { 'data.condition': 'value_error' },
      ],
      [
        'the value of a parameter',
        { name: 'x', data: { template: WORDS_TEMPLATE, template_values: { words: true } } },
        { 'parameter words': 'invalid_type' },
      ],
      [
        'a parameter that is not there',
        { name: 'x', data: { template: WORDS_TEMPLATE, template_values: { other: 'x' } } },
        { 'parameter other': 'unknown_parameter' },
      ],
      [
        'the declaration of a parameter',
        {
          name: 'x',
          data: { template: { ...WORDS_TEMPLATE, parameters: { words: { type: 'string_list' } } } },
        },
        { 'data.template.parameters.words.string_list.label': 'missing' },
      ],
    ])('shows errors at %s while typing and on saving', async (_what, body, errors) => {
      const saved = await admin.call('PUT', `${V1}/controls`, body);
      expect([saved.status, formErrors(saved)]).toEqual([422, errors]);
      const typed = await admin.call('POST', `${V1}/controls/validate`, body);
      const { name: _name, ...ofData } = errors;
      expect([typed.status, formErrors(typed)]).toEqual([422, ofData]);
    });

    it('previews a template, and shows the parameter that spoils it', async () => {
      const template = {
        parameters: { where: { type: 'string', label: 'Where' } },
        definition_template: {
          execution: { $param: 'where' },
          condition: leaf('regex', { pattern: 'x' }),
          action: { decision: 'deny' },
        },
      };
      const preview = (where: string) =>
        admin.call('POST', `${V1}/control-templates/render`, { template, template_values: { where } });
      expect((await preview('sdk')).body.control).toMatchObject({ execution: 'sdk', enabled: true });
      const spoiled = await preview('nowhere');
      expect([spoiled.status, formErrors(spoiled)]).toEqual([
        422,
        { 'parameter where': 'template_parameter_invalid' },
      ]);
      expect(spoiled.body.errors).toMatchObject([
        { field: 'template_values.where', parameter_label: 'Where', rendered_field: 'execution' },
      ]);
    });

    it('works with the policies of an agent', async () => {
      const { policy_id: policy } = (await admin.call('PUT', `${V1}/policies`, { name: 'shown' })).body;
      const control = await seed.control('in-policy');
      const of = (path = '') => `${V1}/agents/${agent}/policies${path}`;
      expect((await admin.call('POST', `${V1}/policies/${policy}/controls/${control}`)).status).toBe(200);
      expect((await admin.call('POST', of(`/${policy}`))).status).toBe(200);
      expect((await admin.call('GET', of())).body).toEqual({ policy_ids: [policy] });
      expect((await admin.call('DELETE', `${V1}/agents/${agent}/controls/${control}`)).body).toEqual({
        success: true,
        removed_direct_association: false,
        control_still_active: true,
      });
      expect((await admin.call('DELETE', of(`/${policy}`))).status).toBe(200);
      expect((await admin.call('DELETE', `${V1}/policies/${policy}/controls/${control}`)).status).toBe(200);
    });

    it('may give up a check while typing without harm to those after it', async () => {
      const body = JSON.stringify({ data: denyWord('x') });
      const [name, cookie] = [...admin.cookies][0] ?? [];
      const headers = {
        origin: CONSOLE_ORIGIN,
        'content-type': 'application/json',
        cookie: `${name}=${cookie?.value}`,
      };
      const { host: hostname, port } = service;
      const aborted = Array.from({ length: 20 }, () => {
        const request = http.request({
          hostname,
          port,
          method: 'POST',
          path: `${V1}/controls/validate`,
          headers,
          agent: false,
        });
        // The reply may come before the end; the console looks at neither.
        request.on('error', () => {});
        const closed = new Promise((resolve) => request.once('close', resolve));
        request.end(body, () => request.destroy());
        return closed;
      });
      await Promise.all(aborted);
      expect(await admin.call('POST', `${V1}/controls/validate`, JSON.parse(body))).toMatchObject({
        status: 200,
        body: { success: true },
      });
    });
  });

  it('is refused a session over plain HTTP under a name that is not local', async () => {
    const answer = await exchange(service.url, {
      method: 'POST',
      path: '/api/login',
      headers: { host: 'service.example', 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: ADMIN_KEY }),
    });
    expect([answer.status, answer.json, answer.headers['set-cookie']]).toEqual([
      403,
      { authenticated: false, is_admin: false, detail: expect.stringMatching(/https/) },
      undefined,
    ]);
  });
});
