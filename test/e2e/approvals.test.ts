import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAboveStores } from '../support/databases.js';
import { type RestClient, restClient } from '../support/http.js';
import { createKeysFile, type TestKeysFile } from '../support/keys-file.js';
import { methodNamed, PROTOCOL_NAMES, PROTOCOLS, STREAMING_PROTOCOLS } from '../support/protocol-clients.js';
import { seeder } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

const KEYS = [
  { name: 'boss', key: 'admin-key', role: 'admin' },
  { name: 'bot', key: 'agent-key', role: 'agent' },
  { name: 'ann', key: 'ann-key', role: 'approver' },
  { name: 'bob', key: 'bob-key', role: 'approver' },
];
const AGENT = 'paying-bot-01';
const ALL = ['steer', 'ask', 'modify'];

/** A control that asks about steps with this name. */
function asking(stepName: string, approval: object = {}): object {
  return {
    execution: 'server',
    scope: { step_names: [stepName], stages: ['pre'] },
    condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
    action: {
      decision: 'deny',
      approval: { approvers: ['role:approver'], question: 'Pay {input.amount}?', ...approval },
    },
  };
}

/** A control that changes texts. */
function redacting(more: object, stages: readonly string[] = ['pre']): object {
  return {
    execution: 'server',
    scope: { stages },
    condition: {
      selector: { path: stages[0] === 'pre' ? 'input' : 'output' },
      evaluator: { name: 'regex', config: { pattern: 'sk-[a-z]+' } },
    },
    action: { decision: 'deny', modify: [more] },
  };
}

