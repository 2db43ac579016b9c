/** The thread that reads large messages of evaluations, keeps their steps and evaluates them. See `ToThread`. */
import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { type JsonObject, parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { runInBackground } from '../../contract/runtime/background-thread.js';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { createControlLibrary } from '../../decide/decisions/control-library.js';
import { createExecutionIds } from '../../decide/decisions/execution-id.js';
import { readStepSchemas } from '../../decide/decisions/step-schema-library.js';
import { linkProgram } from '../../kernel/core/program.js';
import type { StepSchemas } from '../../kernel/core/step-schemas.js';
import type { AgentFacts, ControlProgram, SizedPart, Step, Verdict } from '../../kernel/core/types.js';
import { builtinEvaluators, createRegistry } from '../../kernel/evaluators/load-evaluators.js';
import { loadDetectors } from '../../kernel/evaluators/optional-evaluators.js';
import { withTimeout } from '../../storage/database/in-time.js';
import { packError } from '../event-reading/sent-error.js';
import { createCheckCounters } from './check-counters.js';
import { createForeignEvaluators } from './foreign-evaluators.js';
import { type ReadEvaluations, readEvaluations } from './read-message.js';
import { createThreadMemory } from './thread-memory.js';
import type {
  FromThread,
  MadeAnswer,
  ReadItem,
  ReadMessage,
  StepJob,
  StepThreadData,
  ThreadAnswer,
  ToThread,
} from './thread-messages.js';
import { createThreadTrials } from './thread-trials.js';

/** Programs, and as many schemas, that are kept, and the memory of each kind in bytes. */
const KEPT = {
  entries: 64,
  weight: 128 * 1024 * 1024,
  weightOf: ({ sizeBytes }: SizedPart) => sizeBytes,
};

const { emptyDenies, foreign, keepEvaluators } = workerData as StepThreadData;
runInBackground();

const send = (message: FromThread): void => parentPort?.postMessage(message);
const counters = createCheckCounters();
const others = createForeignEvaluators(foreign, send);
const memory = createThreadMemory(send);
// The process has told what is missing.
const detectors = await loadDetectors({ warn: () => {} });
const own = [...builtinEvaluators, ...detectors.evaluators].map(counters.counted);
const registry = createRegistry([...own, ...others.evaluators]);
const library = createControlLibrary({ registry, keepEvaluators });
const newExecutionId = createExecutionIds();
const trials = createThreadTrials({ registry, library, newExecutionId, memory: memory.ofTrials });

const messages = new Map<number, ReadEvaluations>();
const programs = new BoundedMap<number, ControlProgram>(KEPT);
const schemas = new BoundedMap<number, StepSchemas>(KEPT);
const running = new Map<number, AbortController>();
let answers: ThreadAnswer[] = [];

/** Answers made in the same turn are sent together: a batch has many. */
function answer(made: ThreadAnswer): void {
  answers.push(made);
  if (answers.length > 1) return;
  queueMicrotask(() => {
    const ready = answers;
    answers = [];
    send({ answers: ready, counts: counters.take() });
  });
}

function described({ id, cancel, count, items }: ReadEvaluations): ReadMessage {
  return {
    id,
    cancel,
    count,
    items: items.map(({ detail, read }): ReadItem => {
      if ('error' in read) return { detail, read: { error: packError(read.error) } };
      const { step, ...request } = read.request;
      return { detail, read: { request, type: step.type, name: step.name } };
    }),
  };
}

function link(number: number, controls: readonly StoredDefinition[]): void {
  const linkable = controls.map(({ id, name, data }) => ({ id, name, prepared: library.prepare(data) }));
  const onFailure: NonNullable<Parameters<typeof linkProgram>[1]['onFailure']> = (problem) =>
    send({ problem });
  const program = linkProgram(linkable, {
    newExecutionId,
    emptyDenies,
    onFailure,
    withTimeout,
    nextTurn: setImmediate,
    now: Date.now,
  });
  programs.set(number, program);
}

function heldStep(message: number, index: number): Step | undefined {
  const read = messages.get(message)?.items[index]?.read;
  return read !== undefined && 'request' in read ? read.request.step : undefined;
}

function evaluate(given: StepJob): void {
  const { job, message, index, program: number, schemas: compared, stage, detail } = given;
  const step = heldStep(message, index);
  const program = programs.use(number);
  const registered = compared === null ? null : schemas.use(compared);
  if (program === undefined || step === undefined || registered === undefined) {
    answer({ to: job, isMissing: true });
    return;
  }
  let spent = 0;
  const mismatch =
    registered?.compare(step, stage, (steps) => {
      spent += steps;
    }) ?? null;
  const caller = new AbortController();
  const conclude = (verdict: Verdict): void =>
    answer({ to: job, verdict: stringifyJson(verdict as unknown as JsonObject), mismatch });
  const agent = given.agent === null ? null : (parseStoredJson(given.agent) as unknown as AgentFacts);
  const remembered =
    given.remembered === null
      ? null
      : memory.remembered(
          given.remembered.identity,
          given.remembered.hashKey,
          mismatch !== null && given.remembered.enforcesSchemas,
        );
  const verdict = program.evaluate(step, stage, detail, caller, spent, agent, remembered);
  if (!(verdict instanceof Promise)) {
    conclude(verdict);
    return;
  }
  running.set(job, caller);
  void verdict.then((late) => {
    running.delete(job);
    conclude(late);
  });
}

/** Answers with what is made, or why it cannot be. */
async function answered(to: number, make: () => MadeAnswer | Promise<MadeAnswer>): Promise<void> {
  try {
    answer({ to, ...(await make()) });
  } catch (error) {
    answer({ to, error: packError(error) });
  }
}

parentPort?.on('message', (message: ToThread) => {
  if ('read' in message) {
    void answered(message.read, () => {
      const read = readEvaluations(message, message.duplicates);
      messages.set(message.read, read);
      return { message: described(read) };
    });
  } else if ('explain' in message) {
    void answered(message.explain, () => trials.read(message));
  } else if ('tried' in message) {
    void answered(message.tried, async () => {
      const explanation = await trials.tried(message);
      return explanation === undefined ? { isMissing: true } : { explanation };
    });
  } else if ('evaluate' in message) {
    for (const job of message.evaluate) evaluate(job);
  } else if ('give' in message) {
    const step = heldStep(message.message, message.index);
    if (step === undefined) answer({ to: message.give, isMissing: true });
    else answer({ to: message.give, step: stringifyJson({ ...step }) });
  } else if ('program' in message) {
    link(message.program, message.controls);
  } else if ('schemas' in message) {
    schemas.set(message.schemas, readStepSchemas(message.text));
  } else if ('release' in message) {
    messages.delete(message.release);
    trials.release(message.release);
  } else if ('abort' in message) {
    running.get(message.abort)?.abort();
  } else if ('memory' in message) {
    memory.answered(message.memory, message.answer);
  } else {
    others.answered(message.answered, message.answer);
  }
});
parentPort?.postMessage({ ready: true });
