import { expect, it } from 'vitest';
import { metric, parseMetrics } from '../support/prometheus.js';
import { describeService } from '../support/service-suite.js';
import { budget, control, formerly } from './memory/semantics.support.js';

const [FLOODING, SPENDING] = ['flooding-bot-01', 'spending-bot-01'];
/** The least that can be set; an agent begins a quarter. */
const ENVIRONMENT = { SERVICE_MEMORY_KEYS: '1000', SERVICE_MEMORY_TIMEOUT_SECONDS: '60' };
const SHARE = 250;

const define: Parameters<typeof describeService>[1] = ({ call, seed }) => {
  it('its own steps are denied with the reason, and what others have spent stays spent', async () => {
    for (const agent of [FLOODING, SPENDING]) await seed.agent(agent);
    const spending = await seed.control('spending', control(budget(10)));
    for (const agent of [FLOODING, SPENDING]) await seed.link(agent, spending);
    const step = (agent: string, session: string, name = 'act') => ({
      agent_name: agent,
      stage: 'pre',
      session_id: session,
      step: { type: 'tool', name, input: { amount: 10 } },
    });
    const send = async (agent: string, session: string, name?: string) =>
      (await call('POST', '/api/v1/evaluation', step(agent, session, name))).body;
    expect((await send(SPENDING, 'day')).is_safe).toBe(true);

    const safe: boolean[] = [];
    for (let at = 0; at < 300; at += 50) {
      const evaluations = Array.from({ length: 50 }, (_, index) => step(FLOODING, `s${at + index}`));
      const { body } = await call('POST', '/api/v1/evaluation/batch', { evaluations });
      safe.push(...body.results.map(({ verdict }: { verdict: { is_safe: boolean } }) => verdict.is_safe));
    }
    expect(safe.filter(Boolean)).toHaveLength(SHARE);
    const refused = await send(FLOODING, 'one more');
    expect(refused).toMatchObject({ is_safe: false, errors: [{ control_name: 'spending' }] });
    expect(refused.errors[0].result.error).toMatch(
      /^The memory of controls has no room for a new key: the agent/,
    );

    expect((await send(SPENDING, 'day')).is_safe).toBe(false);
    expect((await send(SPENDING, 'another')).is_safe).toBe(true);

    // What a control that denies has to know of a step is recorded, or the step is denied.
    await seed.link(FLOODING, await seed.control('after-a-secret', control(formerly('response'))));
    const unrecorded = await send(FLOODING, 'new', 'read');
    expect(unrecorded.errors.map(({ control_name: name }: { control_name: string }) => name)).toContain(
      'after-a-secret',
    );
    const problems = async () => (await call('GET', '/api/v1/problems')).body.problems;
    await expect.poll(problems).toContainEqual(expect.objectContaining({ kind: 'memory_full' }));
    const samples = parseMetrics((await call('GET', '/metrics')).body);
    expect(metric(samples, 'control_enforcement_server_memory_keys_refused_total')).toBeGreaterThan(0);
  });
};

describeService('one agent begins sessions without end', define, ENVIRONMENT);
