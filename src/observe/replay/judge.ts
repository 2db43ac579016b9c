import { compareStep, withComparison } from '../../decide/decisions/compared-step.js';
import type { VerdictOutcome } from '../../decide/decisions/evaluation-options.js';
import { liftStep } from '../../decide/decisions/lifted-step.js';
import { outcomeOf } from '../../decide/decisions/revised-verdict.js';
import type { StepMemory } from '../../kernel/core/memory.js';
import type { ControlProgram, Stage, Verdict } from '../../kernel/core/types.js';
import type { SampledStep } from '../samples/sample-content.js';
import type { ReplayedPrograms } from './agent-sets.js';

/** A verdict about a sample. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly outcome: VerdictOutcome;
  /** Of the evaluation, in microseconds. */
  readonly timeUs: number;
}

export interface JudgeOptions {
  readonly namespace: string;
  readonly memory: StepMemory;
  readonly signal: AbortSignal;
}

/** Evaluates a sample by a program as `evaluation-service.ts` does, without asking people and without memory. */
export async function judge(
  program: ControlProgram,
  { agent, comparison }: Pick<ReplayedPrograms, 'agent' | 'comparison'>,
  { step, sessionId, accepts }: SampledStep,
  stage: Stage,
  { namespace, memory, signal }: JudgeOptions,
): Promise<Judgement> {
  const began = performance.now();
  const compared = comparison === null ? null : compareStep(comparison, step, stage);
  const denies = compared?.denies === true;
  const facts = program.readsAgent === 'nothing' ? null : agent;
  const identity = { namespace, agent: agent.name, sessionId, stepId: null, error: null };
  const remembered = program.remembers ? { memory, identity, isTrial: true, isDenied: denies } : null;
  const caller = { signal };
  const spent = compared?.spent ?? 0;
  const evaluated = program.evaluate(step, stage, 'verdict', caller, spent, facts, remembered);
  // Most are there at once.
  const verdict = evaluated instanceof Promise ? await evaluated : evaluated;
  signal.throwIfAborted();
  const lifts = denies ? null : (program.lifts?.of(verdict) ?? null);
  if (lifts === null) {
    const made = withComparison(verdict, compared, step);
    const outcome = denies ? 'deny' : outcomeOf(verdict, accepts ?? undefined);
    return { verdict: made, outcome, timeUs: (performance.now() - began) * 1_000 };
  }
  const lifted = await liftStep(
    {
      program,
      step,
      stage,
      agent: facts,
      signal,
      accepts: accepts ?? undefined,
      tried: (one, without) => program.evaluate(one, stage, 'verdict', caller, 0, facts, remembered, without),
      foreseen: (_one, _without, known) => known,
      counted: (_one, _without, known) => known,
      refused: async () => {},
      ask: null,
    },
    verdict,
    lifts,
  );
  return { verdict: lifted.verdict, outcome: lifted.outcome, timeUs: (performance.now() - began) * 1_000 };
}
