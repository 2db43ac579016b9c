import type { JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import type {
  LimitState,
  MemoryAddition,
  MemoryAnswer,
  MemoryPlan,
  MemoryRule,
  MemoryView,
  StepEvent,
  StepIdentity,
  StepMemory,
} from '../../../../src/kernel/core/memory.js';
import type {
  Decision,
  Detail,
  RememberedStep,
  Stage,
  Step,
  Verdict,
} from '../../../../src/kernel/core/types.js';
import { aDefinition, aLeaf, aResult, aStep, fakeEvaluator } from '../support.js';

/** What a check of the evaluator `kept` does. */
export interface KeptConfig {
  /** Identifies the rule. */
  readonly id: string;
  readonly answer?: 'match' | 'miss' | 'error' | 'quoting error' | 'throw';
  /** Matches once this many steps were counted; in place of `answer`. */
  readonly limit?: number;
  /** Name of a missing part of the key. */
  readonly missing?: string;
  readonly skips?: boolean;
  readonly away?: 'deny' | 'allow' | 'local';
  /** Whether the controls of the same id share a state. */
  readonly shared?: boolean;
  readonly records?: { readonly events: readonly StepEvent[]; readonly names?: readonly string[] };
  readonly settles?: boolean;
  /** Which events are counted. */
  readonly counts?: readonly StepEvent[];
}

/** A leaf with memory over the whole step. */
export const kept = (config: KeptConfig): JsonObject => aLeaf('kept', config as unknown as JsonObject);

/** A definition of any decision; one that steers has its guidance. */
export function deciding(condition: JsonObject, decision: Decision, more: JsonObject = {}): JsonObject {
  if (decision !== 'steer') return aDefinition(condition, decision, more);
  return aDefinition(condition, decision, {
    action: { decision, steering_context: { message: 'do this' } },
    ...more,
  });
}

const NOT_COMPLETE: MemoryAnswer = { matched: false, message: '', metadata: {}, limit: null, error: null };

function limitOf(limit: number, used: number): LimitState {
  const remaining = Math.max(0, limit - used - 1);
  const retryAfterUs = used >= limit ? 2_500_000 : null;
  return { limit, remaining, resetsAfterUs: 60_000_000, retryAfterUs, windowUs: 3_600_000_000 };
}

function ruleOf(config: KeptConfig): MemoryRule {
  const { id, answer = 'miss', limit, missing, records, counts = ['request'] } = config;
  const key = { parts: ['test', id], label: `key ${id}` };
  const matches = (state: unknown): boolean =>
    limit === undefined ? answer === 'match' : (typeof state === 'number' ? state : 0) >= limit;
  return {
    kind: 'rate',
    fingerprint: id,
    isPerControl: config.shared !== true,
    onMissing: config.skips === true ? 'skip' : 'deny',
    onStoreError: config.away ?? 'deny',
    keepUs: 1_000,
    keyOf: () => (missing === undefined ? key : { missing }),
    answer(state): MemoryAnswer {
      if (answer === 'throw') throw new Error('the rule broke');
      const used = typeof state === 'number' ? state : 0;
      return {
        ...NOT_COMPLETE,
        matched: matches(state),
        message: `${id} says so`,
        metadata: { id },
        limit: limit === undefined ? null : limitOf(limit, used),
        error: answer.endsWith('error') ? 'no number' : null,
        isErrorInternal: answer === 'quoting error',
      };
    },
    consume: (_state, _call, event) => (counts.includes(event) ? 1 : null),
    ...(records === undefined
      ? {}
      : {
          records: {
            events: records.events,
            stepNames: records.names === undefined ? null : new Set(records.names),
            keys: () => [{ parts: ['records', id], label: `records ${id}` }],
            of: (_call, event) => [{ key: { parts: ['records', id], label: `records ${id}` }, delta: event }],
          },
        }),
    ...(config.settles === true ? { settle: (_state, _call, isOpen) => ({ settled: isOpen }) } : {}),
    describe: () => ({ limit: null, kept: {} }),
  };
}

/** Answers at once, later, or never begins: the parts of conditions without memory, and `kept`. */
export const EVALUATORS: readonly Evaluator[] = [
  fakeEvaluator('yes', () => aResult()),
  fakeEvaluator('no', () => aResult({ matched: false })),
  fakeEvaluator('fail', () => aResult({ matched: false, error: 'broken' })),
  fakeEvaluator('later', async ({ matched }) => aResult({ matched: matched === true })),
  fakeEvaluator('model', async ({ matched }) => aResult({ matched: matched === true }), { external: true }),
  fakeEvaluator('kept', () => aResult({ matched: false, error: 'there is no memory here' }), {
    remembers: true,
    compile: (config) => ({
      memory: ruleOf(config as unknown as KeptConfig),
      evaluate: () => aResult({ matched: false, error: 'there is no memory here' }),
    }),
  }),
];

/** Memory that counts what is added, in this process. */
export class FakeMemory implements StepMemory {
  readonly states = new Map<string, number>();
  readonly plans: MemoryPlan<unknown>[] = [];
  /** Those of the last step. */
  additions: readonly MemoryAddition[] = [];
  allowed: boolean | null = null;
  source: MemoryView['source'] = 'store';
  wasDenied = false;
  isRepeated = false;
  isDamaged = false;
  /** Labels of keys for which there is no room. */
  readonly full = new Set<string>();
  /** How often each step is decided, as after conflicts. */
  decisions = 1;
  problem: Error | null = null;

  async ready(): Promise<(text: string) => string> {
    return (text) => text;
  }

  async run<T>(plan: MemoryPlan<T>): Promise<T> {
    this.plans.push(plan);
    if (this.problem !== null) throw this.problem;
    const known = new Set(plan.keys);
    const view: MemoryView = {
      source: this.source,
      nowUs: 1_700_000_000_000_000,
      stepHash: plan.identity.stepId,
      wasDenied: this.wasDenied,
      hash: (text) => text,
      state: (key, _kind, ruleId) => {
        if (!known.has(key)) throw new Error(`the key ${key.label} is not in the plan`);
        return this.states.get(stateId(key.parts, ruleId));
      },
      isRepeated: () => this.isRepeated,
      isReused: () => false,
      isDamaged: () => this.isDamaged,
      isFull: (key) => this.full.has(key.label),
      sinceUs: () => 1_600_000_000_000_000,
    };
    let decided = plan.decide(view);
    for (let more = 1; more < this.decisions; more += 1) decided = plan.decide(view);
    this.additions = decided.additions;
    this.allowed = decided.allowed;
    for (const { key, ruleId } of plan.isTrial ? [] : decided.additions) {
      if (!known.has(key)) throw new Error(`the key ${key.label} is not in the plan`);
      const id = stateId(key.parts, ruleId);
      this.states.set(id, (this.states.get(id) ?? 0) + 1);
    }
    return decided.value;
  }
}

function stateId(parts: readonly string[], ruleId: string): string {
  return JSON.stringify([parts, ruleId]);
}

/** What a step is evaluated with besides its data. */
export interface Occasion {
  readonly step?: Step;
  readonly stage?: Stage;
  readonly detail?: Detail;
  readonly identity?: Partial<StepIdentity>;
  readonly isTrial?: boolean;
  readonly isDenied?: boolean;
  readonly signal?: AbortSignal;
}

export const IDENTITY: StepIdentity = {
  namespace: 'default',
  agent: 'agent-one-1',
  sessionId: 'session-1',
  stepId: 'step-1',
  error: null,
};

/** The verdict of a program with this memory. */
export async function remembered(
  program: {
    evaluate(
      ...given: Parameters<import('../../../../src/kernel/core/types.js').ControlProgram['evaluate']>
    ): Verdict | Promise<Verdict>;
  },
  memory: StepMemory,
  occasion: Occasion = {},
): Promise<Verdict> {
  const { step = aStep(), stage = 'pre', detail = 'full', isTrial = false, isDenied = false } = occasion;
  const given: RememberedStep = {
    memory,
    identity: { ...IDENTITY, ...occasion.identity },
    isTrial,
    isDenied,
  };
  const caller = occasion.signal === undefined ? undefined : { signal: occasion.signal };
  return program.evaluate(step, stage, detail, caller, 0, null, given);
}
