import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { denyWord, seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const steer = (word: string, more: object = {}) =>
  denyWord(word, { action: { decision: 'steer', steering_context: { message: 'ask' } }, ...more });

describeAboveStores('a control that a deny hides', (freshDatabaseUrl) => {
  let service: TestService;
  let call: RestClient;
  let seed: ReturnType<typeof seeder>;
  const hints = ({ body }: { body: { warnings?: { code: string; message: string }[] } }) =>
    (body.warnings ?? []).filter(({ code }) => code === 'hidden_by_deny').map(({ message }) => message);

  beforeAll(async () => {
    service = await startService({ DATABASE_URL: await freshDatabaseUrl() });
    call = restClient(service.url);
    seed = seeder(call);
    await seed.agent('hidden-agent-1');
    await seed.agent('hidden-agent-2');
  });
  afterAll(async () => {
    await service.stop();
  });

  it('is told when it is linked, validated, saved and explained, until one agent lacks the deny', async () => {
    const deny = await seed.control('denies-all-of-it', denyWord('secret'));
    const other = await seed.control('asks-as-well', steer('secret'));
    await seed.link('hidden-agent-1', deny);
    const linked = await call('POST', `/api/v1/agents/hidden-agent-1/controls/${other}`);
    const message =
      'every step that this control matches is denied by the control "denies-all-of-it" ' +
      `(${deny}), which all agents that have this control have too: it has no effect; narrow the other one, or delete this one`;
    expect(hints(linked)).toEqual([`control "asks-as-well" (${other}): ${message}`]);

    const data = steer('secret');
    const validated = await call('POST', '/api/v1/controls/validate', { data, control_id: other });
    expect(hints(validated)).toEqual([message]);
    const withoutId = await call('POST', '/api/v1/controls/validate', { data });
    expect(hints(withoutId)).toEqual([]);
    expect(hints(await call('PUT', `/api/v1/controls/${other}/data`, { data }))).toEqual([message]);
    const strict = await call('PUT', `/api/v1/controls/${other}/data?strict=true`, { data });
    expect([strict.status, strict.body.errors[0].field]).toEqual([422, 'data.condition']);

    const explained = await call('POST', '/api/v1/evaluation/explain', {
      agent_name: 'hidden-agent-1',
      stage: 'pre',
      step: { type: 'llm', name: 'answer', input: 'a secret' },
    });
    const shown = explained.body.controls.find((one: { control_id: number }) => one.control_id === other);
    expect(shown.warnings.map(({ code }: { code: string }) => code)).toEqual(['hidden_by_deny']);

    await seed.link('hidden-agent-2', other);
    expect(hints(await call('POST', '/api/v1/controls/validate', { data, control_id: other }))).toEqual([]);
  });

  it('is not told of a control with another condition, or of one that is bound to a target', async () => {
    const deny = await seed.linked('hidden-agent-3', 'denies-three', denyWord('three'));
    const wide = await seed.control('wider-than-three', steer('thr'));
    const linked = await call('POST', `/api/v1/agents/hidden-agent-3/controls/${wide}`);
    expect(hints(linked)).toEqual([]);
    const same = await seed.control('same-as-three', steer('three'));
    await call('PUT', '/api/v1/control-bindings', { target_type: 'place', target_id: 'x', control_id: same });
    expect(hints(await call('POST', `/api/v1/agents/hidden-agent-3/controls/${same}`))).toEqual([]);
    expect(deny).toBeGreaterThan(0);
  });

  it('is told when it is added to a policy beside the deny', async () => {
    const policy = (await call('PUT', '/api/v1/policies', { name: 'both' })).body.policy_id as number;
    const deny = await seed.control('denies-in-policy', denyWord('four'));
    const twin = await seed.control('denies-in-policy-too', denyWord('four'));
    await call('POST', `/api/v1/agents/hidden-agent-2/policies/${policy}`);
    expect(hints(await call('POST', `/api/v1/policies/${policy}/controls/${deny}`))).toEqual([]);
    expect(hints(await call('POST', `/api/v1/policies/${policy}/controls/${twin}`))).toHaveLength(1);
  });

  it('has no effect on an unknown control', async () => {
    for (const control_id of [0, 999_999_999, 2_147_483_647]) {
      const reply = await call('POST', '/api/v1/controls/validate', { data: steer('x'), control_id });
      expect([control_id, reply.status, hints(reply)]).toEqual([control_id, 200, []]);
    }
  });
});
