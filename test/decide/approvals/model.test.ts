import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApprovalUpkeep } from '../../../src/decide/approvals/approval-upkeep.js';
import type { ApprovalAnswer } from '../../../src/decide/decisions/approval-gate.js';
import { describeOnEachDatabase } from '../../support/databases.js';
import { generatedCases } from '../../support/generated-cases.js';
import { ASKING, AUTHOR, createModel, type ModelAnswer, type ModelCall, RULES } from './model.support.js';
import { type ApprovalProcess, aStepOf, BOT, type Clock, changes, openProcess, person } from './support.js';

const CONTROLS = [1, 2, 3];

const callOf = fc.record({
  agent: fc.nat(1),
  step: fc.nat(1),
  asking: fc.constantFrom(0, 0, 0, 1, 2, 3),
  session: fc.constantFrom('s', 's', 's', 't', null),
  stepId: fc.constantFrom(null, 'a', 'a', 'b'),
});
const control = fc.constantFrom(...CONTROLS);
const number = fc.constantFrom(0, 0, 0, 0, 1, 2, 3);
/** What happens, one after the other; `number` names an approval or a held answer, counted from the newest. */
const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('ask' as const), call: callOf, isHeld: fc.boolean() }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('pass' as const), call: callOf, isHeld: fc.boolean() }),
  },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('again' as const), number, isHeld: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('useHeld' as const), number }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('vote' as const),
      number,
      who: fc.constantFrom('ann', 'bob', AUTHOR),
      decision: fc.constantFrom('approve' as const, 'approve' as const, 'approve' as const, 'deny' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), number }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 99_999, 100_000, 3_599_999, 3_600_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('change' as const, 'unlink' as const, 'relink' as const),
      control,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('halt' as const, 'lift' as const, 'sweep' as const) }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

