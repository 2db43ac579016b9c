import {
  ANONYMOUS,
  type CallContext,
  type Handler,
  type Principal,
} from '../../../src/contract/call/handler.js';
import { DEFAULT_NAMESPACE } from '../../../src/contract/call/namespace.js';
import { createApprovals } from '../../../src/decide/approvals/approvals.js';
import { definitionHashOf } from '../../../src/decide/approvals/binding.js';
import { createApprovalEnds } from '../../../src/decide/approvals/lost-approvals.js';
import type { AskedStep } from '../../../src/decide/decisions/approval-gate.js';
import { createControlLibrary } from '../../../src/decide/decisions/control-library.js';
import { createStepSchemaLibrary } from '../../../src/decide/decisions/step-schema-library.js';
import type { ApprovalRule } from '../../../src/kernel/core/lift.js';
import type { Step } from '../../../src/kernel/core/types.js';
import { createAgentStore } from '../../../src/manage/agents/agent-store.js';
import { createWaitingStepTrials } from '../../../src/observe/explain/waiting-steps.js';
import { originOfService } from '../../../src/storage/database/audit-log.js';
import { type Database, openDatabase } from '../../../src/storage/database/database.js';
import { serviceRegistry } from '../../support/evaluators.js';

export const AGENT = 'paying-bot-01';
export const RULE: ApprovalRule = {
  approvers: ['role:approver'],
  quorum: 1,
  expiresSeconds: 3600,
  bind: 'step',
  reuse: 'once',
  question: 'Pay {input.amount}?',
  separate: true,
};

export function person(name: string, role = 'approver'): Principal {
  return { ...ANONYMOUS, level: 'admin', name, keyFingerprint: `of-${name}`, role };
}

export const BOT = { ...person('bot', 'agent'), level: 'key' as const };

export function aStepOf(amount: number, more: object = {}): Step {
  return { type: 'tool', name: 'pay', input: { amount, ...more }, output: null, context: null };
}

const QUIET = { told: () => {}, failed: () => {} };

/** A clock that tests set. */
export interface Clock {
  ms: number;
}

/** One process with approvals, by a clock of the test. */
export async function openProcess(
  url: string,
  clock: Clock,
  limits: { maxPerAgent?: number; max?: number; maxTotal?: number; fatigueLimit?: number } = {},
) {
  const now = () => clock.ms;
  const database = await openDatabase({ url, beforeCommit: createApprovalEnds(now) });
  const registry = serviceRegistry;
  const approvals = createApprovals({
    database,
    idleMs: 1_000,
    config: {
      key: Buffer.alloc(32, 7).toString('base64'),
      retentionMs: 1_000,
      maxPerAgent: 100,
      max: 10_000,
      maxTotal: 10_000,
      fatigueLimit: 1_000,
      fatigueMs: 3_600_000,
      ...limits,
    },
    trials: createWaitingStepTrials(database.client, {
      registry,
      library: createControlLibrary({ registry, keepEvaluators: 10 }),
      stepSchemas: createStepSchemaLibrary('warn'),
      newExecutionId: () => 'id',
      now,
      clock: now,
    }),
    meter: { asked: () => {}, ended: () => {}, used: () => {}, counted: () => {} },
    failures: QUIET,
    now,
  });
  const context = (principal: Principal, signal = new AbortController().signal) =>
    ({ principal, address: '192.0.2.1', requestId: 'test', signal }) as CallContext;
  const call = async (name: keyof typeof approvals.handlers, input: object, principal: Principal) => {
    const handler = approvals.handlers[name] as Handler;
    const read = handler.input.parse(input);
    const call = { ...context(principal), protocol: 'rest', spend() {}, ignoredParts: () => [] };
    // biome-ignore lint/suspicious/noExplicitAny: replies of many shapes
    return (await handler.handle(read, call)) as any;
  };
  return {
    database,
    approvals,
    call,
    decide: (id: number, who: string, decision = 'approve', more: object = {}) =>
      call('decideApproval', { approval_id: id, decision, ...more }, person(who)),
    get: (id: number) => call('getApproval', { approval_id: id }, person('ann')),
    async ask(
      step: Step,
      rules: readonly (readonly [number, Partial<ApprovalRule>])[],
      more: Partial<AskedStep> = {},
    ) {
      return approvals.gate.ask({
        agentName: AGENT,
        sessionId: null,
        stepId: null,
        target: null,
        step,
        controls: rules.map(([id, rule]) => ({
          id,
          name: `control-${id}`,
          definitionHash: definitionHashOf(definitionOf(rule)) ?? '',
          approval: { ...RULE, ...rule },
        })),
        caller: {
          ...context(BOT),
          namespace: DEFAULT_NAMESPACE,
          protocol: 'rest',
          header: () => undefined,
          spend: () => {},
        },
        ...more,
      });
    },
    async close() {
      approvals.drain();
      await approvals.close();
      await database.close();
    },
  };
}

