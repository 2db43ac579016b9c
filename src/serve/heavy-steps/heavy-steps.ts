import { Worker } from 'node:worker_threads';
import {
  type DuplicateMembers,
  parseStoredJson,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { ownMemory, SupervisedWorker } from '../../../packages/supervised-worker/src/index.js';
import type { MessageReader } from '../../contract/call/handler.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { HeldStep } from '../../decide/decisions/held-step.js';
import type { ForeignMemory } from '../../decide/memory/memory-types.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { ControlFailure } from '../../kernel/core/linked-control.js';
import type { StepIdentity } from '../../kernel/core/memory.js';
import type { StepComparison, StepSchemaMode, StepSchemas } from '../../kernel/core/step-schemas.js';
import type { ControlProgram, Step, Verdict } from '../../kernel/core/types.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';
import type { HeldExplain } from '../../observe/explain/explain-service.js';
import { unavailable } from '../../storage/database/errors.js';
import type { EvaluationRpc, HeavySteps, HeldMessage } from '../evaluation/heavy-steps.js';
import { unpackError } from '../event-reading/sent-error.js';
import type { EvaluationFields } from '../wire/evaluation-codec.js';
import { addCounts } from './check-counters.js';
import { createExplainReader } from './explain-reader.js';
import { createForeignChecks } from './foreign-evaluators.js';
import { answerMemory } from './thread-memory.js';
import type {
  ForeignEvaluator,
  FromThread,
  JobMemory,
  PassOn,
  ReadItem,
  StepJob,
  StepThreadData,
  ThreadAnswer,
  ToThread,
} from './thread-messages.js';

/**
 * Smallest messages that are passed on, in bytes: reading 64 KB and searching them for ten controls takes some two
 * milliseconds. A message with several evaluations may be larger: each of its steps is small, and passing each one on
 * costs more than evaluating it.
 */
const MIN_STEP_BYTES = 64 * 1024;
const MIN_BYTES: Readonly<Record<EvaluationRpc, number>> = {
  evaluate: MIN_STEP_BYTES,
  evaluateStream: MIN_STEP_BYTES,
  evaluateBatch: 256 * 1024,
};
/** Longest time for the thread to load its modules, and pause after one that could not, in milliseconds. */
const START_LIMIT_MS = 60_000;
const RESTART_PAUSE_MS = 60_000;
/** Longest time without an answer to what was passed on, in milliseconds: a hundred times the largest step. */
const SILENCE_LIMIT_MS = 120_000;
/** In MB. The rest of the heap has the limit of the process. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16 };

const ENTRY = new URL('./step-thread.js', import.meta.url);

export interface HeavyStepsOptions {
  readonly registry: EvaluatorRegistry;
  /** Evaluators that the thread has itself, by name, with the meters to which it adds. */
  readonly meters: ReadonlyMap<string, EvaluatorMeter>;
  /** The stored controls of a program; undefined for a program that the service does not know. */
  readonly definitionsOf: (program: ControlProgram) => readonly StoredDefinition[] | undefined;
  /** The text of schemas; undefined for those with which no step is compared. */
  readonly schemasText: (schemas: StepSchemas) => string | undefined;
  /** How steps of an agent with this setting are compared with its schemas. */
  readonly modeOf: (own: StepSchemaMode | null) => StepSchemaMode;
  readonly emptyDenies: boolean;
  readonly keepEvaluators: number;
  readonly duplicates: DuplicateMembers;
  readonly onFailure: (failure: ControlFailure) => void;
  readonly log: { debug(facts: object, message: string): void };
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** What is kept of earlier steps; without it, checks with memory are errors. */
  readonly memory?: ForeignMemory | undefined;
  /** The module of the thread. */
  readonly entry?: URL | undefined;
}

