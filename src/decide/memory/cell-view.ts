import type { MemoryKey, MemoryView, RuleKind, RuleState } from '../../kernel/core/memory.js';
import type { Cell } from './cell.js';
import type { CountedStep } from './cell-state.js';
import { hasMarks, type Job } from './job.js';
import type { MemoryIds } from './keyed-hash.js';

export interface CellViewOptions {
  readonly job: Job;
  /** Those of `cellsOf` for the job. */
  readonly cells: readonly Cell[];
  readonly ids: MemoryIds;
  readonly stepHash: string | null;
  readonly nowUs: number;
  readonly source: 'store' | 'local';
  readonly sinceUs: (ruleId: string) => number | null;
  /** Whether there is no room for new cells of the agent. */
  readonly isFull: boolean;
}

/** Only steps before they run have a digest: their ends are told apart by their ids alone. */
function hasOtherContent({ stepDigest = null }: Job, [, digest]: CountedStep): boolean {
  return stepDigest !== null && digest !== stepDigest;
}

/** Cells as a decision reads them. */
export class CellView implements MemoryView {
  readonly #options: CellViewOptions;
  readonly #byKey = new Map<MemoryKey, Cell | null>();

  constructor(options: CellViewOptions) {
    this.#options = options;
    options.job.keys.forEach((key, index) => {
      this.#byKey.set(key, options.cells[index] ?? null);
    });
  }

  get source(): 'store' | 'local' {
    return this.#options.source;
  }

  get nowUs(): number {
    return this.#options.nowUs;
  }

  get stepHash(): string | null {
    return this.#options.stepHash;
  }

  hash(text: string): string {
    return this.#options.ids.hash(text);
  }

  state(key: MemoryKey, _kind: RuleKind, ruleId: string): RuleState | undefined {
    const cell = this.cell(key);
    return cell.damage === null ? cell.state.rules.get(ruleId) : undefined;
  }

  isRepeated(key: MemoryKey): boolean {
    const { stepHash, job } = this.#options;
    if (stepHash === null) return false;
    const counted = this.cell(key).state.steps.get(job.stage + stepHash);
    return counted !== undefined && !hasOtherContent(job, counted);
  }

  isReused(key: MemoryKey): boolean {
    const { stepHash, job } = this.#options;
    if (stepHash === null) return false;
    const counted = this.cell(key).state.steps.get(job.stage + stepHash);
    return counted !== undefined && hasOtherContent(job, counted);
  }

  isDamaged(key: MemoryKey): boolean {
    return this.cell(key).damage !== null;
  }

  isFull(key: MemoryKey): boolean {
    return this.#options.isFull && this.cell(key).version === 0;
  }

  get wasDenied(): boolean {
    const { job, stepHash, cells } = this.#options;
    return hasMarks(job, stepHash) && (cells.at(-1)?.state.denied.has(stepHash) ?? false);
  }

  sinceUs(ruleId: string): number | null {
    return this.#options.sinceUs(ruleId);
  }

  /** The cell of a key of the job. Throws for another one. */
  cell(key: MemoryKey): Cell {
    const known = this.#byKey.get(key) ?? this.#byId(key);
    if (known === null)
      throw new Error(`the key ${key.label} is read, but it is not among those of the plan`);
    return known;
  }

  /** A key that was made anew is another object. */
  #byId(key: MemoryKey): Cell | null {
    const { job, ids, cells } = this.#options;
    const id = ids.cellOf(job.identity.namespace, key);
    const cell = cells.find((candidate) => candidate.id === id) ?? null;
    this.#byKey.set(key, cell);
    return cell;
  }
}
