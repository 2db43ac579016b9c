import {
  mismatchSentence,
  type SchemaMismatch,
  type StepComparison,
} from '../../kernel/core/step-schemas.js';
import type { Stage, Step, Verdict } from '../../kernel/core/types.js';

/** What came of the comparison of a step with its registered schemas. */
export interface ComparedStep {
  readonly mismatch: SchemaMismatch | null;
  /** Whether the step is denied because of it. */
  readonly denies: boolean;
  /** The work, in search steps. */
  readonly spent: number;
}

export function compareStep({ mode, schemas }: StepComparison, step: Step, stage: Stage): ComparedStep {
  let spent = 0;
  const mismatch = schemas.compare(step, stage, (steps) => {
    spent += steps;
  });
  return { ...comparedStep({ mode }, mismatch), spent };
}

/** What came of a comparison elsewhere. */
export function comparedStep(
  { mode }: Pick<StepComparison, 'mode'>,
  mismatch: SchemaMismatch | null,
): ComparedStep {
  return { mismatch, denies: mismatch !== null && mode === 'enforce', spent: 0 };
}

/** The verdict of the controls; denied if the comparison denies the step. */
export function withComparison(verdict: Verdict, compared: ComparedStep | null, { name }: Step): Verdict {
  if (compared === null || compared.mismatch === null || !compared.denies) return verdict;
  const sentence = mismatchSentence(name, compared.mismatch);
  const reason = verdict.reason === null ? sentence : `${sentence}; ${verdict.reason}`;
  return { ...verdict, is_safe: false, reason };
}