describeOnEachDatabase('approvals, whatever happens', (freshDatabaseUrl) => {
  const clock: Clock = { ms: 1_000_000 };
  const processes: ApprovalProcess[] = [];
  beforeAll(async () => {
    const url = await freshDatabaseUrl();
    const limits = { maxPerAgent: 1e6, max: 1e6, maxTotal: 1e6, fatigueLimit: 1e6 };
    for (let opened = 0; opened < 2; opened += 1) processes.push(await openProcess(url, clock, limits));
    await changes.agent(first().database);
    for (const id of CONTROLS) await changes.control(first().database, id, RULES[id]);
  });
  afterAll(async () => {
    for (const process of processes) await process.close();
  });
  const processAt = (turn: number) => processes[turn % processes.length] as ApprovalProcess;
  const first = () => processAt(0);

  /** Stores what has expired, once. */
  async function sweep(): Promise<void> {
    const { database } = first();
    let counted = () => {};
    const isDone = new Promise<void>((resolve) => {
      counted = resolve;
    });
    const quiet = () => {};
    const upkeep = createApprovalUpkeep({
      database,
      retentionMs: 1_000,
      // Counting is the last thing that it does.
      meter: { asked: quiet, ended: quiet, used: quiet, counted },
      changed: quiet,
      isWatched: () => true,
      failures: { failed: quiet },
      now: () => clock.ms,
      intervalMs: 1,
    });
    upkeep.start();
    await isDone;
    await upkeep.close();
  }

  let runs = 0;

  /** Does the same to the model and to the approvals of two new agents, and compares after each command. */
  async function play(commands: readonly Command[]): Promise<void> {
    runs += 1;
    const agents = [`model-bot-${runs}-1`, `model-bot-${runs}-2`];
    const { database } = first();
    const model = createModel(clock);
    /** Ids of the approvals, as the model numbers them. */
    const ids: number[] = [];
    const held: { call: ModelCall; answer: ApprovalAnswer; expected: ModelAnswer }[] = [];
    const calls: ModelCall[] = [];
    const linkAll = async (id: number) => {
      for (const name of agents) await changes.link(database, id, name);
    };
    await changes.lift(database);
    for (const name of agents) await changes.agent(database, name);
    for (const id of CONTROLS) await linkAll(id);

    const newest = <T>(list: readonly T[], at: number): T | undefined =>
      list[list.length - 1 - (at % list.length)];
    function compare(got: ApprovalAnswer, expected: ModelAnswer): void {
      expect(got.kind).toBe(expected.kind);
      const { row } = expected;
      const id = got.notice?.id;
      if (row !== null && row === ids.length) {
        // A new one.
        expect(ids).not.toContain(id);
        ids.push(id ?? 0);
      }
      expect(id).toBe(row === null ? undefined : ids[row]);
    }
    async function use(call: ModelCall, answer: ApprovalAnswer, expected: ModelAnswer): Promise<void> {
      if (answer.kind !== 'approved') throw new Error('nothing to use');
      const got = await answer.use();
      const instead = model.use(call, expected);
      if (instead === null) expect(got).not.toHaveProperty('kind');
      else if ('kind' in got) compare(got, instead);
      else throw new Error(`passed, but should be ${JSON.stringify(instead)}`);
    }
    async function ask(process: ApprovalProcess, call: ModelCall, isHeld: boolean): Promise<void> {
      calls.push(call);
      const { agent, step, asking, session: sessionId, stepId } = call;
      const rules = (ASKING[asking] ?? []).map((id) => [id, RULES[id] ?? {}] as const);
      const more = { agentName: agents[agent] ?? '', sessionId, stepId };
      const answer = await process.ask(aStepOf(step), rules, more);
      const expected = model.ask(call);
      compare(answer, expected);
      if (answer.kind !== 'approved') return;
      if (isHeld) held.push({ call, answer, expected });
      else await use(call, answer, expected);
    }
    async function run(process: ApprovalProcess, todo: Command): Promise<void> {
      switch (todo.do) {
        case 'ask':
          return ask(process, todo.call, todo.isHeld);
        case 'pass':
          await ask(process, todo.call, false);
          for (const who of ['ann', 'bob'] as const) {
            await run(process, { do: 'vote', number: 0, who, decision: 'approve' });
          }
          return ask(process, todo.call, todo.isHeld);
        case 'again': {
          const call = newest(calls, todo.number);
          return call && ask(process, call, todo.isHeld);
        }
        case 'useHeld': {
          const one = newest(held, todo.number);
          return one && use(one.call, one.answer, one.expected);
        }
        case 'vote':
        case 'cancel': {
          if (ids.length === 0) return;
          const at = ids.length - 1 - (todo.number % ids.length);
          const approval_id = ids[at] ?? 0;
          if (todo.do === 'cancel') {
            model.cancel(at);
            await process.call('cancelApproval', { approval_id, agent_name: agents[model.agentOf(at)] }, BOT);
            return;
          }
          const isTaken = model.vote(at, todo.who, todo.decision);
          const voting = process.decide(approval_id, todo.who, todo.decision);
          if (isTaken) await voting;
          else await expect(voting).rejects.toMatchObject({ code: 'APPROVAL_CONFLICT' });
          return;
        }
        case 'advance':
          clock.ms += todo.ms;
          return;
        case 'sweep':
          return sweep();
        case 'change':
          model.change(todo.control);
          await changes.newVersion(process.database, todo.control);
          return;
        case 'unlink':
          model.unlink(todo.control);
          await changes.unlink(process.database, todo.control);
          return;
        case 'relink':
          if (model.relink(todo.control)) await linkAll(todo.control);
          return;
        case 'halt':
          model.halt();
          await changes.halt(process.database, 'pay');
          return;
        case 'lift':
          model.lift();
          await changes.lift(process.database);
      }
    }

    for (const [turn, todo] of commands.entries()) {
      await run(processAt(turn), todo);
      expect(model.broken()).toBeNull();
      const told = new Map<number, object>();
      for (const agent_name of agents) {
        const input = { agent_name, limit: 100 };
        const { approvals } = await processAt(turn + 1).call('listApprovals', input, person('ann'));
        for (const { id, state, uses, votes } of approvals) {
          told.set(id, { state, uses, votes: votes.map(({ by }: { by: string }) => by).sort() });
        }
      }
      expect(told.size).toBe(ids.length);
      expect(ids.map((id) => told.get(id))).toEqual(model.told());
    }
  }

  it('do as the model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 30, maxLength: 40, size: 'max' }), play),
      {
        numRuns: generatedCases(30),
        // Making a schedule smaller takes minutes: each is some dozens of transactions.
        endOnFailure: true,
      },
    );
  });
});
