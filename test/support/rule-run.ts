import type { JsonObject, JsonValue } from '../../packages/exact-json/src/index.js';
import type {
  MemoryAnswer,
  MemoryCall,
  MemoryMoment,
  MemoryRule,
  StepEvent,
} from '../../src/kernel/core/memory.js';
import type { Stage } from '../../src/kernel/core/types.js';
import { memoryEvaluators } from '../../src/kernel/evaluators/memory/memory-evaluators.js';
import { hash, SimpleMemory } from './simple-memory.js';

const DAY_MS = 86_400_000;

/** An evaluator with memory by its name. */
export function memoryEvaluator(name: string, maxWindowMs = DAY_MS) {
  const found = memoryEvaluators({ maxWindowMs }).find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no evaluator ${name}`);
  return found;
}

/** The rule of a configuration. */
export function ruleOf(name: string, config: JsonObject, maxWindowMs = DAY_MS): MemoryRule {
  const { memory } = memoryEvaluator(name, maxWindowMs).compile(config);
  if (memory === undefined) throw new Error(`${name} has no memory`);
  return memory;
}

/** Why a configuration is refused, as `path code: message`. */
export function problemsOf(name: string, config: JsonObject, maxWindowMs = DAY_MS): string[] {
  const found = memoryEvaluator(name, maxWindowMs).configSchema.safeParse(config);
  const issues = found.success ? [] : found.error.issues;
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** A step, whose members have values that do not matter. */
export interface RunStep {
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  readonly context?: JsonObject;
  readonly type?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly session?: string | null;
  readonly id?: string | null;
  readonly error?: string | null;
  /** Whether the control only observes: then a match does not deny. */
  readonly observed?: boolean;
  /** Whether another control denies the step. */
  readonly isDenied?: boolean;
  /** Whether the rest of the control leaves the check open when the step has ended. */
  readonly isOpen?: boolean;
  /** Whether the scope of the control has the step before and after it ran. */
  readonly scope?: readonly Stage[];
  readonly isTrial?: boolean;
}

/** Plays steps to one rule, as a control that consists of it. */
export class RuleRun {
  readonly memory = new SimpleMemory();
  readonly #rule: MemoryRule;

  constructor(name: string, config: JsonObject, maxWindowMs?: number) {
    this.#rule = ruleOf(name, config, maxWindowMs);
  }

  /** The answer before a step; an error for one that lacks a part of the key. */
  pre(step: RunStep = {}): MemoryAnswer {
    return this.#play('pre', step);
  }

  /** The answer after a step. */
  post(step: RunStep = {}): MemoryAnswer {
    return this.#play('post', step);
  }

  /** Whether a step may run. */
  passes(step: RunStep = {}): boolean {
    const { matched, error } = this.pre(step);
    return !matched && error === null;
  }

  /** What is kept for the key of a step. */
  kept(step: RunStep = {}) {
    const key = this.#rule.keyOf(callOf('pre', { id: 'any', ...step }), hash);
    return 'missing' in key ? undefined : this.memory.stateOf('n', key, 'rule');
  }

  describe(step: RunStep = {}) {
    const state = this.kept(step);
    return state === undefined ? null : this.#rule.describe(state, this.memory.nowUs);
  }

  #play(stage: Stage, step: RunStep): MemoryAnswer {
    const rule = this.#rule;
    const call = callOf(stage, step);
    const key = rule.keyOf(call, hash);
    if ('missing' in key) {
      const error = rule.onMissing === 'deny' ? `without ${key.missing}` : null;
      return { matched: false, message: key.missing, metadata: {}, limit: null, error };
    }
    return this.memory.runNow({
      identity: call.identity,
      stage,
      keys: [key],
      ruleIds: ['rule'],
      marksDenied: true,
      isTrial: step.isTrial === true,
      decide(view) {
        const state = view.state(key, rule.kind, 'rule');
        const moment: MemoryMoment = {
          nowUs: view.nowUs,
          sinceUs: view.sinceUs('rule'),
          isRepeated: view.isRepeated(key),
          stepHash: view.stepHash,
          hash: (text) => view.hash(text),
        };
        const answer = rule.answer(state, call, moment);
        const blocks = (answer.matched || answer.error !== null) && step.observed !== true;
        // A step that has run cannot be denied any more; one that was denied has not run.
        const allowed = stage === 'post' ? !view.wasDenied : !blocks && step.isDenied !== true;
        const ended: StepEvent = call.identity.error === null ? 'response' : 'error';
        const event: StepEvent = stage === 'post' ? ended : allowed ? 'request' : 'denied';
        const scope = step.scope ?? ['pre', 'post'];
        const deltas = [];
        if (!moment.isRepeated && !(stage === 'post' && view.wasDenied)) {
          if (scope.includes(stage)) deltas.push(rule.consume?.(state, call, event, moment) ?? null);
          if (stage === 'post' && scope.includes('pre')) {
            deltas.push(rule.settle?.(state, call, step.isOpen !== false, moment) ?? null);
          }
        }
        const additions = deltas
          .filter((delta) => delta !== null)
          .map((delta) => ({
            key,
            kind: rule.kind,
            ruleId: 'rule',
            delta,
            keepUs: rule.keepUs,
            isLocal: false,
          }));
        return { value: answer, allowed, additions };
      },
    });
  }
}

function callOf(stage: Stage, step: RunStep): MemoryCall {
  const { input = {}, output = null, context = null, type = 'tool', name = 'send' } = step;
  const { agent = 'agent', session = 'session', id = null, error = null } = step;
  return {
    step: { type, name, input, output, context },
    stage,
    identity: { namespace: 'n', agent, sessionId: session, stepId: id, error },
  };
}
