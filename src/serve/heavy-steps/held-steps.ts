import { parseStoredJson, stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { HeldStep } from '../../decide/decisions/held-step.js';
import type { ForeignMemory } from '../../decide/memory/memory-types.js';
import type { StepIdentity } from '../../kernel/core/memory.js';
import type { StepComparison, StepSchemas } from '../../kernel/core/step-schemas.js';
import type { ControlProgram, Step, Verdict } from '../../kernel/core/types.js';
import { stepLost, type ThreadLink } from './thread-link.js';
import type { JobMemory, StepJob } from './thread-messages.js';

const NO_STEP: Step = { type: '', name: '', input: null, output: null, context: null };

export interface HeldStepsOptions {
  /** The stored controls of a program; undefined for a program that the service does not know. */
  readonly definitionsOf: (program: ControlProgram) => readonly StoredDefinition[] | undefined;
  /** The text of schemas; undefined for those with which no step is compared. */
  readonly schemasText: (schemas: StepSchemas) => string | undefined;
  /** What is kept of earlier steps; without it, checks with memory are errors. */
  readonly memory?: ForeignMemory | undefined;
}

/** Steps that the thread holds: it evaluates them, and gives them back. */
export function createHeldSteps(link: ThreadLink, { definitionsOf, schemasText, memory }: HeldStepsOptions) {
  /** The numbers of programs and schemas that the current thread was given. */
  let numbers = new WeakMap<ControlProgram | StepSchemas, number>();
  let jobs: StepJob[] = [];

  /** The number of a program, which the thread is given before it is used. */
  function numberOf(program: ControlProgram): number {
    const known = numbers.get(program);
    if (known !== undefined) return known;
    const controls = definitionsOf(program);
    if (controls === undefined) throw new Error('a program was not made by this service');
    const number = link.next();
    link.post({ program: number, controls });
    numbers.set(program, number);
    return number;
  }

  /** The same for schemas; null for those with which no step is compared. */
  function numberOfSchemas(schemas: StepSchemas): number | null {
    const known = numbers.get(schemas);
    if (known !== undefined) return known;
    const text = schemasText(schemas);
    if (text === undefined) return null;
    const number = link.next();
    link.post({ schemas: number, text });
    numbers.set(schemas, number);
    return number;
  }

  /** What the thread needs for a program with memory. */
  async function jobMemory(
    identity: StepIdentity | null,
    comparison: StepComparison | null,
  ): Promise<JobMemory | null> {
    if (identity === null || memory === undefined) return null;
    return {
      identity,
      hashKey: await memory.hashKey(),
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
      if (ready.length > 0) link.post({ evaluate: ready });
    });
  }

  function step(message: number, index: number): HeldStep {
    return {
      async evaluate(program, comparison, stage, detail, { signal }, agent, identity) {
        const remembered = await jobMemory(identity, comparison);
        const facts = agent === null ? null : stringifyJson({ ...agent });
        // A thread keeps few programs: what it has dropped is passed on once more.
        for (let attempt = 1; attempt <= 2; attempt += 1) {
          // A caller that left while its message was read.
          signal.throwIfAborted();
          if (link.thread === undefined) break;
          const schemas = comparison && numberOfSchemas(comparison.schemas);
          const number = numberOf(program);
          const given = { message, index, program: number, schemas, stage, detail, agent: facts, remembered };
          const job = link.next();
          passOn({ job, ...given });
          const abort = (): void => link.post({ abort: job });
          signal.addEventListener('abort', abort, { once: true });
          const answer = await link.answerTo(job).finally(() => signal.removeEventListener('abort', abort));
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
        const answer = await link.ask((give) => ({ give, message, index })).answer;
        if (!('step' in answer)) throw stepLost();
        return parseStoredJson(answer.step) as unknown as Step;
      },
    };
  }

  return {
    step,
    /** The next thread was given nothing. */
    threadLost(): void {
      jobs = [];
      numbers = new WeakMap();
    },
  };
}
