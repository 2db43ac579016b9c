import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalNotice } from '../../../src/decide/decisions/approval-gate.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { AGENT, type ApprovalProcess, aStepOf, BOT, type Clock, changes, openProcess } from './support.js';

const ONE = [[1, {}]] as const;
const SECOND = 'second-agent-01';
const THIRD = 'third-agent-001';
const FOURTH = 'fourth-agent-01';
const FIFTH = 'fifth-agent-001';

type Change = (database: ApprovalProcess['database'], control: number) => Promise<unknown>;

describeOnEachDatabase('the gate of approvals', (freshDatabaseUrl) => {
  const clock: Clock = { ms: 1_000_000 };
  let one: ApprovalProcess;
  let other: ApprovalProcess;
  beforeAll(async () => {
    const url = await freshDatabaseUrl();
    one = await openProcess(url, clock);
    other = await openProcess(url, clock);
    await changes.agent(one.database);
    for (const id of [1, 2, 3, 4]) await changes.control(one.database, id);
  });
  afterAll(async () => {
    await one.close();
    await other.close();
  });

  let amount = 0;
  const newStep = () => {
    amount += 1;
    return aStepOf(amount);
  };
  const idOf = (answer: ApprovalAnswer): number => {
    expect(answer).toMatchObject({ kind: 'waits' });
    return answer.notice?.id ?? 0;
  };
  const used = async (answer: ApprovalAnswer) => {
    if (answer.kind !== 'approved') throw new Error(`not approved: ${JSON.stringify(answer)}`);
    const result = await answer.use();
    return 'kind' in result ? result : result.notice;
  };
  const isNotice = (result: object): result is ApprovalNotice => !('kind' in result);

  it('asks once, joins from another process, passes once, and asks again', async () => {
    const step = newStep();
    const id = idOf(await one.ask(step, ONE));
    expect(idOf(await other.ask(step, ONE))).toBe(id);
    expect((await one.decide(id, 'ann')).approval).toMatchObject({
      state: 'approved',
      votes: [{ by: 'ann' }],
    });
    expect(await used(await other.ask(step, ONE))).toMatchObject({ id, state: 'used' });
    expect(idOf(await one.ask(step, ONE))).not.toBe(id);
  });

  it('lets exactly one of racing evaluations in two processes pass', async () => {
    for (let round = 0; round < 5; round += 1) {
      const step = newStep();
      const id = idOf(await one.ask(step, ONE));
      await one.decide(id, 'ann');
      const answers = await Promise.all([one, other, one, other].map((process) => process.ask(step, ONE)));
      const results = await Promise.all(answers.map(used));
      expect(results.filter(isNotice)).toHaveLength(1);
      const again = results.filter((result) => !isNotice(result));
      expect(again).toMatchObject([{ kind: 'waits' }, { kind: 'waits' }, { kind: 'waits' }]);
    }
  });

  it('can be used again once it is given back, unless another one answers for the step meanwhile', async () => {
    const step = newStep();
    const use = async () => {
      const answer = await one.ask(step, ONE);
      const result = answer.kind === 'approved' ? await answer.use() : answer;
      if ('kind' in result) throw new Error(`not used: ${JSON.stringify(result)}`);
      return result;
    };
    const id = idOf(await one.ask(step, ONE));
    await one.decide(id, 'ann');
    await (await use()).giveBack();
    const again = await use();
    expect(again.notice).toMatchObject({ id, state: 'used' });
    const next = idOf(await other.ask(step, ONE));
    expect(next).not.toBe(id);
    await again.giveBack();
    expect(idOf(await other.ask(step, ONE))).toBe(next);
  });

  it('is asked once by racing evaluations in two processes', async () => {
    const step = newStep();
    const answers = await Promise.all([one, other, one, other].map((process) => process.ask(step, ONE)));
    expect(new Set(answers.map(idOf)).size).toBe(1);
  });

  it('takes a repeated call for the same call', async () => {
    const step = newStep();
    const call = { sessionId: 'session', stepId: 'call-1' };
    await one.decide(idOf(await one.ask(step, ONE, call)), 'ann');
    expect(await used(await one.ask(step, ONE, call))).toMatchObject({ state: 'used' });
    expect(await used(await other.ask(step, ONE, call))).toMatchObject({ state: 'used' });
    expect(await one.ask(step, ONE, { ...call, stepId: 'call-2' })).toMatchObject({ kind: 'waits' });
    expect(await used(await other.ask(step, ONE, call))).toMatchObject({ state: 'used' });
  });

  it('keeps a denial, with its comment, until it expires', async () => {
    const step = newStep();
    const id = idOf(await one.ask(step, ONE));
    await one.decide(id, 'ann', 'deny', { comment: 'too much' });
    expect(await one.ask(step, ONE)).toMatchObject({
      kind: 'refused',
      reason: `approval ${id} was denied: too much`,
    });
    clock.ms += 3_600_000;
    expect(idOf(await one.ask(step, ONE))).not.toBe(id);
  });

  it('expires by the clock, waiting or approved', async () => {
    for (const isApproved of [false, true]) {
      const step = newStep();
      const id = idOf(await one.ask(step, ONE));
      if (isApproved) await one.decide(id, 'ann');
      const answer = await one.ask(step, ONE);
      clock.ms += 3_600_000;
      expect((await one.get(id)).approval).toMatchObject({ state: 'expired' });
      if (isApproved) expect(await used(answer)).toMatchObject({ kind: 'waits' });
      else await expect(one.decide(id, 'ann')).rejects.toMatchObject({ code: 'APPROVAL_CONFLICT' });
      expect(idOf(await one.ask(step, ONE))).not.toBe(id);
    }
  });

  it('needs the quorum of every control, and one who neither asked nor wrote it', async () => {
    const step = newStep();
    const rules = [
      [1, { quorum: 2 }],
      [2, {}],
    ] as const;
    const id = idOf(await one.ask(step, rules));
    expect((await one.decide(id, 'author')).approval).toMatchObject({ state: 'pending' });
    expect((await one.decide(id, 'author')).approval.votes).toHaveLength(1);
    await expect(one.decide(id, 'author', 'deny')).rejects.toMatchObject({ code: 'APPROVAL_CONFLICT' });
    expect((await one.decide(id, 'bot')).approval).toMatchObject({
      state: 'pending',
      controls: [{ approved: 2 }, {}],
    });
    expect((await other.decide(id, 'ann')).approval).toMatchObject({ state: 'approved' });
  });

  it('refuses those who are no approvers', async () => {
    const id = idOf(await one.ask(newStep(), ONE));
    const input = { approval_id: id, decision: 'approve' };
    await expect(one.call('decideApproval', input, BOT)).rejects.toMatchObject({
      code: 'AUTH_INSUFFICIENT_PRIVILEGES',
    });
    const mine = { agent_name: AGENT, approval_id: id };
    await expect(
      one.call('cancelApproval', { ...mine, agent_name: 'another-bot-01' }, BOT),
    ).rejects.toMatchObject({
      code: 'APPROVAL_NOT_FOUND',
    });
    expect((await one.call('cancelApproval', mine, BOT)).approval).toMatchObject({ state: 'cancelled' });
    await expect(one.decide(id, 'ann')).rejects.toMatchObject({ code: 'APPROVAL_CONFLICT' });
  });

  it('may be used in its session, or for a time', async () => {
    const session = [[1, { reuse: 'session' as const }]] as const;
    expect(await one.ask(newStep(), session)).toMatchObject({ kind: 'refused', notice: null });
    const step = newStep();
    await one.decide(idOf(await one.ask(step, session, { sessionId: 'a' })), 'ann');
    for (let call = 0; call < 3; call += 1) {
      expect(await used(await one.ask(step, session, { sessionId: 'a' }))).toMatchObject({
        state: 'approved',
      });
    }
    expect(await one.ask(step, session, { sessionId: 'b' })).toMatchObject({ kind: 'waits' });
    const timed = [[1, { reuse: { seconds: 60 } }]] as const;
    const id = idOf(await one.ask(step, timed));
    await one.decide(id, 'ann');
    await used(await one.ask(step, timed));
    clock.ms += 59_000;
    expect(await used(await one.ask(step, timed))).toMatchObject({ id, state: 'approved' });
    clock.ms += 1_000;
    expect(idOf(await one.ask(step, timed))).not.toBe(id);
  });

  it.each([
    ['a new version', 2, changes.newVersion, /was changed/],
    ['a removed link', 3, changes.unlink, /no longer a control/],
    ['a halt', 4, (database) => changes.halt(database, 'pay'), /halt/],
  ] as readonly [
    string,
    number,
    (database: ApprovalProcess['database'], id: number) => Promise<unknown>,
    RegExp,
  ][])('is void after %s', async (_name, control, change, reason) => {
    const rules = [[control, {}]] as const;
    const [waiting, approved] = [newStep(), newStep()];
    const ids = [idOf(await one.ask(waiting, rules)), idOf(await one.ask(approved, rules))];
    await one.decide(ids[1] ?? 0, 'ann');
    const answer = await other.ask(approved, rules);
    await change(one.database, control);
    for (const id of ids) {
      const { approval } = await other.get(id);
      expect(approval).toMatchObject({ state: 'cancelled', end_reason: expect.stringMatching(reason) });
    }
    expect(await used(answer)).not.toHaveProperty('id');
    await changes.lift(one.database);
  });

  it.each([
    ['a link that comes back', 1, changes.unlink, (database) => changes.link(database, 1)],
    ['a halt that is lifted', 4, (database) => changes.halt(database, 'pay'), changes.lift],
  ] as readonly (readonly [string, number, Change, Change])[])(
    'stays void after %s',
    async (_name, control, change, back) => {
      const rules = [[control, {}]] as const;
      const step = newStep();
      const id = idOf(await one.ask(step, rules));
      await one.decide(id, 'ann');
      const answer = await other.ask(step, rules);
      await change(one.database, control);
      expect(await other.ask(step, rules)).toMatchObject({ kind: 'refused', notice: null });
      await back(one.database, control);
      expect((await other.get(id)).approval).toMatchObject({ state: 'cancelled', uses: 0 });
      const next = idOf(await one.ask(step, rules));
      expect(next).not.toBe(id);
      expect(await used(answer)).toMatchObject({ kind: 'waits', notice: { id: next } });
    },
  );

  it('stays expired when what it is bound to changes afterwards', async () => {
    const rules = [[1, {}]] as const;
    const id = idOf(await one.ask(newStep(), rules));
    clock.ms += 3_600_000;
    await changes.newVersion(one.database, 1);
    expect((await one.get(id)).approval).toMatchObject({ state: 'expired', end_reason: 'its time is over' });
  });

  it('runs the narrowed step only', async () => {
    const step = aStepOf(1_000, { password: 'hunter22', note: 'all' });
    const id = idOf(await one.ask(step, ONE));
    const shown = JSON.parse((await one.get(id)).step_json);
    expect(shown.input).toEqual({ amount: 1_000, password: '***', note: 'all' });
    const sent = { narrowed_input_json: JSON.stringify({ ...shown.input, amount: 10 }) };
    await expect(
      one.decide(id, 'ann', 'approve', { narrowed_input_json: '{"other":"***"}' }),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    const { approval } = await one.decide(id, 'ann', 'approve', sent);
    expect(approval).toMatchObject({ state: 'approved', narrowed: true });
    const narrowed = { ...step, input: { amount: 10, password: 'hunter22', note: 'all' } };
    expect(await other.ask(step, ONE)).toMatchObject({ kind: 'approved', narrowed });
    const answer = await other.ask(narrowed, ONE);
    expect(answer).toMatchObject({
      kind: 'approved',
      narrowed: null,
      notice: { stepSha256: approval.step_sha256 },
    });
    expect(await used(answer)).toMatchObject({ id, state: 'used' });
    expect(await other.ask(narrowed, ONE)).toMatchObject({ kind: 'waits' });
  });

  it('tells the approver that controls deny the narrowed step that did not ask', async () => {
    await changes.control(one.database, 9);
    const denies = {
      execution: 'server',
      condition: {
        selector: { path: 'input.amount' },
        evaluator: { name: 'regex', config: { pattern: '^13$' } },
      },
      action: { decision: 'deny' },
    };
    await changes.data(one.database, 9, denies);
    const narrowedTo = async (amount: number, more: object = {}) => {
      const id = idOf(await one.ask(aStepOf(2_000 + amount, more), ONE));
      return one.decide(id, 'ann', 'approve', { narrowed_input_json: JSON.stringify({ amount }) });
    };
    const { approval, warnings } = await narrowedTo(13);
    expect(approval).toMatchObject({ state: 'approved', narrowed: true });
    expect(warnings).toEqual([
      {
        code: 'denied_by_others',
        field: 'narrowed_input_json',
        message: expect.stringMatching(
          /^the changed step cannot run, although it is approved: .*"?control-9/,
        ),
      },
    ]);
    // Other controls ask about it themselves, or say nothing.
    expect((await narrowedTo(14)).warnings).toEqual([]);
    // A control with an error denies, too.
    const { condition } = denies;
    const failing = { ...condition, evaluator: { name: 'unknown', config: {} } };
    await changes.data(one.database, 9, { ...denies, condition: failing });
    expect((await narrowedTo(15)).warnings).toHaveLength(1);
  });
});

describeOnEachDatabase('the bounds of approvals', (freshDatabaseUrl) => {
  const clock: Clock = { ms: 1_000_000 };
  const open = async (limits: Parameters<typeof openProcess>[2]) => {
    const few = await openProcess(await freshDatabaseUrl(), clock, limits);
    for (const name of [AGENT, SECOND, THIRD, FOURTH, FIFTH]) await changes.agent(few.database, name);
    await changes.control(few.database, 1);
    for (const name of [SECOND, THIRD, FOURTH, FIFTH]) await changes.link(few.database, 1, name);
    return few;
  };
  const refusedWith = (text: string) => ({ kind: 'refused', reason: expect.stringContaining(text) });

  it('refuse what is too much for an agent', async () => {
    const few = await open({ maxPerAgent: 2 });
    const asked = (amount: number) => few.ask(aStepOf(amount), ONE);
    const first = await asked(1);
    await asked(2);
    expect(await asked(3)).toMatchObject(refusedWith('2 open approvals'));
    expect(await asked(1)).toMatchObject({ kind: 'waits', notice: { id: first.notice?.id } });
    const cancelled = { approval_id: first.notice?.id, agent_name: AGENT };
    await few.call('cancelApproval', cancelled, BOT);
    expect(await asked(3)).toMatchObject({ kind: 'waits' });
    await few.close();
  });

  it('refuse what approvers are asked too often by an agent, and leave something for others', async () => {
    const few = await open({ fatigueLimit: 3 });
    const asked = (agentName: string, amount: number) => few.ask(aStepOf(amount), ONE, { agentName });
    const waits = async (agentName: string, times: number) => {
      for (let amount = 1; amount <= times; amount += 1)
        expect([agentName, amount, await asked(agentName, amount)]).toMatchObject([
          agentName,
          amount,
          { kind: 'waits' },
        ]);
      return asked(agentName, times + 1);
    };
    // Of twelve: three of each, until there is less than twice that.
    expect(await waits(AGENT, 3)).toMatchObject(refusedWith('asked 3 times by agent'));
    expect(await waits(SECOND, 3)).toMatchObject(refusedWith('asked 3 times by agent'));
    expect(await waits(THIRD, 3)).toMatchObject(refusedWith('its share'));
    expect(await waits(FOURTH, 2)).toMatchObject(refusedWith('asked 2 times by agent'));
    expect(await waits(FIFTH, 1)).toMatchObject(refusedWith('asked 12 times'));
    await few.close();
  });

  it.each([
    [{ max: 2 }, 'the namespace has 2 open approvals'],
    [{ maxTotal: 2 }, 'the service has 2 open approvals'],
  ])('are those of a namespace, and of all together: %j', async (limits, reason) => {
    const few = await open(limits);
    for (const amount of [1, 2]) expect(await few.ask(aStepOf(amount), ONE)).toMatchObject({ kind: 'waits' });
    expect(await few.ask(aStepOf(3), ONE)).toMatchObject(refusedWith(reason));
    await few.close();
  });
});
