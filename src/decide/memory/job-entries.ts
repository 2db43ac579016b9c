import type { Delta } from '../../kernel/core/memory.js';
import type { Cell } from './cell.js';
import type { Entry } from './cell-state.js';
import type { CellView } from './cell-view.js';
import { hasMarks, type Job, type JobDecision } from './job.js';

/** How long the steps of a cell are known at least, whatever its rules keep, in seconds. */
const STEP_SECONDS = 3_600;
/** Longest time that something is kept: budgets for the life of a key name a larger one. */
const MAX_SECONDS = 10 * 366 * 86_400;

export interface EntryWriter {
  /** Id of the process, random. */
  readonly id: string;
  /** Numbers the entries of the process. */
  next(): number;
  /** How long marks of denied steps are kept, in microseconds. */
  readonly marksKeptUs: number;
}

/** What a decision adds to the cells of its job. */
export function entriesOf({ job, cells, view, decision }: DecidedJob, writer: EntryWriter): Map<Cell, Entry> {
  const entries = new Map<Cell, Entry>();
  if (job.isTrial || decision.isVoid === true) return entries;
  const k = view.stepHash ?? undefined;
  const isCounted = k !== undefined && (decision.allowed || job.stage === 'post');
  for (const [cell, { deltas, keepUs }] of additionsByCell(decision, view)) {
    const seconds = Math.max(Math.ceil(keepUs / 1e6), k === undefined ? 1 : STEP_SECONDS);
    entries.set(cell, {
      a: view.nowUs,
      w: writer.id,
      n: writer.next(),
      x: Math.min(seconds, MAX_SECONDS),
      ...(k === undefined ? {} : { k }),
      ...(isCounted ? { s: job.stage } : {}),
      ...(isCounted && job.stepDigest ? { c: job.stepDigest } : {}),
      d: deltas,
    });
  }
  const other = (x: number) => ({ a: view.nowUs, w: writer.id, n: writer.next(), x });
  const [first] = cells;
  if (decision.resets !== undefined && first !== undefined) {
    entries.set(first, { ...other(1), r: decision.resets });
  }
  const marks = cells.at(-1);
  if (k !== undefined && hasMarks(job, view.stepHash) && job.stage === 'pre' && marks !== undefined) {
    if (decision.allowed === view.wasDenied) {
      const x = Math.ceil(writer.marksKeptUs / 1e6);
      entries.set(marks, { ...other(x), k, m: decision.allowed ? 0 : 1 });
    }
  }
  return entries;
}

/** A job and how it was decided. */
export interface DecidedJob {
  readonly job: Job;
  readonly cells: readonly Cell[];
  readonly view: CellView;
  readonly decision: JobDecision;
}

interface CellAdditions {
  readonly deltas: (readonly [string, Delta])[];
  keepUs: number;
}

function additionsByCell({ additions }: JobDecision, view: CellView): ReadonlyMap<Cell, CellAdditions> {
  const byCell = new Map<Cell, CellAdditions>();
  for (const { key, ruleId, delta, keepUs, isLocal } of additions) {
    if (view.source === 'local' && !isLocal) continue;
    const cell = view.cell(key);
    const known = byCell.get(cell) ?? { deltas: [], keepUs: 0 };
    known.deltas.push([ruleId, delta]);
    known.keepUs = Math.max(known.keepUs, keepUs);
    byCell.set(cell, known);
  }
  return byCell;
}
