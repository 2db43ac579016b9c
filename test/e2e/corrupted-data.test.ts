import { describe, expect, it } from 'vitest';
import { problem } from '../support/refusals.js';
import { denyWord, evaluate } from '../support/seed.js';
import { describeService } from '../support/service-suite.js';
import { damageAgent, damageControl, executeSql } from '../support/sql.js';

const INIT = '/api/v1/agents/initAgent';
const CONTROLS = '/api/v1/controls';

/** Members that newer clients need. */
const NEWER = { attachments: null, cloned_from_control_id: null };

/** Ways in which a stored definition can be beyond use, and the field that a route names. */
const DAMAGE: [string, string, string | null][] = [
  ['no JSON', '{"condition":', null],
  ['nothing', '', null],
  ['a number', '5', 'ControlDefinition'],
  ['an empty object', '{}', 'condition'],
  ['an unknown decision', stored({ action: { decision: 'explode' } }), 'action.decision'],
  ['an invalid scope pattern', stored({ scope: { step_name_regex: '(' } }), 'scope.step_name_regex'],
  [
    'a configuration that the evaluator refuses',
    stored({
      condition: { and: [{ selector: {}, evaluator: { name: 'regex', config: { pattern: '(?=x)' } } }] },
    }),
    'condition.and[0].evaluator.pattern',
  ],
];

function stored(more: object): string {
  return JSON.stringify(denyWord('x', { enabled: true, ...more }));
}

