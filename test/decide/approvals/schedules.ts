import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { callKey } from '../../../src/decide/approvals/binding.js';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import type { Database } from '../../../src/storage/database/database.js';
import { randomOf } from '../../e2e/memory/exactness.js';
import type { RestReply } from '../../support/http.js';
import { seeder } from '../../support/seed.js';
import { until } from '../../support/until.js';
import { APPROVERS, type ApprovalFleet, type Who } from './fleet.js';

/** Names of steps, each with the rule of its control. */
const RULES = {
  pay: { quorum: 1, reuse: 'once', bind: ['input.amount'] },
  wire: { quorum: 2, reuse: 'once', bind: 'step' },
  read: { quorum: 1, reuse: 'session', bind: 'step' },
  list: { quorum: 1, reuse: { seconds: 600 }, bind: ['input.amount'] },
} as const;
type StepName = keyof typeof RULES;
const STEP_NAMES = Object.keys(RULES) as StepName[];
/** What a service answers that cannot use its database, or ends. */
const AWAY = [503, 504];
/** Steps that each agent takes at least. */
const STEPS = 10;
/** Pause of a client that got no answer, in milliseconds. */
const RETRY_MS = 10;
/** Pause of an approver who has nothing to decide, in milliseconds. */
const LOOK_MS = 50;
/** Longest pause of an agent between two steps, in milliseconds. */
const THINK_MS = 30;

/** What a schedule does beside the calls of agents and approvers. */
export interface Disturbance {
  readonly kills: number;
  readonly crashes: number;
}

/** What an agent was told about a step. */
interface Verdict {
  readonly name: StepName;
  readonly amount: number;
  readonly session: string;
  readonly stepId: string | null;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly approvalId: number | null;
}

/** What clients have seen of a schedule. */
interface Seen {
  readonly allowed: Verdict[];
  readonly votes: { readonly id: number; readonly by: Who; readonly decision: string }[];
  /** When the test itself let approvals expire, by their ids. */
  readonly lapsedMs: Map<number, number>;
  readonly asked: Set<number>;
  readonly refused: string[];
}

/** Links an agent with a control for each rule. Returns the revision that has them. */
async function controlled(fleet: ApprovalFleet, agent: string): Promise<number> {
  let minRevision = 0;
  const seed = seeder(async (method, path, body) => {
    const reply = await fleet.call(0, 'boss', method, path.replace('/api/v1', ''), body as object);
    minRevision = Math.max(minRevision, Number(reply.headers.get('x-service-revision') ?? 0));
    return reply;
  });
  await seed.agent(agent);
  for (const name of STEP_NAMES) {
    const data = {
      execution: 'server',
      scope: { step_names: [name], stages: ['pre'] },
      condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
      action: {
        decision: 'deny',
        approval: { approvers: ['role:approver'], question: `${name} {input.amount}?`, ...RULES[name] },
      },
    };
    await seed.link(agent, await seed.control(`${name}-of-${agent}`, data));
  }
  return minRevision;
}

/**
 * Agents that take steps, with ids and without, and approvers who decide, over random processes, while these are killed. Checks
 * what clients were told against the rows of the database. Returns how many evaluations passed.
 */
