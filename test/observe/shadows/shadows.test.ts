import { afterEach, expect, it } from 'vitest';
import { isInShare } from '../../../src/observe/shadows/shadow-share.js';
import { describeAboveStores } from '../../support/databases.js';
import { type RestClient, restClient } from '../../support/http.js';
import { problem } from '../../support/refusals.js';
import { denyWord, seeder } from '../../support/seed.js';
import { describeService, testService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'shadowed-bot-01';
const COUNTS = ['both_matched', 'neither_matched', 'only_live_matched', 'only_shadow_matched'];
const OTHERS = ['live_failed', 'shadow_failed', 'left_out'];

const pathOf = (id: number) => `/api/v1/controls/${id}/shadow`;

function sumOf(shadow: Record<string, number>): number {
  return [...COUNTS, ...OTHERS].reduce((sum, name) => sum + Number(shadow[name]), 0);
}

/** The shadow of a control once it has counted so many steps. */
async function settled(call: RestClient, id: number, steps: number) {
  const { shadow } = await until(
    async () => (await call('GET', pathOf(id))).body,
    (body) => sumOf(body.shadow) >= steps,
  );
  return shadow;
}

async function evaluate(call: RestClient, text: string, more: object = {}) {
  const { status, body } = await call('POST', '/api/v1/evaluation', {
    agent_name: AGENT,
    stage: 'pre',
    step: { type: 'tool', name: 'send', input: { text } },
    accepts: ['steer'],
    ...more,
  });
  expect([status, body.decision_id]).toEqual([200, expect.any(String)]);
  return body;
}

describeService('shadows', ({ call, seed }) => {
  let controlId = 0;
  let controls = 0;
  /** A control of the agent. */
  const fresh = async (data: object = denyWord('bad')) => {
    controls += 1;
    controlId = await seed.control(`live-${controls}`, data);
    if (controls === 1) await seed.agent(AGENT);
    await seed.link(AGENT, controlId);
  };
  const set = (data: object, more: object = {}) => call('PUT', pathOf(controlId), { data, ...more });
  const promote = (version: number) =>
    call('POST', `${pathOf(controlId)}/promote`, { shadow_version: version });
  afterEach(() => call('DELETE', `/api/v1/controls/${controlId}?force=true`));

  it('are compared with what they would replace, and decide nothing', async () => {
    await fresh();
    const action = { decision: 'steer', steering_context: { message: 'be kind' } };
    const { status, body } = await set(denyWord('bad|worse', { action }));
    expect([status, body]).toMatchObject([
      200,
      {
        warnings: [],
        shadow: {
          control_id: controlId,
          control_name: 'live-1',
          share: 1,
          share_by: 'agent',
          base_version: 1,
        },
      },
    ]);
    expect(await evaluate(call, 'bad')).toMatchObject({ is_safe: false, outcome: 'deny' });
    const allowed = await evaluate(call, 'worse');
    expect(allowed).toMatchObject({ is_safe: true, matches: [], selected_controls: 1 });
    await evaluate(call, 'fine');
    const difference = {
      decision_id: allowed.decision_id,
      agent_name: AGENT,
      step_type: 'tool',
      step_name: 'send',
      stage: 'pre',
      shadow_matched: true,
      message: 'be kind',
    };
    expect(await settled(call, controlId, 3)).toMatchObject({
      both_matched: 1,
      neither_matched: 1,
      only_live_matched: 0,
      only_shadow_matched: 1,
      live_failed: 0,
      shadow_failed: 0,
      left_out: 0,
      differences: [difference],
    });
    const { shadows } = (await call('GET', '/api/v1/shadows')).body;
    expect(shadows).toMatchObject([{ control_id: controlId, only_shadow_matched: 1 }]);
  });

  it('keep the latest differences without the content of steps, and begin anew when they are set again', async () => {
    await fresh();
    await set(denyWord('nothing'));
    const decided: string[] = [];
    for (let at = 0; at < 25; at += 1) decided.push((await evaluate(call, `bad secret ${at}`)).decision_id);
    const shadow = await settled(call, controlId, 25);
    expect(shadow.only_live_matched).toBe(25);
    const kept = shadow.differences.map(({ decision_id }: { decision_id: string }) => decision_id);
    expect(kept).toEqual(decided.reverse().slice(0, 20));
    expect(JSON.stringify(shadow.differences)).not.toContain('secret');
    const again = (await set(denyWord('nothing'))).body.shadow;
    expect(again.shadow_version).toBeGreaterThan(shadow.shadow_version);
    expect([sumOf(again), again.differences]).toEqual([0, []]);
  });

  it('have differences whose names of steps are masked', async () => {
    await fresh();
    await set(denyWord('nothing'));
    const step = { type: 'password=hunter2-is-safe', name: 'pay 4111111111111111', input: 'bad' };
    await evaluate(call, 'bad', { step });
    const { differences } = await settled(call, controlId, 1);
    expect(differences).toMatchObject([{ step_type: 'password=***', step_name: 'pay ***' }]);
  });

  it('count what cannot be evaluated', async () => {
    await fresh();
    await set(denyWord('bad', { condition: RATE }));
    await evaluate(call, 'fine');
    expect(await settled(call, controlId, 1)).toMatchObject({ shadow_failed: 1, live_failed: 0 });
  });

  it('are evaluated for the same share of agents and sessions each time', async () => {
    await fresh();
    await set(denyWord('nothing'), { share: 0.5, share_by: 'session' });
    const sessions = Array.from({ length: 40 }, (_, index) => `session-${index}`);
    for (const session_id of sessions) await evaluate(call, 'bad', { session_id });
    await evaluate(call, 'bad');
    const of = { controlId, share: 0.5, shareBy: 'session' } as const;
    const chosen = sessions.filter((session) => isInShare(of, AGENT, session)).length;
    expect(chosen).toBeGreaterThan(8);
    expect(chosen).toBeLessThan(32);
    expect((await settled(call, controlId, chosen)).only_live_matched).toBe(chosen);
    for (const session_id of sessions) await evaluate(call, 'bad', { session_id });
    expect((await settled(call, controlId, 2 * chosen)).only_live_matched).toBe(2 * chosen);
    // A shadow that is set again is evaluated for the same ones, and those of a smaller share are among them.
    await set(denyWord('nothing'), { share: 0.2, share_by: 'session' });
    const fewer = sessions.filter((session) => isInShare({ ...of, share: 0.2 }, AGENT, session));
    expect(fewer.every((session) => isInShare(of, AGENT, session))).toBe(true);
    for (const session_id of sessions) await evaluate(call, 'bad', { session_id });
    expect((await settled(call, controlId, fewer.length)).only_live_matched).toBe(fewer.length);
  });

  it('are evaluated for whole agents, of which a greater share has those of a smaller one', async () => {
    await fresh();
    const of = { controlId, shareBy: 'agent' } as const;
    const chosen = (share: number) => isInShare({ ...of, share }, AGENT, undefined);
    const shares = Array.from({ length: 10 }, (_, index) => (index + 1) / 10);
    const first = shares.findIndex(chosen);
    expect(shares.map(chosen)).toEqual(shares.map((_share, at) => at >= first));
    for (const share of [shares[first] ?? 1, (shares[first] ?? 1) - 0.1].filter((one) => one > 0.01)) {
      await set(denyWord('nothing'), { share });
      for (const session_id of ['a', 'b', 'c']) await evaluate(call, 'bad', { session_id });
      // What is counted for all shows that the others were looked at.
      const counted = chosen(share)
        ? await settled(call, controlId, 3)
        : (await call('GET', pathOf(controlId))).body.shadow;
      expect(counted.only_live_matched).toBe(chosen(share) ? 3 : 0);
    }
  });

  it('are promoted as they were seen, as a new version that can be restored', async () => {
    await fresh();
    const { shadow } = (await set(denyWord('worse'))).body;
    expect(await promote(shadow.shadow_version + 1)).toMatchObject(problem(409, 'SHADOW_CHANGED'));
    expect((await promote(shadow.shadow_version)).body).toEqual({ version: 2, warnings: [] });
    expect((await evaluate(call, 'worse')).is_safe).toBe(false);
    expect((await evaluate(call, 'bad')).is_safe).toBe(true);
    expect(await call('GET', pathOf(controlId))).toMatchObject(problem(404, 'SHADOW_NOT_FOUND'));
    const { versions } = (await call('GET', `/api/v1/controls/${controlId}/versions`)).body;
    expect(versions[0]).toMatchObject({
      note: `Shadow ${shadow.shadow_version} promoted`,
      changed_members: ['data.condition'],
    });
    const [entry] = (await call('GET', '/api/v1/audit?resource=control&limit=1')).body.entries;
    expect(entry).toMatchObject({ action: 'control.promote_shadow', resource_id: String(controlId) });
  });

  it('are promoted with the warnings that their definition has, and those of a changed control', async () => {
    await fresh();
    const owned = { kind: 'Control', name: `live-${controls}`, data: denyWord('bad') };
    const applied = { owner: 'team', documents: [owned], overwrite: [`Control/${owned.name}`] };
    expect((await call('POST', '/api/v1/configuration/apply', applied)).status).toBe(200);
    const { shadow, warnings } = (await set(denyWord('.*'))).body;
    expect(warnings).toMatchObject([{ field: 'data.condition' }]);
    const { body } = await promote(shadow.shadow_version);
    expect(body.warnings).toEqual([
      ...warnings,
      expect.objectContaining({ code: 'applied_by_configuration' }),
    ]);
  });

  it('are not promoted over a change of the control, and go with it', async () => {
    await fresh();
    const { shadow } = (await set(denyWord('worse'))).body;
    await call('PUT', `/api/v1/controls/${controlId}/data`, { data: denyWord('bad|good') });
    const refused = await promote(shadow.shadow_version);
    expect(refused).toMatchObject(problem(409, 'SHADOW_CHANGED'));
    expect(refused.body.detail).toContain('the control has version 2');
    expect((await evaluate(call, 'good')).is_safe).toBe(false);
    await call('DELETE', `/api/v1/controls/${controlId}?force=true`);
    expect(await call('GET', pathOf(controlId))).toMatchObject(problem(404, 'SHADOW_NOT_FOUND'));
    expect((await call('GET', '/api/v1/shadows')).body.shadows).toEqual([]);
  });

  it('are dropped, and reviewed as controls are', async () => {
    await fresh();
    await set(denyWord('worse'));
    expect((await call('DELETE', pathOf(controlId))).status).toBe(200);
    expect(await call('DELETE', pathOf(controlId))).toMatchObject(problem(404, 'SHADOW_NOT_FOUND'));
    const refused = await set({ ...denyWord('('), scope: { stages: ['never'] } });
    expect(refused.status).toBe(422);
    const fields = refused.body.errors.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(expect.arrayContaining(['data.condition.evaluator.pattern']));
    const typo = { ...denyWord('x'), tgas: ['a'] };
    expect((await set(typo)).body.warnings).toMatchObject([{ field: 'data.tgas' }]);
    expect((await call('PUT', `${pathOf(controlId)}?strict=true`, { data: typo })).status).toBe(422);
  });
});

/** A check with memory, which shadows are evaluated without. */
const RATE = {
  selector: { path: '*' },
  evaluator: { name: 'rate', config: { limit: 1, period: '1h', key: ['agent'] } },
};

describeAboveStores('the shadow of one process', (freshDatabaseUrl) => {
  it('is counted by all of them, and after a restart', async () => {
    const DATABASE_URL = await freshDatabaseUrl();
    const [first, second] = [await testService({ DATABASE_URL }), await testService({ DATABASE_URL })];
    const [one, two] = [restClient(first.url), restClient(second.url)];
    const id = await seeder(one).linked(AGENT, 'live', denyWord('bad'));
    const set = await one('PUT', pathOf(id), { data: denyWord('worse') });
    const min_revision = Number(set.headers.get('x-service-revision'));
    // Of the second, the steps from when it has learned of the shadow.
    await until(
      async () => {
        await evaluate(two, 'worse', { min_revision });
        return (await two('GET', pathOf(id))).body.shadow;
      },
      ({ only_shadow_matched }) => only_shadow_matched > 0,
    );
    for (let at = 0; at < 5; at += 1) await evaluate(one, 'bad');
    await until(
      async () => (await two('GET', pathOf(id))).body.shadow,
      ({ only_live_matched }) => only_live_matched === 5,
    );
    // What is not written yet is written when a process ends.
    await evaluate(one, 'bad');
    await first.stop();
    const third = restClient((await testService({ DATABASE_URL })).url);
    await evaluate(third, 'bad');
    const { shadow } = await until(
      async () => (await third('GET', pathOf(id))).body,
      ({ shadow: { only_live_matched, left_out } }) => only_live_matched + left_out >= 7,
    );
    expect(shadow.only_live_matched + shadow.left_out).toBe(7);
  });
});
