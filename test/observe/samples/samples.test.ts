import { expect, it } from 'vitest';
import { denyWord } from '../../support/seed.js';
import { describeService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';

const AGENT = 'sampled-bot-01';
const RULES = '/api/v1/sampling-rules';

describeService('samples of steps', ({ call, seed, service }) => {
  const evaluate = async (step: object, more: object = {}) => {
    const request = { agent_name: AGENT, stage: 'pre', step, accepts: ['steer'], ...more };
    const { status, body } = await call('POST', '/api/v1/evaluation', request);
    expect(status).toBe(200);
    return body as { decision_id: string; outcome: string };
  };
  const text = (word: string, more: object = {}) => ({
    type: 'tool',
    name: 'send',
    input: { text: word, ...more },
  });
  const rule = async (more: object) => {
    const { status, body } = await call('POST', RULES, { share: 1, ...more });
    expect([status, body]).toMatchObject([200, {}]);
    return body.rule.rule_id as number;
  };
  const remove = (id: number, samples = true) => call('DELETE', `${RULES}/${id}?delete_samples=${samples}`);
  const kept = async (count: number) => {
    const { body } = await until(
      () => call('GET', '/api/v1/samples'),
      (reply) => reply.body.pagination.total >= count,
    );
    return body.samples as Record<string, unknown>[];
  };
  const sample = async (decisionId: string) => {
    const reply = await until(
      () => call('GET', `/api/v1/samples/${decisionId}`),
      ({ status }) => status === 200,
    );
    return { ...reply.body, step: JSON.parse(reply.body.step_json) };
  };
  const metric = async (name: string) => {
    const page = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^\\w+_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page)?.[1] ?? 0);
  };

  it('are kept by a rule only, beside their decision', async () => {
    await seed.agent(AGENT);
    const id = await seed.control('no-bad', denyWord('bad'));
    await seed.link(AGENT, id);
    await evaluate(text('bad'));
    const ruleId = await rule({ agent_name: AGENT, masked_paths: ['input.note'], retention_hours: 2 });
    const { body: listed } = await call('GET', RULES);
    expect(listed).toMatchObject({
      encrypted: false,
      rules: [
        {
          rule_id: ruleId,
          agent_name: AGENT,
          share: 1,
          max_bytes: 16_384,
          retention_hours: 2,
          sample_count: 0,
          dropped_samples: 0,
        },
      ],
    });
    const options = { session_id: 'chat 7', target_type: 'repo', target_id: 'a/b' };
    const denied = await evaluate(text('bad', { note: { of: 'ann' }, at: 1.5 }), options);
    const passed = await evaluate(text('fine'));
    const samples = await kept(2);
    expect(samples.map(({ decision_id }) => decision_id).sort()).toEqual(
      [denied.decision_id, passed.decision_id].sort(),
    );
    expect(await sample(denied.decision_id)).toMatchObject({
      sample: {
        decision_id: denied.decision_id,
        rule_id: ruleId,
        agent_name: AGENT,
        step_type: 'tool',
        step_name: 'send',
        stage: 'pre',
        outcome: 'deny',
        masked_values: 1,
      },
      step: { ...text('bad', { note: '***', at: 1.5 }), output: null, context: null },
      session_id: 'chat 7',
      target: 'repo/a/b',
    });
    const { sample: of } = await sample(passed.decision_id);
    expect(Date.parse(of.expires_at) - Date.parse(of.taken_at)).toBe(2 * 3_600_000);
    expect((await call('GET', RULES)).body.rules).toMatchObject([{ sample_count: 2 }]);
    expect(await metric('samples_stored')).toBe(2);
    const removed = await remove(ruleId);
    expect(removed.body).toEqual({ deleted_samples: 2 });
    expect((await call('GET', `/api/v1/samples/${passed.decision_id}`)).status).toBe(404);
    await evaluate(text('bad'));
    expect(await kept(0)).toEqual([]);
  });

  it('have masked names of steps and sessions', async () => {
    const id = await rule({});
    const card = '4111111111111111';
    const step = { ...text('fine'), type: `password=${card}`, name: `pay ${card}` };
    const { decision_id: decisionId } = await evaluate(step, { session_id: `chat ${card}` });
    expect(await sample(decisionId)).toMatchObject({
      sample: { step_type: 'password=***', step_name: 'pay ***', masked_values: 3 },
      step: { type: 'password=***', name: 'pay ***' },
      session_id: 'chat ***',
    });
    await remove(id);
  });

  it('are those of the agent or control of the rule, and of its share', async () => {
    const other = await seed.control('no-worse', denyWord('worse', { scope: { step_names: ['other'] } }));
    await seed.link(AGENT, other);
    const ofControl = await rule({ control_id: other });
    await evaluate(text('not asked'));
    const asked = await evaluate({ ...text('worse'), name: 'other' });
    expect(await kept(1)).toMatchObject([{ decision_id: asked.decision_id, rule_id: ofControl }]);
    await remove(ofControl);
    const half = await rule({ share: 0.5 });
    for (let at = 0; at < 60; at += 1) await evaluate(text(`fine ${at}`));
    const some = (await kept(10)).length;
    expect(some).toBeLessThan(60);
    await remove(half);
  });

  it('are bounded in size after masking', async () => {
    const lost = await metric('samples_dropped_total');
    const id = await rule({ max_bytes: 300, masked_paths: ['input.file'] });
    await evaluate(text('x'.repeat(400)));
    const cut = await evaluate(text('small', { file: 'x '.repeat(20_000) }));
    expect(await sample(cut.decision_id)).toMatchObject({ step: text('small', { file: '***' }) });
    expect(await kept(1)).toHaveLength(1);
    expect(await metric('samples_dropped_total')).toBe(lost + 1);
    await until(
      () => call('GET', RULES),
      ({ body }) => body.rules[0].dropped_samples === 1,
    );
    await remove(id);
  });

  it('are kept of large messages, which another thread reads', async () => {
    const id = await rule({ max_bytes: 262_144 });
    const long = 'word '.repeat(30_000);
    const warm = await evaluate(text(long));
    await sample(warm.decision_id);
    const large = await evaluate(text(long, { bad: true }));
    expect((await sample(large.decision_id)).step.input).toEqual({ text: long, bad: true });
    await remove(id);
  });
});
