import { viewOf } from '../../decide/memory/foreign-memory.js';
import { MAX_ATTEMPTS } from '../../decide/memory/job.js';
import { keyedHash } from '../../decide/memory/keyed-hash.js';
import type { ForeignMemory, ForeignRequest } from '../../decide/memory/memory-types.js';
import { describeThrown } from '../../kernel/core/failure.js';
import type { MemoryPlan, StepIdentity, StepMemory } from '../../kernel/core/memory.js';
import type { RememberedStep } from '../../kernel/core/types.js';
import type { FromThread, MemoryAnswer, MemoryQuestion, ToThread } from './thread-messages.js';

interface Waiting {
  resolve(answer: MemoryAnswer): void;
  reject(error: Error): void;
}

/** The memory of a process, for a thread: it decides by what it is sent, again after each conflict. */
export function createThreadMemory(send: (message: FromThread) => void) {
  const waiting = new Map<number, Waiting>();
  let last = 0;

  function ask(question: MemoryQuestion): Promise<MemoryAnswer> {
    last += 1;
    const number = last;
    return new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      send({ memory: number, question });
    });
  }

  async function run<T>(
    plan: MemoryPlan<T>,
    hash: (text: string) => string,
    signal?: AbortSignal,
  ): Promise<T> {
    const { decide, ...load }: MemoryPlan<T> = plan;
    const request: ForeignRequest = load;
    for (let attempt = 0; attempt <= MAX_ATTEMPTS; attempt += 1) {
      // Each conflict is a step of others that was counted meanwhile. The last decision is one without the store, as the
      // process decides its own steps then.
      const loaded = await ask({ load: { ...request, isLocal: attempt === MAX_ATTEMPTS } });
      if (!('view' in loaded)) throw new Error('the memory answered a load with a commit');
      signal?.throwIfAborted();
      const { value, allowed, additions } = decide(viewOf(request, loaded.view, hash));
      if (plan.isTrial) return value;
      const made = await ask({ commit: loaded.token, additions, allowed });
      if ('result' in made && made.result === 'committed') return value;
    }
    throw new Error(`other steps were counted meanwhile ${MAX_ATTEMPTS} times`);
  }

  let trialHash: ReturnType<typeof keyedHash> | undefined;
  const ofTrials: StepMemory = {
    async ready() {
      const answer = await ask({ hashKey: true });
      if (!('hashKey' in answer)) throw new Error('the memory answered with another thing than its key');
      trialHash = keyedHash(answer.hashKey);
      return trialHash;
    },
    run(plan, signal) {
      if (trialHash === undefined) throw new Error('the memory is not ready');
      return run(plan, trialHash, signal);
    },
  };

  return {
    /** For trials, which find out only in the thread whether they need it; see `RememberedStep.isTrial`. */
    ofTrials,

    /** What a program is evaluated with. */
    remembered(identity: StepIdentity, hashKey: Uint8Array, isDenied: boolean): RememberedStep {
      const hash = keyedHash(hashKey);
      const memory: StepMemory = { ready: () => hash, run: (plan, signal) => run(plan, hash, signal) };
      return { memory, identity, isTrial: false, isDenied };
    },

    answered(number: number, answer: MemoryAnswer): void {
      const known = waiting.get(number);
      waiting.delete(number);
      if ('thrown' in answer) known?.reject(new Error(answer.thrown));
      else known?.resolve(answer);
    },
  };
}

/** Answers a thread. */
export async function answerMemory(
  memory: ForeignMemory | undefined,
  number: number,
  question: MemoryQuestion,
): Promise<ToThread> {
  try {
    if (memory === undefined) throw new Error('there is no memory');
    if ('hashKey' in question) return { memory: number, answer: { hashKey: await memory.hashKey() } };
    if ('load' in question) return { memory: number, answer: await memory.load(question.load) };
    const { commit, additions, allowed } = question;
    return { memory: number, answer: { result: await memory.commit(commit, additions, allowed) } };
  } catch (error) {
    return { memory: number, answer: { thrown: describeThrown(error) } };
  }
}