describeAboveStores('a step that a person decides about', (freshDatabaseUrl) => {
  let keys: TestKeysFile;
  let service: TestService;
  let admin: RestClient;
  let ann: RestClient;
  let bob: RestClient;
  let bot: RestClient;
  const as = (key: string): RestClient => restClient(service.url, { 'x-api-key': key });
  beforeAll(async () => {
    keys = createKeysFile(KEYS);
    service = await startService({ ...keys.environment, DATABASE_URL: await freshDatabaseUrl() });
    admin = as('admin-key');
    ann = as('ann-key');
    bob = as('bob-key');
    bot = as('agent-key');
    const seed = seeder(admin);
    await seed.linked(AGENT, 'payments', asking('pay'));
    await seed.link(AGENT, await seed.control('two-people', asking('wire', { quorum: 2 })));
    await seed.link(
      AGENT,
      await seed.control('secrets', redacting({ path: 'input', replace: 'matches', with: '[x]' })),
    );
    await seed.link(
      AGENT,
      await seed.control(
        'secret-outputs',
        redacting({ path: 'output', replace: 'matches', with: '[y]' }, ['post']),
      ),
    );
  });
  afterAll(async () => {
    await service.stop();
    keys.remove();
  });

  let amount = 0;
  /** An evaluation of a step that was not seen before. */
  function request(name = 'pay', more: object = {}, input: object = {}) {
    amount += 1;
    const step = { type: 'tool', name, input: { amount, ...input } };
    return { agent_name: AGENT, stage: 'pre', step, accepts: ALL, ...more };
  }
  const evaluated = async (sent: object) => (await bot('POST', '/api/v1/evaluation', sent)).body;
  const decided = (who: RestClient, id: number, decision: string, more: object = {}) =>
    who('POST', `/api/v1/approvals/${id}/decide`, { decision, ...more });

  it.each(PROTOCOL_NAMES)('waits, is approved, passes once, and asks again, over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const sent = request();
    const evaluate = async () => {
      const outcome = await client.call(methodNamed('EvaluationService.Evaluate'), sent, 'agent-key');
      expect(outcome).toMatchObject({ ok: true });
      return (outcome as unknown as { reply: unknown }).reply as Record<string, unknown> & {
        approval: { id: number };
      };
    };
    const first = await evaluate();
    expect(first).toMatchObject({
      is_safe: false,
      outcome: 'ask',
      approval: { state: 'pending', step_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(first.reason).toContain(`approval ${first.approval.id}`);
    expect((await evaluate()).approval.id).toBe(first.approval.id);
    expect((await decided(ann, first.approval.id, 'approve')).status).toBe(200);
    expect(await evaluate()).toMatchObject({
      is_safe: true,
      outcome: 'allow',
      approval: { id: first.approval.id, state: 'used' },
    });
    const again = await evaluate();
    expect(again).toMatchObject({ is_safe: false, outcome: 'ask', approval: { state: 'pending' } });
    expect(again.approval.id).not.toBe(first.approval.id);
    client.close();
  });

  it('is denied for callers that do not accept to be asked, whose reason names the approval', async () => {
    const { accepts: _accepts, ...sent } = request();
    const denied = await evaluated(sent);
    expect(denied).toMatchObject({ is_safe: false });
    expect(denied).not.toHaveProperty('approval');
    const id = Number(/approval (\d+)/.exec(denied.reason)?.[1]);
    expect((await decided(ann, id, 'approve')).status).toBe(200);
    // To deployed clients, a match of a deny control means that the step must not proceed.
    expect(await evaluated(sent)).toMatchObject({ is_safe: true, matches: [] });
  });

  it('stays denied once it was denied, with the comment', async () => {
    const sent = request();
    const { approval } = await evaluated(sent);
    expect((await decided(ann, approval.id, 'deny', { comment: 'too much' })).status).toBe(200);
    const denied = await evaluated(sent);
    expect(denied).toMatchObject({ outcome: 'deny', approval: { id: approval.id, state: 'denied' } });
    expect(denied.reason).toContain('too much');
  });

  it('needs two people if the control says so', async () => {
    const sent = request('wire');
    const { approval } = await evaluated(sent);
    await decided(ann, approval.id, 'approve');
    await decided(ann, approval.id, 'approve');
    expect(await evaluated(sent)).toMatchObject({ outcome: 'ask', approval: { id: approval.id } });
    await decided(bob, approval.id, 'approve');
    expect(await evaluated(sent)).toMatchObject({ outcome: 'allow', approval: { id: approval.id } });
  });

  it('is the same call with the same step id, and only then', async () => {
    const sent = request('pay', { step_id: 'call-1' });
    const { approval } = await evaluated(sent);
    await decided(ann, approval.id, 'approve');
    expect(await evaluated(sent)).toMatchObject({ outcome: 'allow' });
    expect(await evaluated(sent)).toMatchObject({ outcome: 'allow', approval: { id: approval.id } });
    expect(await evaluated({ ...sent, step_id: 'call-2' })).toMatchObject({ outcome: 'ask' });
  });

  it('passes once in racing evaluations', async () => {
    const sent = request();
    const { approval } = await evaluated(sent);
    await decided(ann, approval.id, 'approve');
    const all = await Promise.all(Array.from({ length: 12 }, () => evaluated(sent)));
    expect(all.filter(({ is_safe }) => is_safe)).toHaveLength(1);
  });

  it('is not asked about if another control denies it', async () => {
    const seed = seeder(admin);
    const id = await seed.control('never', {
      execution: 'server',
      scope: { step_names: ['pay'] },
      condition: {
        selector: { path: 'input.to' },
        evaluator: { name: 'regex', config: { pattern: 'mallory' } },
      },
      action: { decision: 'deny' },
    });
    await seed.link(AGENT, id);
    const denied = await evaluated(request('pay', {}, { to: 'mallory' }));
    expect(denied).toMatchObject({ outcome: 'deny' });
    expect(denied).not.toHaveProperty('approval');
  });

  it('runs as an approver has changed it', async () => {
    const sent = request();
    const { approval } = await evaluated(sent);
    const narrowed_input_json = '{"amount":1}';
    expect((await decided(ann, approval.id, 'approve', { narrowed_input_json })).status).toBe(200);
    const modified = await evaluated(sent);
    expect(modified).toMatchObject({ is_safe: false, outcome: 'modify', approval: { id: approval.id } });
    expect(JSON.parse(modified.modification.step_json)).toMatchObject({ input: { amount: 1 } });
  });

  it('is changed by a control, without a person', async () => {
    const sent = request('mail', {}, { text: 'key sk-abc and sk-def', size: 1 });
    const { modification, ...modified } = await evaluated(sent);
    expect(modified).toMatchObject({ is_safe: false, outcome: 'modify' });
    expect(modification.patch).toEqual([{ op: 'replace', path: '/input/text', value: 'key [x] and [x]' }]);
    expect(JSON.parse(modification.step_json)).toEqual({
      ...sent.step,
      input: { ...sent.step.input, text: 'key [x] and [x]' },
      output: null,
      context: null,
    });
    const denied = await evaluated({ ...sent, accepts: ['steer'] });
    expect(denied).toMatchObject({ outcome: 'deny' });
    expect(denied.reason).toContain('accepts does not include modify');
    const after = { ...sent, stage: 'post', step: { ...sent.step, output: ['a', 'sk-out'] } };
    expect((await evaluated(after)).modification.patch).toEqual([
      { op: 'replace', path: '/output/1', value: '[y]' },
    ]);
  });

  it('is asked about as it is changed', async () => {
    const sent = request('pay', {}, { note: 'sk-abc' });
    const { approval } = await evaluated(sent);
    const shown = (await ann('GET', `/api/v1/approvals/${approval.id}`)).body;
    expect(shown.step_json).toContain('[x]');
    expect(shown.step_json).not.toContain('sk-abc');
    await decided(ann, approval.id, 'approve');
    const modified = await evaluated(sent);
    expect(modified).toMatchObject({ outcome: 'modify', approval: { state: 'used' } });
  });

  it('counts for a limit once it runs, and is not asked about beyond the limit', async () => {
    const limited = 'limited-payer-01';
    const seed = seeder(admin);
    await seed.linked(limited, 'limited-payments', asking('pay'));
    const rate = { limit: 1, period: '24h', key: ['agent'] };
    const limit = {
      execution: 'server',
      scope: { stages: ['pre'] },
      condition: { selector: { path: '*' }, evaluator: { name: 'rate', config: rate } },
      action: { decision: 'deny' },
    };
    await seed.link(limited, await seed.control('one-a-day', limit));
    const sent = request('pay', { agent_name: limited });
    const first = await evaluated(sent);
    expect(first).toMatchObject({ outcome: 'ask' });
    expect(await evaluated(sent)).toMatchObject({ outcome: 'ask', approval: { id: first.approval.id } });
    await decided(ann, first.approval.id, 'approve');
    expect(await evaluated(sent)).toMatchObject({ outcome: 'allow', limits: [{ remaining: 0 }] });
    const beyond = await evaluated(request('pay', { agent_name: limited }));
    expect(beyond).toMatchObject({ outcome: 'deny' });
    expect(beyond).not.toHaveProperty('approval');
  });

  it('charges limits for the step that runs alone, in a batch and in parallel calls', async () => {
    const limited = 'charged-payer-01';
    const seed = seeder(admin);
    await seed.linked(limited, 'charged-payments', asking('pay'));
    const limits = {
      budget: { limit: 10, amount: 1, window: { rolling: '1h' }, key: ['agent'] },
      rate: { limit: 10, period: '24h', key: ['agent'] },
      concurrency: { limit: 10, lease: '1h', key: ['agent'] },
    };
    for (const [name, config] of Object.entries(limits)) {
      const control = {
        execution: 'server',
        scope: { stages: ['pre', 'post'] },
        condition: { selector: { path: '*' }, evaluator: { name, config } },
        action: { decision: 'deny' },
      };
      await seed.link(limited, await seed.control(`charged-${name}`, control));
    }
    const five = (sent: object) =>
      Array.from({ length: 5 }, (_, index) => ({
        ...sent,
        session_id: 's',
        step_id: `${JSON.stringify(sent)}-${index}`,
      }));
    const waiting = async () => {
      const sent = request('pay', { agent_name: limited });
      const { approval } = await evaluated({
        ...sent,
        session_id: 's',
        step_id: `first of ${JSON.stringify(sent)}`,
      });
      await decided(ann, approval.id, 'approve');
      return sent;
    };
    let looks = 0;
    const remaining = async () => {
      looks += 1;
      const { limits: known } = await evaluated(
        request('other', { agent_name: limited, session_id: 's', step_id: `look ${looks}` }),
      );
      return known.map((limit: { remaining: number }) => limit.remaining);
    };
    const evaluations = five(await waiting());
    const { body } = await bot('POST', '/api/v1/evaluation/batch', { evaluations });
    const outcomes = body.results
      .map(({ verdict }: { verdict: { outcome: string } }) => verdict.outcome)
      .sort();
    expect(outcomes).toEqual(['allow', 'ask', 'ask', 'ask', 'ask']);
    expect(await remaining()).toEqual([8, 8, 8]);
    const parallel = await Promise.all(five(await waiting()).map(evaluated));
    expect(parallel.map(({ outcome }) => outcome).sort()).toEqual(outcomes);
    expect(await remaining()).toEqual([6, 6, 6]);
  });

  it.each(['ask', 'modify'])('is large, with the outcome %s', async (outcome) => {
    const text = 'x'.repeat(400_000);
    const sent =
      outcome === 'ask' ? request('pay', {}, { text }) : request('mail', {}, { text, more: 'sk-abc' });
    expect(await evaluated(sent)).toMatchObject({ outcome });
  });

  it.each(STREAMING_PROTOCOLS)('waits in batches and streams over %s', async (protocol) => {
    const client = PROTOCOLS[protocol](service.url);
    const evaluations = [request(), request('mail', {}, { text: 'sk-abc' })];
    const expected = [
      { verdict: { outcome: 'ask', approval: { state: 'pending' } } },
      { verdict: { outcome: 'modify', modification: { patch: [{ op: 'replace', path: '/input/text' }] } } },
    ];
    const batch = await client.call(
      methodNamed('EvaluationService.EvaluateBatch'),
      { evaluations },
      'agent-key',
    );
    expect(batch).toMatchObject({ ok: true, reply: { results: expected } });
    const messages = [{ id: 'one', evaluations }];
    const replies = await client.stream(
      methodNamed('EvaluationService.EvaluateStream'),
      messages,
      'agent-key',
    );
    expect(replies).toMatchObject([{ results: expected }]);
    client.close();
  });
});
