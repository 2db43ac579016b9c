import type { JsonObject, JsonValue } from '../../../../packages/exact-json/src/index.js';
import type {
  MemoryAnswer,
  MemoryCall,
  MemoryKey,
  MemoryPlan,
  MemoryRule,
  StepEvent,
} from '../../../../src/kernel/core/memory.js';
import type { Stage } from '../../../../src/kernel/core/types.js';
import { createHistoryEvaluator } from '../../../../src/kernel/evaluators/memory/history.js';
import { SimpleMemory } from '../../../support/simple-memory.js';

export const evaluator = createHistoryEvaluator({ maxWindowMs: 86_400_000 });

/** The rule of a configuration. */
export function ruleFor(config: JsonObject): MemoryRule {
  const { memory } = evaluator.compile(config);
  if (memory === undefined) throw new Error('history compiles to a rule');
  return memory;
}

/** A step as tests write it. */
export interface Sent {
  readonly name: string;
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  readonly context?: JsonObject | null;
  readonly stage?: Stage;
  readonly session?: string | null;
  readonly agent?: string;
  readonly id?: string | null;
  readonly error?: string | null;
}

export function callOf({ name, input = {}, output = null, context = null, ...rest }: Sent): MemoryCall {
  const { stage = 'pre', session = 's1', agent = 'agent', id = null, error = null } = rest;
  return {
    step: { type: 'tool', name, input, output, context },
    stage,
    identity: { namespace: 'ns', agent, sessionId: session, stepId: id, error },
  };
}

export interface Given {
  readonly matched: boolean;
  readonly error: string | null;
  readonly message: string;
  readonly metadata: JsonObject;
  readonly limit: { readonly remaining: number; readonly retryAfterUs: number | null } | null;
}

/** What is known when a step is decided: for an interpreter beside the rule. */
export interface Moment {
  readonly nowUs: number;
  readonly isRepeated: boolean;
  readonly wasDenied: boolean;
}

export interface Decided extends Given {
  /** What the step became; null if it was not recorded. */
  readonly event: StepEvent | null;
  readonly moment: Moment;
}

/** One control with a statement: a match, or an error, denies before the step runs, unless it only observes. */
export class HistoryRun {
  readonly memory = new SimpleMemory();
  readonly rule: MemoryRule;
  readonly #observes: boolean;

  constructor(config: JsonObject, observes = false) {
    this.rule = ruleFor(config);
    this.#observes = observes;
  }

  /** What the statement says of a step, without recording it. */
  trial(sent: Sent): Decided {
    return this.send(sent, false, true);
  }

  /** `isOther`: whether another control denies the step. */
  send(sent: Sent, isOther = false, isTrial = false): Decided {
    const { rule, memory } = this;
    const call = callOf(sent);
    const hash = memory.ready();
    const key = rule.keyOf(call, hash);
    const recorded = rule.records?.keys(call, hash) ?? [];
    const keys: readonly MemoryKey[] = 'missing' in key ? recorded : [key, ...recorded];
    const plan: MemoryPlan<Decided> = {
      identity: call.identity,
      stage: call.stage,
      // A key of its own, so that each step is marked somewhere.
      keys: [...keys, MARKS],
      ruleIds: [ID],
      marksDenied: true,
      isTrial,
      decide: (view) => {
        const isRepeated = view.isRepeated(MARKS);
        const moment = {
          nowUs: view.nowUs,
          sinceUs: view.sinceUs(ID),
          stepHash: view.stepHash,
          hash: (text: string) => view.hash(text),
        };
        const given: Given =
          'missing' in key
            ? { matched: false, error: `lacks ${key.missing}`, message: '', metadata: {}, limit: null }
            : toldAnswer(rule.answer(view.state(key, 'history', ID), call, { ...moment, isRepeated }));
        const isDenied = isOther || (!this.#observes && (given.matched || given.error !== null));
        const after = call.identity.error === null ? 'response' : 'error';
        const event = call.stage === 'post' ? after : isDenied ? 'denied' : 'request';
        const isRecorded = !isRepeated && !(call.stage === 'post' && view.wasDenied);
        const additions =
          isRecorded && rule.records?.events.includes(event) === true && isNamed(rule, call)
            ? rule.records.of(call, event, { ...moment, isRepeated: false })
            : [];
        return {
          value: {
            ...given,
            event: isRecorded ? event : null,
            moment: { nowUs: view.nowUs, isRepeated, wasDenied: view.wasDenied },
          },
          allowed: call.stage === 'post' ? !view.wasDenied : !isDenied,
          additions: additions.map(({ key: own, delta }) => ({
            key: own,
            kind: 'history',
            ruleId: ID,
            delta,
            keepUs: rule.keepUs,
            isLocal: false,
          })),
        };
      },
    };
    return memory.runNow(plan);
  }
}

const ID = 'h.test';
const MARKS: MemoryKey = { parts: ['marks'], label: 'marks' };

function isNamed({ records }: MemoryRule, { step }: MemoryCall): boolean {
  const names = records?.stepNames;
  return names === undefined || names === null || names.has(step.name);
}

/** An answer with its message and metadata. */
export function toldAnswer(answer: MemoryAnswer) {
  const { matched, limit, error } = answer;
  return {
    matched,
    limit,
    error,
    message: typeof answer.message === 'function' ? answer.message() : answer.message,
    metadata: typeof answer.metadata === 'function' ? answer.metadata() : answer.metadata,
  };
}