export type ApprovalProcess = Awaited<ReturnType<typeof openProcess>>;

function definitionOf(rule: Partial<ApprovalRule>): string {
  return JSON.stringify({
    enabled: true,
    execution: 'server',
    scope: { stages: ['pre'] },
    condition: { selector: { path: 'name' }, evaluator: { name: 'regex', config: { pattern: '.' } } },
    action: { decision: 'deny', approval: { approvers: rule.approvers ?? RULE.approvers } },
  });
}

const change = (database: Database, work: (tx: Database['client']) => Promise<unknown>) =>
  database.mutate(async (tx) => {
    await work(tx);
    const audit = {
      action: 'test',
      resource: 'control',
      id: null,
      before: null,
      after: null,
      origin: originOfService(0),
    } as const;
    return { value: undefined, changed: true, audit };
  });

/** What mutations of other features do, as their rows. */
export const changes = {
  async agent(database: Database, name = AGENT): Promise<void> {
    const data = { agent: { agent_name: name }, steps: [], evaluators: [] };
    await change(database, (tx) =>
      tx.agent.create({ data: { name, data: JSON.stringify(data), createdAtMs: 0n } }),
    );
    await createAgentStore({ client: database.client, namespace: DEFAULT_NAMESPACE }).find(name);
  },
  async control(database: Database, id: number, rule: Partial<ApprovalRule> = {}): Promise<void> {
    const data = definitionOf(rule);
    const name = `control-${id}`;
    await change(database, async (tx) => {
      await tx.control.create({
        data: {
          id,
          name,
          liveName: name,
          data,
          enabled: true,
          templateBacked: false,
          restrictsStepTypes: false,
          restrictsStages: true,
          createdAtMs: 0n,
          updatedAtMs: 0n,
        },
      });
      await version(tx, id, 1, data);
    });
    await changes.link(database, id);
  },
  newVersion: (database: Database, id: number) =>
    change(database, async (tx) => {
      const { data, versions } = await tx.control.findUniqueOrThrow({
        where: { id },
        include: { versions: true },
      });
      await version(tx, id, versions.length + 1, data);
    }),
  async data(database: Database, id: number, definition: object): Promise<void> {
    const data = JSON.stringify(definition);
    await change(database, (tx) => tx.control.update({ where: { id }, data: { data } }));
  },
  async link(database: Database, controlId: number, name = AGENT): Promise<void> {
    await change(database, async (tx) => {
      const { id } = await tx.agent.findFirstOrThrow({ where: { name } });
      await tx.agentControl.create({ data: { agentId: id, controlId } });
    });
  },
  unlink: (database: Database, controlId: number) =>
    change(database, (tx) => tx.agentControl.deleteMany({ where: { controlId } })),
  halt: (database: Database, stepName: string) =>
    change(database, (tx) =>
      tx.halt.create({
        data: { scope: 'step_name', stepName, reason: 'why', createdAtMs: 0n, createdBy: 'me' },
      }),
    ),
  lift: (database: Database) =>
    change(database, (tx) => tx.halt.updateMany({ where: {}, data: { liftedAtMs: 1n, liftedBy: 'me' } })),
};

function version(tx: Database['client'], controlId: number, versionNum: number, data: string) {
  return tx.controlVersion.create({
    data: {
      controlId,
      versionNum,
      eventType: 'created',
      note: '',
      createdAtMs: 0n,
      author: 'author',
      keyFingerprint: 'of-author',
      changedMembers: '[]',
      name: `control-${controlId}`,
      data,
    },
  });
}
