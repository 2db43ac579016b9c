/** Numbers of evaluations by what came of them, in the order of the columns; see `EvaluationCounts` of the API. */
export const OUTCOME_SUMS = [
  'evaluated',
  'denied',
  'steered',
  'denied_by_error',
  'observed',
  'failed',
] as const;
export type OutcomeSum = (typeof OUTCOME_SUMS)[number];

/** A class, not an object of any shape: it is advanced by every evaluation. */
export class OutcomeSums {
  evaluated = 0;
  denied = 0;
  steered = 0;
  denied_by_error = 0;
  observed = 0;
  failed = 0;

  add(other: Readonly<OutcomeSums>): void {
    for (const sum of OUTCOME_SUMS) this[sum] += other[sum];
  }
}