/** The thread for large messages, as the application starts and ends it. */
export interface HeavyStepThread extends HeavySteps {
  /** Reads large messages of Explain in the thread. */
  readonly explain: MessageReader<HeldExplain>;
  /** Fails what it works at, and ends it. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: ThreadAnswer): void;
  reject(error: Error): void;
}

/**
 * Large messages are read by one thread, which keeps their steps, compiles the programs it is asked for, and evaluates.
 * It starts with the first of them, which is still read here, as is every message while it does not run. When it is
 * lost, what it worked at fails with SERVICE_UNAVAILABLE.
 */
export function createHeavySteps(options: HeavyStepsOptions): HeavyStepThread {
  const { registry, meters, definitionsOf, duplicates, failures, now } = options;
  const foreign: ForeignEvaluator[] = [...registry.values()]
    .filter(({ name }) => !meters.has(name))
    .map(({ name, external = false }) => ({ name, external }));
  const workerData: StepThreadData = {
    emptyDenies: options.emptyDenies,
    foreign,
    keepEvaluators: options.keepEvaluators,
  };
  const checks = createForeignChecks(registry);
  const waiting = new Map<number, Waiting>();
  let worker: SupervisedWorker<never> | undefined;
  let isReady = false;
  let isClosed = false;
  let restartAtMs = Number.NEGATIVE_INFINITY;
  /** The numbers of programs and schemas that the current thread was given. */
  let numbers = new WeakMap<ControlProgram | StepSchemas, number>();
  let last = 0;
  let jobs: StepJob[] = [];
  let silence: NodeJS.Timeout | undefined;

  function post(message: ToThread, transfer?: readonly ArrayBuffer[]): void {
    worker?.post(message, transfer);
  }

  function received(message: FromThread): void {
    if ('answers' in message) {
      silence?.refresh();
      for (const counts of message.counts) {
        const meter = meters.get(counts.name);
        if (meter !== undefined) addCounts(meter, counts);
      }
      for (const answer of message.answers) settle(answer);
    } else if ('ask' in message) {
      void checks.ask(message.ask, post);
    } else if ('drop' in message) {
      checks.drop(message.drop);
    } else if ('memory' in message) {
      const asking = worker;
      void answerMemory(options.memory, message.memory, message.question).then((answer) => {
        // Another thread gives the same numbers to other questions.
        if (worker === asking) post(answer);
      });
    } else options.onFailure(message.problem);
  }

  function settle(answer: ThreadAnswer): void {
    const known = waiting.get(answer.to);
    waiting.delete(answer.to);
    if (waiting.size === 0) {
      clearInterval(silence);
      silence = undefined;
    }
    if (known === undefined) return;
    if ('error' in answer) known.reject(unpackError(answer.error));
    else known.resolve(answer);
  }

  function lost(reason: Error): void {
    worker = undefined;
    isReady = false;
    jobs = [];
    numbers = new WeakMap();
    clearInterval(silence);
    silence = undefined;
    checks.dropAll();
    const failed = [...waiting.values()];
    waiting.clear();
    const error = unavailable('The step could not be evaluated: the thread for large steps ended.', reason);
    for (const one of failed) one.reject(error);
  }

  function launch(): void {
    if (worker !== undefined || isClosed || now() < restartAtMs) return;
    worker = new SupervisedWorker<never>({
      start: () => new Worker(options.entry ?? ENTRY, { workerData, resourceLimits: RESOURCE_LIMITS }),
      startLimit: { ms: START_LIMIT_MS, problem: 'the thread could not be started in time' },
      onReady() {
        isReady = true;
        options.log.debug({}, 'the thread for large steps takes messages');
      },
      onNote: (note) => received(note as FromThread),
      onEnd({ error, code, wasReady }) {
        const reason = error ?? new Error(`the thread ended with code ${code}`);
        if (!wasReady) restartAtMs = now() + RESTART_PAUSE_MS;
        if (!isClosed) failures.failed('step thread', 'the thread for large steps ended', reason);
        lost(reason);
      },
    });
  }

  /** The end of what was passed on with number `to`. */
  function answerTo(to: number): Promise<ThreadAnswer> {
    silence ??= setInterval(() => {
      // It may wait for an evaluator of this process.
      if (!checks.isBusy) void worker?.kill(new Error(`no answer for ${SILENCE_LIMIT_MS / 1000} s`));
    }, SILENCE_LIMIT_MS).unref();
    return new Promise((resolve, reject) => waiting.set(to, { resolve, reject }));
  }

  const ask: PassOn = (message, transfer) => {
    if (worker === undefined) throw stepLost();
    last += 1;
    const number = last;
    post(message(number), transfer);
    return { number, answer: answerTo(number) };
  };

  /** The number of a program, which the thread is given before it is used. */
  function numberOf(program: ControlProgram): number {
    const known = numbers.get(program);
    if (known !== undefined) return known;
    const controls = definitionsOf(program);
    if (controls === undefined) throw new Error('a program was not made by this service');
    last += 1;
    post({ program: last, controls });
    numbers.set(program, last);
    return last;
  }

  /** The same for schemas; null for those with which no step is compared. */
  function numberOfSchemas(schemas: StepSchemas): number | null {
    const known = numbers.get(schemas);
    if (known !== undefined) return known;
    const text = options.schemasText(schemas);
    if (text === undefined) return null;
    last += 1;
    post({ schemas: last, text });
    numbers.set(schemas, last);
    return last;
  }

  /** What the thread needs for a program with memory. */
  async function jobMemory(
    identity: StepIdentity | null,
    comparison: StepComparison | null,
  ): Promise<JobMemory | null> {
    if (identity === null || options.memory === undefined) return null;
    return {
      identity,
      hashKey: await options.memory.hashKey(),
      enforcesSchemas: comparison?.mode === 'enforce',
    };
  }

  /** Evaluations of one turn are passed on together: a batch has many. */
  function passOn(job: StepJob): void {
    jobs.push(job);
    if (jobs.length > 1) return;
    queueMicrotask(() => {
      const ready = jobs;
      jobs = [];
      if (ready.length > 0) post({ evaluate: ready });
    });
  }

  function heldStep(message: number, index: number): HeldStep {
    return {
      async evaluate(program, comparison, stage, detail, { signal }, agent, identity) {
        const remembered = await jobMemory(identity, comparison);
        const facts = agent === null ? null : stringifyJson({ ...agent });
        // A thread keeps few programs: what it has dropped is passed on once more.
        for (let attempt = 1; attempt <= 2; attempt += 1) {
          // A caller that left while its message was read.
          signal.throwIfAborted();
          if (worker === undefined) break;
          const schemas = comparison && numberOfSchemas(comparison.schemas);
          const number = numberOf(program);
          const given = { message, index, program: number, schemas, stage, detail, agent: facts, remembered };
          last += 1;
          const job = last;
          passOn({ job, ...given });
          const abort = (): void => post({ abort: job });
          signal.addEventListener('abort', abort, { once: true });
          const answer = await answerTo(job).finally(() => signal.removeEventListener('abort', abort));
          if ('verdict' in answer) {
            const verdict = parseStoredJson(answer.verdict) as unknown as Verdict;
            // Schemas that are not known are the same for every step.
            const isUnknown = comparison !== null && schemas === null;
            return {
              verdict,
              mismatch: isUnknown ? comparison.schemas.compare(NO_STEP, stage, () => {}) : answer.mismatch,
            };
          }
          numbers.delete(program);
          if (comparison !== null) numbers.delete(comparison.schemas);
        }
        throw stepLost();
      },
      async read() {
        const answer = await ask((give) => ({ give, message, index })).answer;
        if (!('step' in answer)) throw stepLost();
        return parseStoredJson(answer.step) as unknown as Step;
      },
    };
  }

  function fieldsOf({ detail, read }: ReadItem, message: number, index: number): EvaluationFields {
    if ('error' in read) return { ...NO_FIELDS, detail, read: { error: unpackError(read.error) } };
    const step = { type: read.type, name: read.name, input: null, output: null, context: null };
    return {
      ...NO_FIELDS,
      detail,
      read: { request: { ...read.request, step, held: heldStep(message, index) } },
    };
  }

  function takes(bytes: number, least: number): boolean {
    if (bytes < least) return false;
    launch();
    return isReady;
  }

  return {
    explain: createExplainReader(
      (bytes) => takes(bytes, MIN_STEP_BYTES),
      ask,
      (number) => post({ release: number }),
      stepLost,
      duplicates,
      options.modeOf,
    ),
    takes: (rpc, bytes) => takes(bytes, MIN_BYTES[rpc]),
    async read({ rpc, form, bytes }): Promise<HeldMessage> {
      if (!isReady) throw unavailable('The step could not be read: the thread for large steps ended.');
      const own = ownMemory(bytes);
      const { number, answer } = ask((read) => ({ read, rpc, form, bytes: own, duplicates }), [own.buffer]);
      const made = await answer;
      if (!('message' in made))
        throw new Error('the thread for large steps answered a message with a verdict');
      const { id, cancel, count, items } = made.message;
      return {
        id,
        cancel,
        evaluations:
          items.length === count
            ? items.map((item, index) => fieldsOf(item, number, index))
            : new Array<EvaluationFields>(count).fill({ ...NO_FIELDS, detail: 0 }),
        release: () => post({ release: number }),
      };
    },
    async close() {
      isClosed = true;
      await worker?.kill(unavailable('The service is shutting down.'));
    },
  };
}

const stepLost = () =>
  unavailable('The step could not be evaluated: the thread for large steps has lost it.');

const NO_STEP: Step = { type: '', name: '', input: null, output: null, context: null };

const NO_FIELDS: Omit<EvaluationFields, 'detail' | 'read'> = {
  agentName: '',
  stage: 0,
  minRevision: 0,
  targetType: undefined,
  targetId: undefined,
  options: null,
  step: undefined,
  stepJson: undefined,
};
