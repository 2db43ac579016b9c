import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { restClient, untilServed } from '../support/http.js';
import { methodNamed } from '../support/protocol-clients.js';
import { denyWord, evaluate, seeder } from '../support/seed.js';
import { suiteClient, suiteService, testService } from '../support/service-suite.js';
import { damageControl, executeSql, sqlText } from '../support/sql.js';

const CONTROLS = '/api/v1/controls';
const FIRST_KEY = 'first-admin-key';
const SECOND_KEY = 'second-admin-key';
const ZONED_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const fingerprint = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 12);

interface Version {
  version_num: number;
  event_type: string;
  note: string;
  created_at: string;
  key_fingerprint: string | null;
  changed_members: string[];
}

/** A template whose only parameter is the word that is stopped. */
const TEMPLATE = {
  parameters: { word: { type: 'string', label: 'Word' } },
  definition_template: denyWord('', {
    condition: {
      selector: { path: 'input' },
      evaluator: { name: 'regex', config: { pattern: { $param: 'word' } } },
    },
  }),
};
const fromTemplate = (word?: string) => ({
  template: TEMPLATE,
  template_values: word === undefined ? {} : { word },
});

describeAboveStores('versions of controls', (freshDatabaseUrl) => {
  const service = suiteService(
    async () => ({
      DATABASE_URL: await freshDatabaseUrl(),
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_ADMIN_API_KEYS: `${FIRST_KEY},${SECOND_KEY}`,
    }),
    { headers: { 'x-api-key': FIRST_KEY } },
  );
  const { call, seed } = service;
  const grpc = suiteClient(service, 'gRPC (grpc-js)');

  const versionsOf = async (id: number, query = '?limit=100'): Promise<Version[]> =>
    (await call('GET', `${CONTROLS}/${id}/versions${query}`)).body.versions;
  const history = async (id: number) =>
    (await versionsOf(id)).map(
      (one) => `${one.version_num} ${one.event_type}: ${one.note} [${one.changed_members}]`,
    );
  const snapshot = async (id: number, number: number) =>
    (await call('GET', `${CONTROLS}/${id}/versions/${number}`)).body.snapshot;
  const restore = (id: number, number: number) =>
    call('POST', `${CONTROLS}/${id}/versions/${number}/restore`);
  const put = (id: number, data: object) => call('PUT', `${CONTROLS}/${id}/data`, { data });
  const patch = (id: number, change: object) => call('PATCH', `${CONTROLS}/${id}`, change);
  const remove = (id: number, query = '') => call('DELETE', `${CONTROLS}/${id}${query}`);
  const isSafe = async (agent: string, input: string) => (await evaluate(call, agent, input)).body.is_safe;

  describe('the history', () => {
    it('has one version for each change, with what changed', async () => {
      const id = await seed.control('changing');
      await patch(id, { name: 'changed' });
      await patch(id, { enabled: false });
      await patch(id, { name: 'changed-again', enabled: true });
      await put(id, denyWord('worse', { tags: ['x'], description: 'stricter' }));
      await put(id, denyWord('worse', { tags: ['x'], description: 'stricter', enabled: false }));
      await put(id, denyWord('worse', { tags: ['x'], description: 'stricter', enabled: false }));
      await restore(id, 1);
      await remove(id);
      expect(await history(id)).toEqual([
        '9 deleted: Deleted []',
        '8 updated: Restored from version 1 [name,data.condition,data.description,data.enabled,data.tags]',
        '7 updated: Definition replaced []',
        '6 updated: Definition replaced [data.enabled]',
        '5 updated: Definition replaced [data.condition,data.description,data.tags]',
        '4 updated: Renamed and enabled [name,data.enabled]',
        '3 updated: Disabled [data.enabled]',
        '2 updated: Renamed [name]',
        '1 created: Created []',
      ]);
      const names = [];
      for (let number = 1; number <= 9; number++) names.push((await snapshot(id, number)).name);
      expect(names).toEqual([
        'changing',
        'changed',
        'changed',
        ...Array(4).fill('changed-again'),
        'changing',
        'changing',
      ]);
    });

    it('has no version for what changed nothing', async () => {
      const id = await seed.control('unchanged');
      const other = await seed.control('in-the-way');
      await patch(id, {});
      await patch(id, { name: 'unchanged', enabled: true });
      expect((await patch(id, { name: 'in-the-way' })).status).toBe(409);
      expect((await put(id, { ...denyWord('x'), execution: 'nowhere' })).status).toBe(422);
      expect((await put(id, denyWord('x', { condition: agentCheck('nobody-at-all:x') }))).status).toBe(404);
      expect((await call('PUT', CONTROLS, { name: 'in-the-way', data: denyWord('x') })).status).toBe(409);
      await seed.agent('linking-agent');
      await seed.link('linking-agent', id);
      expect((await remove(id)).status).toBe(409);
      expect(await history(id)).toEqual(['1 created: Created []']);
      expect(await history(other)).toEqual(['1 created: Created []']);
    });

    it('identifies the key of each change and never reveals it', async () => {
      const id = await seed.control('two-keys');
      await call('PATCH', `${CONTROLS}/${id}`, { enabled: false }, { 'x-api-key': SECOND_KEY });
      const versions = await versionsOf(id);
      expect(versions.map((one) => one.key_fingerprint)).toEqual([
        fingerprint(SECOND_KEY),
        fingerprint(FIRST_KEY),
      ]);
      expect(JSON.stringify(versions)).not.toContain('admin-key');
      expect(versions.every((one) => ZONED_TIME.test(one.created_at))).toBe(true);
    });

    it('prints every member, null where nothing is set', async () => {
      const id = await seed.control('printed');
      const reply = await call('GET', `${CONTROLS}/${id}/versions/1`);
      expect(Object.keys(reply.body)).toEqual([
        'version_num',
        'event_type',
        'note',
        'created_at',
        'key_fingerprint',
        'changed_members',
        'snapshot',
      ]);
      const { data, ...rest } = reply.body.snapshot;
      expect(rest).toEqual({
        name: 'printed',
        deleted_at: null,
        cloned_control_id: null,
        cloned_from_control_id: null,
      });
      expect(data).toEqual((await call('GET', `${CONTROLS}/${id}`)).body.data);
    });

    it('is walked through page by page', async () => {
      const id = await seed.control('long-history');
      for (let round = 0; round < 6; round++) await put(id, denyWord(`word-${round}`));
      const walked: number[] = [];
      let cursor = '';
      do {
        const page = await call('GET', `${CONTROLS}/${id}/versions?limit=3${cursor}`);
        expect(page.body.pagination).toMatchObject({ limit: 3, total: 7 });
        walked.push(...page.body.versions.map((one: Version) => one.version_num));
        const { next_cursor: next, has_more: more } = page.body.pagination;
        expect(next === null).toBe(!more);
        cursor = more ? `&cursor=${next}` : '';
      } while (cursor !== '');
      expect(walked).toEqual([7, 6, 5, 4, 3, 2, 1]);
      expect(await versionsOf(id, '?cursor=99999999999')).toHaveLength(7);
      expect(await versionsOf(id, '?cursor=-99999999999')).toEqual([]);
    });

    it.each([
      ['limit=0', 'query.limit greater_than_equal'],
      ['limit=101', 'query.limit less_than_equal'],
      ['limit=x', 'query.limit int_parsing'],
      ['cursor=', 'query.cursor int_parsing'],
      ['cursor=x', 'query.cursor int_parsing'],
    ])('refuses %s', async (query, item) => {
      const reply = await call('GET', `${CONTROLS}/1/versions?${query}`);
      expect(reply.status).toBe(422);
      const [{ field, code }] = reply.body.errors;
      expect(`${field} ${code}`).toBe(item);
    });

    it('shows the same over gRPC', async () => {
      const id = await seed.control('over-grpc');
      await grpc.call(
        methodNamed('ControlService.UpdateControl'),
        { control_id: id, enabled: false },
        SECOND_KEY,
      );
      const input = { control_id: id, version_num: 2 };
      const restored = methodNamed('ControlService.RestoreControlVersion');
      expect(await grpc.call(restored, { ...input, version_num: 1 }, FIRST_KEY)).toMatchObject({
        ok: true,
        reply: { success: true, version_num: 3 },
      });
      const listed = await grpc.call(
        methodNamed('ControlService.ListControlVersions'),
        { control_id: id },
        FIRST_KEY,
      );
      expect(listed).toMatchObject({ ok: true, reply: { versions: await versionsOf(id) } });
      const read = await grpc.call(methodNamed('ControlService.GetControlVersion'), input, FIRST_KEY);
      expect(read).toMatchObject({
        ok: true,
        reply: { event_type: 'updated', snapshot: { name: 'over-grpc', data: { enabled: false } } },
      });
    });

    it('has no gaps when many change a control at once', async () => {
      const id = await seed.control('contended');
      const changes = Array.from({ length: 30 }, (_, index) => {
        if (index % 3 === 0) return untilServed(() => put(id, denyWord(`word-${index}`)));
        if (index % 3 === 1) return untilServed(() => patch(id, { name: `contended-${index}` }));
        return untilServed(() => restore(id, 1));
      });
      const statuses = (await Promise.all(changes)).map(({ status }) => status);
      expect(statuses).toEqual(Array(30).fill(200));
      const numbers = (await versionsOf(id)).map((one) => one.version_num);
      // More of them if a change was made that took the service too long to tell so.
      expect(numbers.length).toBeGreaterThanOrEqual(31);
      expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
      const current = (await call('GET', `${CONTROLS}/${id}`)).body;
      expect(await snapshot(id, numbers.length)).toMatchObject({ name: current.name, data: current.data });
    });
  });

  describe('what is not there', () => {
    it.each(['0', '-1', '2', '4294967296', '99999999999999999999'])(
      'is a 404 for version %s',
      async (number) => {
        const id = await seed.control(`short-history-${number}`.replace('--', '-minus-'));
        for (const [method, path] of [
          ['GET', ''],
          ['POST', '/restore'],
        ] as const) {
          const reply = await call(method, `${CONTROLS}/${id}/versions/${number}${path}`);
          expect(reply).toMatchObject({
            status: 404,
            body: {
              error_code: 'CONTROL_VERSION_NOT_FOUND',
              details: { name: String(id), kind: 'Control' },
            },
          });
        }
      },
    );

    it.each(['0', '-1', '999999', '99999999999999999999'])('is a 404 for control %s', async (id) => {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/1'],
        ['POST', '/1/restore'],
      ] as const) {
        const reply = await call(method, `${CONTROLS}/${id}/versions${path}`);
        expect(reply).toMatchObject({ status: 404, body: { error_code: 'CONTROL_NOT_FOUND' } });
      }
    });

    it('is distinguished from what is no number', async () => {
      const reply = await call('GET', `${CONTROLS}/x/versions/y`);
      expect(reply.status).toBe(422);
      expect(
        reply.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
      ).toEqual([
        ['path.control_id', 'int_parsing'],
        ['path.version_num', 'int_parsing'],
      ]);
    });
  });

  describe('restoring', () => {
    it('brings name and definition back, and evaluation follows at once', async () => {
      const id = await seed.control('original', denyWord('alpha'));
      await seed.agent('restored-agent');
      await seed.link('restored-agent', id);
      await put(id, denyWord('beta', { tags: ['later'] }));
      await patch(id, { name: 'renamed' });
      expect(await isSafe('restored-agent', 'alpha')).toBe(true);
      const reply = await restore(id, 1);
      expect(reply).toMatchObject({ status: 200, body: { success: true, version_num: 4, warnings: [] } });
      expect(Number(reply.headers.get('x-service-revision'))).toBeGreaterThan(0);
      expect((await evaluate(call, 'restored-agent', 'alpha')).body).toMatchObject({
        is_safe: false,
        matches: [{ control_id: id, control_name: 'original' }],
      });
      expect(await isSafe('restored-agent', 'beta')).toBe(true);
      expect((await call('GET', `${CONTROLS}?tag=later`)).body.controls).toEqual([]);
      expect(await snapshot(id, 4)).toEqual(await snapshot(id, 1));
    });

    it('takes enabled from the version', async () => {
      const id = await seed.control('switched');
      await patch(id, { enabled: false });
      await restore(id, 1);
      expect((await call('GET', `${CONTROLS}?enabled=true&name=switched`)).body.controls).toHaveLength(1);
      await restore(id, 2);
      expect((await call('GET', `${CONTROLS}?enabled=true&name=switched`)).body.controls).toEqual([]);
      expect((await call('GET', `${CONTROLS}/${id}`)).body.data.enabled).toBe(false);
    });

    it('refuses a name that another living control took', async () => {
      const id = await seed.control('given-up');
      await patch(id, { name: 'moved-on' });
      const other = await seed.control('given-up', denyWord('other'));
      expect(await restore(id, 1)).toMatchObject({
        status: 409,
        body: { error_code: 'CONTROL_NAME_CONFLICT', details: { name: 'given-up' } },
      });
      expect(await history(id)).toHaveLength(2);
      await remove(other);
      expect((await restore(id, 1)).status).toBe(200);
      expect((await call('GET', `${CONTROLS}/${id}`)).body.name).toBe('given-up');
    });

    it('refuses a version that cannot be read, which is still shown', async () => {
      const id = await seed.control('damaged-history');
      await put(id, denyWord('fine'));
      const damaged = sqlText('{"execution":"nowhere"}');
      await executeSql(
        service.databaseUrl,
        `UPDATE "control_versions" SET "data" = ${damaged} WHERE "control_id" = ${id} AND "version_num" = 1`,
      );
      const reply = await restore(id, 1);
      expect(reply).toMatchObject({ status: 422, body: { error_code: 'CORRUPTED_DATA' } });
      expect(reply.body.errors.map(({ field }: { field: string }) => field)).toContain('data.execution');
      expect(await snapshot(id, 1)).toMatchObject({ name: 'damaged-history', data: null });
      expect(await history(id)).toHaveLength(2);
    });

    it('mends a control whose definition cannot be read', async () => {
      const id = await seed.control('damaged-now', denyWord('mended'));
      await damageControl(service.databaseUrl, id, 'no json');
      await patch(id, { name: 'damaged-renamed' });
      expect((await restore(id, 1)).status).toBe(200);
      expect(await history(id)).toEqual([
        '3 updated: Restored from version 1 [name,data]',
        '2 updated: Renamed [name]',
        '1 created: Created []',
      ]);
      expect((await call('GET', `${CONTROLS}/${id}/data`)).status).toBe(200);
    });

    it('checks evaluators of agents as a new definition is checked', async () => {
      const evaluators = [{ name: 'tone', config_schema: { type: 'object' } }];
      await seed.agent('tone-agent-01', { evaluators });
      const id = await seed.control('toned', denyWord('x', { condition: agentCheck('tone-agent-01:tone') }));
      await put(id, denyWord('x'));
      expect((await restore(id, 1)).status).toBe(200);
      await put(id, denyWord('x'));
      await call('PATCH', '/api/v1/agents/tone-agent-01', { remove_evaluators: ['tone'] });
      expect(await restore(id, 1)).toMatchObject({
        status: 422,
        body: { error_code: 'EVALUATOR_NOT_FOUND' },
      });
    });

    it('reports again which evaluators the service lacks', async () => {
      const id = await seed.control('lacking', denyWord('x', { condition: agentCheck('not-installed') }));
      await put(id, denyWord('x'));
      expect((await restore(id, 1)).body.warnings).toMatchObject([
        { code: 'unknown_evaluator', field: 'data.condition.evaluator.name' },
      ]);
    });

    it('brings a template back with its values', async () => {
      const id = await seed.control('from-template', fromTemplate('alpha'));
      await put(id, fromTemplate('beta'));
      expect((await restore(id, 1)).status).toBe(200);
      const { data } = (await call('GET', `${CONTROLS}/${id}/data`)).body;
      expect(data).toMatchObject({
        template_values: { word: 'alpha' },
        condition: { evaluator: { config: { pattern: 'alpha' } } },
        enabled: true,
      });
      expect(await history(id)).toEqual([
        '3 updated: Restored from version 1 [data.condition,data.template_values]',
        '2 updated: Definition replaced [data.condition,data.template_values]',
        '1 created: Created []',
      ]);
    });

    it('brings a draft back, which is not evaluated', async () => {
      const id = await seed.control('once-a-draft', fromTemplate());
      await put(id, fromTemplate('alpha'));
      await patch(id, { enabled: true });
      await seed.agent('draft-agent-01');
      await seed.link('draft-agent-01', id);
      expect(await isSafe('draft-agent-01', 'alpha')).toBe(false);
      expect((await restore(id, 1)).status).toBe(200);
      expect(await isSafe('draft-agent-01', 'alpha')).toBe(true);
      const [summary] = (await call('GET', `${CONTROLS}?name=once-a-draft`)).body.controls;
      expect(summary).toMatchObject({ enabled: false, template_backed: true, template_rendered: false });
      expect((await restore(id, 3)).status).toBe(200);
      expect(await isSafe('draft-agent-01', 'alpha')).toBe(false);
    });
  });

  describe('a deleted control', () => {
    let id: number;
    let successor: number;
    let policy: number;
    beforeAll(async () => {
      id = await seed.control('mortal', denyWord('omega', { tags: ['mortal-tag'] }));
      await seed.agent('mourning-agent');
      await seed.agent('policy-mourner');
      await seed.link('mourning-agent', id);
      policy = (await call('PUT', '/api/v1/policies', { name: 'mortals' })).body.policy_id;
      await call('POST', `/api/v1/policies/${policy}/controls/${id}`);
      await call('POST', `/api/v1/agents/policy-mourner/policies/${policy}`);
      expect(await isSafe('mourning-agent', 'omega')).toBe(false);
      expect(await isSafe('policy-mourner', 'omega')).toBe(false);
      expect((await remove(id)).body.error_code).toBe('CONTROL_IN_USE');
      expect((await remove(id, '?force=true')).body).toEqual({
        success: true,
        dissociated_from: [policy],
        dissociated_from_policies: [policy],
        dissociated_from_agents: ['mourning-agent'],
        detached_target_bindings: [],
      });
      successor = await seed.control('mortal', denyWord('sigma'));
    });

    it('is a 404 on every route but its history', async () => {
      const requests: [string, string, unknown?][] = [
        ['GET', `${CONTROLS}/${id}`],
        ['GET', `${CONTROLS}/${id}/data`],
        ['PUT', `${CONTROLS}/${id}/data`, { data: denyWord('x') }],
        ['PATCH', `${CONTROLS}/${id}`, { name: 'undead' }],
        ['PATCH', `${CONTROLS}/${id}`, {}],
        ['DELETE', `${CONTROLS}/${id}`],
        ['DELETE', `${CONTROLS}/${id}?force=true`],
        ['POST', `${CONTROLS}/${id}/versions/1/restore`],
        ['POST', `/api/v1/agents/mourning-agent/controls/${id}`],
        ['DELETE', `/api/v1/agents/mourning-agent/controls/${id}`],
        ['POST', `/api/v1/policies/${policy}/controls/${id}`],
        ['DELETE', `/api/v1/policies/${policy}/controls/${id}`],
      ];
      for (const [method, path, body] of requests) {
        const { status, body: problem } = await call(method, path, body);
        expect([method, path, status, problem.error_code]).toEqual([method, path, 404, 'CONTROL_NOT_FOUND']);
      }
    });

    it('keeps its history, which shows when it was deleted', async () => {
      expect(await history(id)).toEqual(['2 deleted: Deleted []', '1 created: Created []']);
      const [deleted] = await versionsOf(id);
      const last = await snapshot(id, 2);
      expect(last).toMatchObject({ name: 'mortal', data: { tags: ['mortal-tag'] } });
      expect(last.deleted_at).toMatch(ZONED_TIME);
      expect(last.deleted_at).toBe(deleted?.created_at);
      expect((await snapshot(id, 1)).deleted_at).toBeNull();
    });

    it('leaves lists, evaluation, agents and policies', async () => {
      const listed = await call('GET', `${CONTROLS}?name=mortal`);
      expect(listed.body.controls.map((one: { id: number }) => one.id)).toEqual([successor]);
      expect(listed.body.pagination.total).toBe(1);
      expect((await call('GET', `${CONTROLS}?tag=mortal-tag`)).body).toMatchObject({
        controls: [],
        pagination: { total: 0 },
      });
      expect((await call('GET', `/api/v1/policies/${policy}/controls`)).body.control_ids).toEqual([]);
      for (const agent of ['mourning-agent', 'policy-mourner']) {
        expect(await isSafe(agent, 'omega')).toBe(true);
        expect((await call('GET', `/api/v1/agents/${agent}/controls`)).body.controls).toEqual([]);
        const [summary] = (await call('GET', `/api/v1/agents?name=${agent}`)).body.agents;
        expect(summary.active_controls_count).toBe(0);
      }
    });

    it('frees its name and never its id', async () => {
      expect(successor).toBeGreaterThan(id);
      expect((await call('GET', `${CONTROLS}/${successor}`)).body).toMatchObject({
        name: 'mortal',
        data: { condition: { evaluator: { config: { pattern: 'sigma' } } } },
      });
      expect((await call('PUT', CONTROLS, { name: 'mortal', data: denyWord('x') })).status).toBe(409);
    });

    it('stays deleted for a service that starts later', async () => {
      const later = await testService({ DATABASE_URL: service.databaseUrl });
      const ask = restClient(later.url);
      expect((await ask('GET', `${CONTROLS}/${id}`)).status).toBe(404);
      expect((await evaluate(ask, 'mourning-agent', 'omega')).body.is_safe).toBe(true);
      expect((await ask('GET', `${CONTROLS}/${id}/versions`)).body.versions).toHaveLength(2);
    });

    it('may have had a name that many deleted controls had', async () => {
      const ids: number[] = [];
      for (let round = 0; round < 5; round++) {
        const one = await seed.control('reborn');
        ids.push(one);
        expect((await remove(one)).status).toBe(200);
      }
      expect(new Set(ids).size).toBe(5);
      for (const one of ids) expect(await history(one)).toHaveLength(2);
      expect((await call('GET', `${CONTROLS}?name=reborn`)).body.controls).toEqual([]);
    });

    it('is deleted once when many delete it at once, and its name then goes to one of many', async () => {
      const one = await seed.control('fought-over');
      const statuses = (await Promise.all(Array.from({ length: 8 }, () => remove(one)))).map(
        ({ status }) => status,
      );
      expect(statuses.sort()).toEqual([200, ...Array(7).fill(404)]);
      expect(await history(one)).toEqual(['2 deleted: Deleted []', '1 created: Created []']);

      const create = () => call('PUT', CONTROLS, { name: 'fought-over', data: denyWord('x') });
      const replies = await Promise.all(Array.from({ length: 8 }, create));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    });
  });

  it('are written together with the change, or neither is', async () => {
    const url = await freshDatabaseUrl();
    const broken = await testService({ DATABASE_URL: url });
    const ask = restClient(broken.url);
    const id = await seeder(ask).control('untouched');
    const before = (await ask('GET', `${CONTROLS}/${id}`)).body;
    await executeSql(url, 'ALTER TABLE "control_versions" RENAME TO "elsewhere"');
    const requests: [string, string, unknown?][] = [
      ['PUT', CONTROLS, { name: 'never-stored', data: denyWord('x') }],
      ['PATCH', `${CONTROLS}/${id}`, { name: 'renamed', enabled: false }],
      ['PUT', `${CONTROLS}/${id}/data`, { data: denyWord('other') }],
      ['DELETE', `${CONTROLS}/${id}`],
    ];
    for (const [method, path, body] of requests) {
      expect(await ask(method, path, body)).toMatchObject({
        status: 500,
        body: { error_code: 'DATABASE_ERROR' },
      });
    }
    await executeSql(url, 'ALTER TABLE "elsewhere" RENAME TO "control_versions"');
    expect((await ask('GET', `${CONTROLS}/${id}`)).body).toEqual(before);
    expect((await ask('GET', CONTROLS)).body.pagination.total).toBe(1);
  });

  it('name no key without authentication', async () => {
    const open = await testService({ DATABASE_URL: await freshDatabaseUrl() });
    const ask = restClient(open.url);
    const id = await seeder(ask).control('anonymous');
    const { versions } = (await ask('GET', `${CONTROLS}/${id}/versions`)).body;
    expect(versions).toMatchObject([{ version_num: 1, key_fingerprint: null }]);
  });
});

function agentCheck(name: string): object {
  return { selector: { path: 'input' }, evaluator: { name, config: {} } };
}
