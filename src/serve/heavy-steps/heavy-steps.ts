import type { DuplicateMembers } from '../../../packages/exact-json/src/index.js';
import { ownMemory } from '../../../packages/supervised-worker/src/index.js';
import type { MessageReader } from '../../contract/call/handler.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { ControlFailure } from '../../kernel/core/linked-control.js';
import type { StepSchemaMode } from '../../kernel/core/step-schemas.js';
import type { EvaluatorMeter } from '../../kernel/evaluators/metered.js';
import type { HeldExplain } from '../../observe/explain/explain-service.js';
import { unavailable } from '../../storage/database/errors.js';
import type { EvaluationRpc, HeavySteps, HeldMessage } from '../evaluation/heavy-steps.js';
import { unpackError } from '../event-reading/sent-error.js';
import type { EvaluationFields } from '../wire/evaluation-codec.js';
import { addCounts } from './check-counters.js';
import { createExplainReader } from './explain-reader.js';
import { createForeignChecks } from './foreign-evaluators.js';
import { createHeldSteps, type HeldStepsOptions } from './held-steps.js';
import { stepLost, ThreadLink, type ThreadLinkOptions } from './thread-link.js';
import { answerMemory } from './thread-memory.js';
import type { ForeignEvaluator, FromThread, ReadItem, StepThreadData } from './thread-messages.js';

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

export interface HeavyStepsOptions extends ThreadLinkOptions, HeldStepsOptions {
  readonly registry: EvaluatorRegistry;
  /** Evaluators that the thread has itself, by name, with the meters to which it adds. */
  readonly meters: ReadonlyMap<string, EvaluatorMeter>;
  /** How steps of an agent with this setting are compared with its schemas. */
  readonly modeOf: (own: StepSchemaMode | null) => StepSchemaMode;
  readonly emptyDenies: boolean;
  readonly keepEvaluators: number;
  readonly duplicates: DuplicateMembers;
  readonly onFailure: (failure: ControlFailure) => void;
}

/** The thread for large messages, as the application starts and ends it. */
export interface HeavyStepThread extends HeavySteps {
  /** Reads large messages of Explain in the thread. */
  readonly explain: MessageReader<HeldExplain>;
  /** Fails what it works at, and ends it. */
  close(): Promise<void>;
}

/**
 * Large messages are read by one thread, which keeps their steps, compiles the programs it is asked for, and evaluates.
 * It starts with the first of them, which is still read here, as is every message while it does not run. When it is
 * lost, what it worked at fails with SERVICE_UNAVAILABLE.
 */
export function createHeavySteps(options: HeavyStepsOptions): HeavyStepThread {
  const { registry, meters, duplicates } = options;
  const foreign: ForeignEvaluator[] = [...registry.values()]
    .filter(({ name }) => !meters.has(name))
    .map(({ name, external = false }) => ({ name, external }));
  const workerData: StepThreadData = {
    emptyDenies: options.emptyDenies,
    foreign,
    keepEvaluators: options.keepEvaluators,
  };
  const checks = createForeignChecks(registry);
  const link = new ThreadLink(options, { workerData, isAwaited: () => checks.isBusy, received, lost });
  const held = createHeldSteps(link, options);

  function received(message: FromThread): void {
    if ('answers' in message) {
      for (const counts of message.counts) {
        const meter = meters.get(counts.name);
        if (meter !== undefined) addCounts(meter, counts);
      }
    } else if ('ask' in message) {
      void checks.ask(message.ask, (answer) => link.post(answer));
    } else if ('drop' in message) {
      checks.drop(message.drop);
    } else if ('memory' in message) {
      const asking = link.thread;
      void answerMemory(options.memory, message.memory, message.question).then((answer) => {
        // Another thread gives the same numbers to other questions.
        if (link.thread === asking) link.post(answer);
      });
    } else options.onFailure(message.problem);
  }

  function lost(): void {
    held.threadLost();
    checks.dropAll();
  }

  function fieldsOf({ detail, read }: ReadItem, message: number, index: number): EvaluationFields {
    if ('error' in read) return { ...NO_FIELDS, detail, read: { error: unpackError(read.error) } };
    const step = { type: read.type, name: read.name, input: null, output: null, context: null };
    return {
      ...NO_FIELDS,
      detail,
      read: { request: { ...read.request, step, held: held.step(message, index) } },
    };
  }

  function takes(bytes: number, least: number): boolean {
    if (bytes < least) return false;
    link.launch();
    return link.isReady;
  }

  return {
    explain: createExplainReader(
      (bytes) => takes(bytes, MIN_STEP_BYTES),
      link.ask,
      (number) => link.post({ release: number }),
      stepLost,
      duplicates,
      options.modeOf,
    ),
    takes: (rpc, bytes) => takes(bytes, MIN_BYTES[rpc]),
    async read({ rpc, form, bytes }): Promise<HeldMessage> {
      if (!link.isReady) throw unavailable('The step could not be read: the thread for large steps ended.');
      const own = ownMemory(bytes);
      const { number, answer } = link.ask(
        (read) => ({ read, rpc, form, bytes: own, duplicates }),
        [own.buffer],
      );
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
        release: () => link.post({ release: number }),
      };
    },
    close: () => link.close(),
  };
}

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