export async function decideAtRandom(
  fleet: ApprovalFleet,
  seed: number,
  { kills, crashes }: Disturbance,
): Promise<number> {
  const random = randomOf(seed);
  const agent = `asking-number-${seed}`;
  const minRevision = await controlled(fleet, agent);
  const seen: Seen = { allowed: [], votes: [], lapsedMs: new Map(), asked: new Set(), refused: [] };
  /** A reply, or null where there is none. What is no answer of a healthy service is told at the end. */
  const ask = async (who: Who, method: string, path: string, body?: object, also: number[] = []) => {
    const reply: RestReply | null = await fleet
      .call(random(fleet.processes), who, method, path, body)
      .catch(() => null);
    if (reply !== null && ![200, ...AWAY, ...also].includes(reply.status)) {
      seen.refused.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    }
    if (reply?.status === 200) return reply.body;
    await pause(RETRY_MS);
    return null;
  };
  const evaluate = async (name: StepName, amount: number, session: string, stepId: string | null) => {
    const sentMs = Date.now();
    const body = await ask('bot', 'POST', '/evaluation', {
      agent_name: agent,
      stage: 'pre',
      step: { type: 'tool', name, input: { amount } },
      accepts: ['ask'],
      session_id: session,
      min_revision: minRevision,
      ...(stepId === null ? {} : { step_id: stepId }),
    });
    if (body === null) return null;
    const approvalId: number | null = body.approval?.id ?? null;
    if (approvalId !== null) seen.asked.add(approvalId);
    if (body.is_safe) {
      seen.allowed.push({ name, amount, session, stepId, sentMs, answeredMs: Date.now(), approvalId });
    }
    return body;
  };

  let isDisturbed = true;
  let agents = 2 + random(6);
  const takeSteps = async () => {
    for (let answered = 0; answered < STEPS || isDisturbed; ) {
      const name = STEP_NAMES[random(STEP_NAMES.length)] as StepName;
      const stepId = random(2) === 0 ? null : `step-${random(6)}`;
      const body = await evaluate(name, random(4), `session-${random(2)}`, stepId);
      if (body !== null) answered += 1;
      await pause(random(THINK_MS));
      if (random(20) === 0 && body?.approval) {
        const cancel = { agent_name: agent };
        await ask('bot', 'POST', `/approvals/${body.approval.id}/cancel`, cancel, [409]);
      }
    }
    agents -= 1;
  };
  const decide = async (by: Who) => {
    while (agents > 0) {
      const listed = await ask(by, 'GET', `/approvals?state=pending&mine=true&agent_name=${agent}`);
      const found = listed?.approvals ?? [];
      const one = found[random(Math.max(1, found.length))];
      if (one === undefined) {
        await pause(LOOK_MS);
        continue;
      }
      const decision = random(10) === 0 ? 'deny' : 'approve';
      const vote = { decision, step_sha256: one.step_sha256 };
      const done = await ask(by, 'POST', `/approvals/${one.id}/decide`, vote, [409]);
      if (done !== null) seen.votes.push({ id: one.id, by, decision });
    }
  };
  const disturb = async () => {
    for (let at = 0; at < Math.max(kills, crashes); at += 1) {
      await pause(random(300));
      if (at < kills) await fleet.kill(random(fleet.processes));
      if (at < crashes) await fleet.crashStore?.();
    }
    const database = await fleet.open();
    await lapse(database, agent, seen, random);
    await database.close();
    isDisturbed = false;
  };
  const taking = Array.from({ length: agents }, takeSteps);
  await Promise.all([...taking, ...APPROVERS.map(decide), disturb()]);

  await passOnce(fleet, agent, evaluate, ask);
  const database = await fleet.open();
  try {
    await check(database, agent, seen);
  } finally {
    await database.close();
  }
  return seen.allowed.length;
}

/** Lets some open approvals expire, while they are used. */
async function lapse(
  database: Database,
  agentName: string,
  { lapsedMs }: Seen,
  random: (below: number) => number,
): Promise<void> {
  const audit = {
    action: 'test',
    resource: 'approval',
    id: null,
    before: null,
    after: null,
    origin: originOfService(Date.now()),
  } as const;
  const ids = await database.mutateAside<number[]>(async (tx) => {
    const where = { agentName, state: { in: ['pending', 'approved'] } };
    const open = await tx.approval.findMany({ where, select: { id: true } });
    const chosen = open.map(({ id }) => id).filter(() => random(2) === 0);
    const data = { expiresAtMs: BigInt(Date.now() + random(50)) };
    await tx.approval.updateMany({ where: { id: { in: chosen } }, data });
    return { value: chosen, audit };
  });
  for (const id of ids) lapsedMs.set(id, Date.now());
}