describeService('damaged rows', ({ call, seed, service }) => {
  describe('a control', () => {
    let count = 0;
    const damaged = async (data: string, more: object = {}) => {
      count += 1;
      const agentName = `damaged-agent-${count}`;
      await seed.agent(agentName);
      const id = await seed.control(`damaged-${count}`, denyWord('x', more));
      await seed.link(agentName, id);
      await damageControl(service.databaseUrl, id, data);
      return { agentName, id, name: `damaged-${count}` };
    };

    it.each(DAMAGE)(
      'with %s is null when read, and the data route reports what is wrong',
      async (_what, data, field) => {
        const { id, name } = await damaged(data);
        expect((await call('GET', `${CONTROLS}/${id}`)).body).toEqual({
          id,
          name,
          data: null,
          action: null,
          ...NEWER,
        });
        const reply = await call('GET', `${CONTROLS}/${id}/data`);
        expect(reply).toMatchObject(problem(422, 'CORRUPTED_DATA'));
        const [item] = reply.body.errors;
        expect(item.resource).toBe('Control');
        expect(item.field ?? null).toBe(field);
        expect(reply.body.details).toEqual({ kind: 'Control', causes: reply.body.errors });
      },
    );

    it.each(DAMAGE)(
      'with %s spoils the list of its agent, whatever the filters',
      async (_what, data, field) => {
        const { agentName, id } = await damaged(data, { enabled: false });
        for (const query of ['', '?enabled_state=enabled', '?rendered_state=unrendered']) {
          const reply = await call('GET', `/api/v1/agents/${agentName}/controls${query}`);
          expect(reply).toMatchObject(
            problem(422, 'CORRUPTED_DATA', { details: { name: String(id), kind: 'Control' } }),
          );
          expect(reply.body.errors[0].field).toBe(field === null ? 'data' : `data.${field}`);
        }
      },
    );

    it.each(DAMAGE)('with %s is an error of the evaluation and fails closed', async (_what, data) => {
      const { agentName, id, name } = await damaged(data);
      const healthy = await seed.control(`${name}-healthy`, denyWord('bad'));
      await seed.link(agentName, healthy);
      const { status, body } = await evaluate(call, agentName, 'good');
      expect(status).toBe(200);
      expect(body).toMatchObject({ is_safe: false, confidence: 0, reason: expect.stringContaining(name) });
      expect(body.errors).toMatchObject([
        { control_id: id, control_name: name, action: 'deny', result: { matched: false, confidence: 0 } },
      ]);
      expect(body.errors[0].result.error).toBeTruthy();
      expect(body.non_matches).toMatchObject([{ control_id: healthy }]);
    });

    it('that can still be read not to deny leaves the step safe', async () => {
      const { agentName, id } = await damaged(
        stored({ action: { decision: 'observe' }, scope: { stages: ['sometime'] } }),
      );
      const { body } = await evaluate(call, agentName, 'good');
      expect(body).toMatchObject({
        is_safe: true,
        confidence: 0,
        errors: [{ control_id: id, action: 'observe' }],
      });
    });

    it('stays in lists, and counts as active', async () => {
      const { agentName, id, name } = await damaged('{"condition":');
      const { controls } = (await call('GET', `${CONTROLS}?name=${name}`)).body;
      expect(controls).toMatchObject([
        { id, enabled: true, execution: 'server', step_types: null, tags: [], used_by_agents_count: 1 },
      ]);
      const { agents } = (await call('GET', `/api/v1/agents?name=${agentName}`)).body;
      expect(agents).toMatchObject([{ agent_name: agentName, active_controls_count: 1 }]);
    });

    it('can be renamed, but neither enabled nor disabled, and a refused call stores nothing', async () => {
      const { id, name } = await damaged('{"condition":');
      const renamed = await call('PATCH', `${CONTROLS}/${id}`, { name: `${name}-renamed` });
      expect(renamed.body).toEqual({ success: true, name: `${name}-renamed`, enabled: null });
      for (const enabled of [true, false]) {
        const refused = await call('PATCH', `${CONTROLS}/${id}`, { name: 'never-stored', enabled });
        expect(refused).toMatchObject(problem(422, 'CORRUPTED_DATA'));
        expect(refused.body.errors).toMatchObject([
          { resource: 'Control', field: 'data', code: 'corrupted_data' },
        ]);
      }
      expect((await call('GET', `${CONTROLS}/${id}`)).body.name).toBe(`${name}-renamed`);
    });

    it('is mended by a new definition, and evaluated by it at once', async () => {
      const { agentName, id } = await damaged('{"condition":');
      expect((await evaluate(call, agentName, 'good')).body.is_safe).toBe(false);
      expect((await call('PUT', `${CONTROLS}/${id}/data`, { data: denyWord('bad') })).status).toBe(200);
      expect((await evaluate(call, agentName, 'good')).body).toMatchObject({ is_safe: true, errors: [] });
      expect((await evaluate(call, agentName, 'bad')).body.is_safe).toBe(false);
      expect((await call('GET', `/api/v1/agents/${agentName}/controls`)).status).toBe(200);
    });

    it('can be unlinked and deleted', async () => {
      const { agentName, id } = await damaged('{"condition":');
      expect((await call('DELETE', `/api/v1/agents/${agentName}/controls/${id}`)).status).toBe(200);
      expect((await call('DELETE', `${CONTROLS}/${id}`)).status).toBe(200);
      expect((await evaluate(call, agentName, 'good')).body.is_safe).toBe(true);
    });

    it.each(['strict', 'overwrite'])(
      'refuses the reply of a %s registration, which is kept',
      async (mode) => {
        const { agentName, id } = await damaged('{"condition":');
        const reply = await call('POST', INIT, {
          agent: { agent_name: agentName, agent_version: '2' },
          steps: [{ type: 'tool', name: 'kept' }],
          conflict_mode: mode,
        });
        expect(reply).toMatchObject(
          problem(422, 'CORRUPTED_DATA', { details: { name: String(id), kind: 'Control' } }),
        );
        expect((await call('GET', `/api/v1/agents/${agentName}`)).body).toMatchObject({
          agent: { agent_version: '2' },
          steps: [{ name: 'kept' }],
        });
      },
    );
  });

  describe('an agent', () => {
    it.each(['', 'no JSON', '{}', '{"agent":{"agent_name":"x"},"steps":[],"evaluators":[]}', '[]'])(
      'with %j can be listed and evaluated, but not read before it is registered by force',
      async (data) => {
        const agentName = 'unreadable-agent';
        await seed.agent(agentName, { steps: [{ type: 'tool', name: 'old' }] });
        await damageAgent(service.databaseUrl, agentName, data);
        const path = `/api/v1/agents/${agentName}`;
        const { agents } = (await call('GET', `/api/v1/agents?name=${agentName}`)).body;
        expect(agents).toMatchObject([{ agent_name: agentName, step_count: 0, evaluator_count: 0 }]);
        const read = await call('GET', path);
        expect(read).toMatchObject(problem(422, 'CORRUPTED_DATA'));
        expect(read.body).not.toHaveProperty('errors');
        expect((await call('GET', `${path}/controls`)).status).toBe(200);
        expect((await evaluate(call, agentName, 'x')).body.is_safe).toBe(true);
        const registration = { agent: { agent_name: agentName }, steps: [{ type: 'tool', name: 'new' }] };
        for (const mode of ['strict', 'overwrite']) {
          const refused = await call('POST', INIT, { ...registration, conflict_mode: mode });
          expect(refused).toMatchObject(problem(422, 'CORRUPTED_DATA'));
          expect(refused.body.errors).toMatchObject([
            { resource: 'Agent', field: 'data', code: 'corrupted_data' },
          ]);
        }
        const forced = await call('POST', INIT, { ...registration, force_replace: true });
        expect(forced).toMatchObject({ status: 200, body: { created: false } });
        expect((await call('GET', path)).body.steps).toMatchObject([{ name: 'new' }]);
        await executeSql(service.databaseUrl, `DELETE FROM "agents" WHERE "name" = '${agentName}'`);
      },
    );
  });
});
