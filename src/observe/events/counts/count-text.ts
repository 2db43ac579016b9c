import type { ControlTimes, CountBatch, CountRow } from './count-batch.js';
import { OUTCOME_SUMS, OutcomeSums } from './outcome-sums.js';

type Cell = string | number | null;

/** Rows as lists of values, for a statement or a file: of an agent, its unit, its sums, and when it was last active. */
export function rowValues({ agentName, unitS, startS, sums, lastEvaluatedS, lastDeniedS }: CountRow): Cell[] {
  return [agentName, unitS, startS, lastEvaluatedS, lastDeniedS, ...OUTCOME_SUMS.map((sum) => sums[sum])];
}

/** The first value of `rowValues` that is a sum. */
export const FIRST_SUM = 5;

export function controlValues({ controlId, lastMatchedS, lastDeniedS, lastFailedS }: ControlTimes): Cell[] {
  return [controlId, lastMatchedS, lastDeniedS, lastFailedS];
}

/** The text of a batch in a file. */
export function printBatch({ writerId, number, sinceS, rows, controls }: CountBatch): string {
  return JSON.stringify([writerId, number, sinceS, rows.map(rowValues), controls.map(controlValues)]);
}

/** Reads what `printBatch` wrote. */
export function readBatch(text: string): CountBatch {
  const [writerId, number, sinceS, rows, controls] = JSON.parse(text) as [
    string,
    number,
    number,
    [string, number, number, number, number | null, ...number[]][],
    [number, number | null, number | null, number | null][],
  ];
  return {
    writerId,
    number,
    sinceS,
    rows: rows.map(([agentName, unitS, startS, lastEvaluatedS, lastDeniedS, ...values]) => ({
      agentName,
      unitS,
      startS,
      lastEvaluatedS,
      lastDeniedS,
      sums: readSums(values),
    })),
    controls: controls.map(([controlId, lastMatchedS, lastDeniedS, lastFailedS]) => ({
      controlId,
      lastMatchedS,
      lastDeniedS,
      lastFailedS,
    })),
  };
}

function readSums(values: readonly number[]): OutcomeSums {
  const sums = new OutcomeSums();
  for (const [index, sum] of OUTCOME_SUMS.entries()) sums[sum] = values[index] ?? 0;
  return sums;
}
