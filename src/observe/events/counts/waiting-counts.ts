import { DAY, HOUR, MINUTE } from '../store/rollup-levels.js';
import { type ControlTimes, type CountRow, laterOf } from './count-batch.js';
import { type CountedMinute, DENIED, FAILED, MATCHED } from './evaluation-collector.js';
import { OutcomeSums } from './outcome-sums.js';

/** Most rows that wait; then minutes become hours, hours days, and the oldest are lost. Some 30 MB. */
const MAX_ROWS = 100_000;

/** Counts that wait to be stored: one row for each agent and minute. Their memory is bounded, however long they wait. */
export class WaitingCounts {
  readonly #maxRows: number;
  /** By unit and agent, in the order of their arrival. */
  #rows = new Map<string, CountRow>();
  readonly #controls = new Map<number, ControlTimes>();

  constructor(maxRows = MAX_ROWS) {
    this.#maxRows = maxRows;
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0 && this.#controls.size === 0;
  }

  /** Number of evaluations. */
  get evaluated(): number {
    let evaluated = 0;
    for (const { sums } of this.#rows.values()) evaluated += sums.evaluated;
    return evaluated;
  }

  /** Returns the number of evaluations that were lost for it. */
  add({ startS, agents, controls }: CountedMinute): number {
    for (const [agentName, sums] of agents) {
      const lastDeniedS = sums.denied > 0 ? startS : null;
      this.#addRow({ agentName, unitS: MINUTE, startS, sums, lastEvaluatedS: startS, lastDeniedS });
    }
    for (const [controlId, bits] of controls) {
      const known = this.#controls.get(controlId);
      this.#controls.set(controlId, {
        controlId,
        lastMatchedS: bits & MATCHED ? startS : (known?.lastMatchedS ?? null),
        lastDeniedS: bits & DENIED ? startS : (known?.lastDeniedS ?? null),
        lastFailedS: bits & FAILED ? startS : (known?.lastFailedS ?? null),
      });
    }
    for (const unitS of [HOUR, DAY]) if (this.#rows.size > this.#maxRows) this.#combine(unitS);
    return this.#loseOldest();
  }

  /** Takes away the oldest rows, and as many controls. */
  take(limit: number): { readonly rows: CountRow[]; readonly controls: ControlTimes[] } {
    return { rows: taken(this.#rows, limit), controls: taken(this.#controls, limit) };
  }

  #addRow(row: CountRow): void {
    const { agentName, unitS, startS, sums, lastEvaluatedS, lastDeniedS } = row;
    const key = `${unitS} ${startS} ${agentName}`;
    const known = this.#rows.get(key);
    const all = new OutcomeSums();
    all.add(sums);
    if (known !== undefined) all.add(known.sums);
    this.#rows.set(key, {
      agentName,
      unitS,
      startS,
      sums: all,
      lastEvaluatedS: Math.max(lastEvaluatedS, known?.lastEvaluatedS ?? lastEvaluatedS),
      lastDeniedS: laterOf(lastDeniedS, known?.lastDeniedS ?? null),
    });
  }

  /** Makes longer units of all shorter ones. */
  #combine(unitS: number): void {
    const rows = this.#rows;
    this.#rows = new Map();
    for (const row of rows.values()) {
      if (row.unitS >= unitS) this.#addRow(row);
      else this.#addRow({ ...row, unitS, startS: row.startS - (row.startS % unitS) });
    }
  }

  #loseOldest(): number {
    let lost = 0;
    for (const [key, { sums }] of this.#rows) {
      if (this.#rows.size <= this.#maxRows) break;
      this.#rows.delete(key);
      lost += sums.evaluated;
    }
    return lost;
  }
}

function taken<Key, Value>(from: Map<Key, Value>, limit: number): Value[] {
  const values: Value[] = [];
  for (const [key, value] of from) {
    if (values.length === limit) break;
    from.delete(key);
    values.push(value);
  }
  return values;
}
