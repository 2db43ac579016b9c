import type { CountBatch, CountRow } from '../../../../src/observe/events/counts/count-batch.js';
import { OutcomeSums } from '../../../../src/observe/events/counts/outcome-sums.js';

/** A row of a minute. */
export function countRow(agentName: string, startS: number, values: Partial<OutcomeSums>): CountRow {
  const sums = Object.assign(new OutcomeSums(), values);
  return {
    agentName,
    unitS: 60,
    startS,
    sums,
    lastEvaluatedS: startS,
    lastDeniedS: sums.denied > 0 ? startS : null,
  };
}

export function countBatch(writerId: string, number: number, rows: readonly CountRow[]): CountBatch {
  return { writerId, number, sinceS: 60, rows, controls: [] };
}