/** With everything in place again, a step is asked about, approved, and passes; its approval is used up. */
async function passOnce(
  fleet: ApprovalFleet,
  agent: string,
  evaluate: (
    name: StepName,
    amount: number,
    session: string,
    stepId: string | null,
  ) => Promise<RestReply['body']>,
  ask: (who: Who, method: string, path: string, body?: object, also?: number[]) => Promise<RestReply['body']>,
): Promise<void> {
  const take = () => evaluate('pay', 100, 'last', null);
  const { approval } = await until(take, (body) => body?.outcome === 'ask');
  const path = `/approvals/${approval.id}/decide`;
  await until(
    () => ask('ann', 'POST', path, { decision: 'approve' }),
    (body) => body?.approval.state === 'approved',
  );
  expect(await until(take, (body) => body !== null)).toMatchObject({
    outcome: 'allow',
    approval: { state: 'used' },
  });
  expect(
    (await fleet.call(1, 'bot', 'POST', `/approvals/${approval.id}/cancel`, { agent_name: agent })).body,
  ).toMatchObject({
    approval: { state: 'used', uses: 1 },
  });
}

async function check({ client }: Database, agentName: string, seen: Seen): Promise<void> {
  expect(seen.refused).toEqual([]);
  const found = await client.approval.findMany({ where: { agentName }, include: { votes: true } });
  const rows = new Map(found.map((row) => [row.id, row]));
  for (const id of seen.asked) expect(rows.has(id), `approval ${id} is there`).toBe(true);
  for (const { id, by, decision } of seen.votes) {
    const vote = rows.get(id)?.votes.find(({ person }) => person === by);
    expect(vote?.decision, `vote of ${by} about ${id}`).toBe(decision);
  }
  const uses = await client.auditEntry.groupBy({
    by: ['resourceId'],
    where: {
      resource: 'approval',
      action: 'approval.use',
      resourceId: { in: found.map(({ id }) => String(id)) },
    },
    _count: true,
  });
  for (const row of found) {
    const audited = uses.find(({ resourceId }) => resourceId === String(row.id))?._count ?? 0;
    expect(audited, `entries about uses of approval ${row.id}`).toBe(row.uses);
    if (row.reuse === 'once')
      expect(row.uses, `uses of approval ${row.id}`).toBe(row.state === 'used' ? 1 : 0);
  }
  const bindings = new Map<string, string>();
  const calls = new Map<number, Set<string>>();
  for (const [index, verdict] of seen.allowed.entries()) {
    const { name, amount, session, stepId } = verdict;
    const what = JSON.stringify(verdict);
    const row = rows.get(verdict.approvalId ?? 0);
    if (row === undefined) throw new Error(`passed without an approval: ${what}`);
    expect([row.stepName, row.question], what).toEqual([name, `${name} ${amount}?`]);
    const approving = row.votes.filter(({ decision }) => decision === 'approve');
    expect(approving.length, what).toBe(row.votes.length);
    expect(approving.length, what).toBeGreaterThanOrEqual(RULES[name].quorum);
    expect(Number(row.decidedAtMs ?? Number.POSITIVE_INFINITY), what).toBeLessThanOrEqual(verdict.answeredMs);
    const endMs = Math.max(Number(row.expiresAtMs), seen.lapsedMs.get(row.id) ?? 0);
    expect(verdict.sentMs, what).toBeLessThan(endMs);
    expect(row.uses, what).toBeGreaterThan(0);
    if (name === 'read') expect(row.sessionId, what).toBe(session);
    const bound = JSON.stringify([name, amount, name === 'read' ? session : null]);
    expect(bindings.get(bound) ?? row.binding, what).toBe(row.binding);
    bindings.set(bound, row.binding);
    if (row.reuse !== 'once') continue;
    expect(row.usedCall, what).toBe(callKey(session, stepId));
    const own = calls.get(row.id) ?? new Set();
    // Without an id, each evaluation is a call of its own.
    calls.set(row.id, own.add(stepId === null ? `evaluation ${index}` : JSON.stringify([session, stepId])));
    expect(own.size, what).toBe(1);
  }
  expect(new Set(bindings.values()).size).toBe(bindings.size);
}
