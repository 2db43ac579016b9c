import { z } from 'zod';
import {
  Decimal,
  isContainer,
  type JsonValue,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { WeakStore } from '../../decide/decisions/weak-store.js';
import { TextCache } from '../../kernel/core/data-texts.js';
import type { CheckCall, Evaluator, EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createPartFactory } from '../../kernel/core/evaluator-part.js';
import { describeThrown } from '../../kernel/core/failure.js';
import type { EvaluatorResult, Stage, Step } from '../../kernel/core/types.js';
import { withTimeout } from '../../storage/database/in-time.js';
import type {
  ForeignAnswer,
  ForeignCheck,
  ForeignEvaluator,
  FromThread,
  ToThread,
} from './thread-messages.js';

/** The time limit of a check is kept by the process, which knows it; this one only ends what the process forgot. */
const LONGEST_CHECK_MS = 24 * 3_600_000;
/** Compiled evaluators that the process keeps for these checks, and their memory in bytes. */
const KEPT_PARTS = 100;
const KEPT_PART_BYTES = 16 * 1024 * 1024;

interface Waiting {
  resolve(result: EvaluatorResult): void;
  reject(error: Error): void;
}

/** The evaluators that a thread does not have: their checks are made by the process. */
export function createForeignEvaluators(
  known: readonly ForeignEvaluator[],
  send: (message: FromThread) => void,
) {
  const waiting = new Map<number, Waiting>();
  let last = 0;

  function check(
    evaluator: string,
    config: string,
    data: JsonValue,
    { detail, place, signal }: CheckCall,
  ): Promise<EvaluatorResult> {
    last += 1;
    const number = last;
    const sent = hasDecimals(data) ? { json: stringifyJson(data) } : { value: data };
    signal.addEventListener('abort', () => send({ drop: number }), { once: true });
    return new Promise<EvaluatorResult>((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      send({ ask: { check: number, evaluator, config, data: sent, detail, place } });
    });
  }

  return {
    evaluators: known.map(
      ({ name, external }): Evaluator => ({
        name,
        version: '',
        description: '',
        requiresApiKey: false,
        timeoutMs: LONGEST_CHECK_MS,
        external,
        configSchema: z.unknown(),
        configJsonSchema: {},
        compile(config) {
          const text = stringifyJson(config);
          return { evaluate: (data, call) => check(name, text, data, call) };
        },
      }),
    ),

    /** Settles a check. Its result is validated by the core, as that of any evaluator. */
    answered(number: number, answer: ForeignAnswer): void {
      const check = waiting.get(number);
      waiting.delete(number);
      if (check === undefined) return;
      if ('thrown' in answer) check.reject(new Error(answer.thrown));
      else check.resolve(parseStoredJson(answer.result) as unknown as EvaluatorResult);
    },
  };
}

/** Numbers that no double holds are objects of a class, which does not survive the way to another thread. */
function hasDecimals(value: JsonValue): boolean {
  if (value instanceof Decimal) return true;
  return isContainer(value) && Object.values(value).some(hasDecimals);
}

/** The evaluators that only the process has are given the selected data, and nothing else of an evaluation. */
function notHere(what: string): never {
  throw new Error(`the ${what} of the evaluation is in another thread`);
}

/** Makes the checks of foreign evaluators for a thread, with the time limits of the process. */
export function createForeignChecks(registry: EvaluatorRegistry) {
  const partOf = createPartFactory(registry, new WeakStore({ keep: KEPT_PARTS, keepBytes: KEPT_PART_BYTES }));
  const running = new Map<number, AbortController>();

  async function answerOf(check: ForeignCheck, signal: AbortSignal): Promise<ForeignAnswer> {
    const { evaluator, config, data, detail, place } = check;
    const texts = new TextCache();
    const call: CheckCall = {
      place,
      detail,
      signal,
      textsOf: (some) => texts.of(some),
      agent: null,
      get step(): Step {
        return notHere('step');
      },
      get stage(): Stage {
        return notHere('stage');
      },
      nowMs: () => notHere('time'),
    };
    try {
      const { compiled, timeoutMs } = partOf(evaluator, parseStoredJson(config) as Record<string, JsonValue>);
      const value = 'json' in data ? parseStoredJson(data.json) : data.value;
      const result = await withTimeout(Promise.resolve(compiled.evaluate(value, call)), timeoutMs);
      return { result: stringifyJson((result ?? null) as unknown as JsonValue) };
    } catch (thrown) {
      return { thrown: describeThrown(thrown) };
    }
  }

  return {
    /** Whether a check runs. */
    get isBusy(): boolean {
      return running.size > 0;
    },

    async ask(check: ForeignCheck, reply: (message: ToThread) => void): Promise<void> {
      const aborter = new AbortController();
      running.set(check.check, aborter);
      const answer = await answerOf(check, aborter.signal);
      running.delete(check.check);
      // A check that ran out of time may still be running: it is no longer awaited.
      aborter.abort();
      reply({ answered: check.check, answer });
    },

    /** The answer is no longer awaited. */
    drop(number: number): void {
      running.get(number)?.abort();
    },

    /** Ends the checks of a thread that was lost. */
    dropAll(): void {
      for (const aborter of running.values()) aborter.abort();
      running.clear();
    },
  };
}
