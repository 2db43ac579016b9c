import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { Cell, CellName } from './cell.js';
import { CellView } from './cell-view.js';
import { cellsOf, type Job } from './job.js';
import { type EntryWriter, entriesOf } from './job-entries.js';
import { createMemoryIds, type MemoryIds } from './keyed-hash.js';

const MAX_CELLS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Hashes of the key of this process that are recognised. */
const MAX_HASHES = 100_000;

export interface LocalMemoryOptions {
  readonly writer: EntryWriter;
  /** Time of the memory. */
  readonly nowUs: () => number;
  /** A cell that begins with what is known of the store. */
  readonly cellOf: (name: CellName) => Cell;
  readonly sinceUs: (namespace: string, ruleId: string) => number | null;
}

/** Decisions without the store: by what this process knew of it and what it has counted since. */
export class LocalMemory {
  readonly hashKey: Uint8Array = randomBytes(32);
  readonly ids: MemoryIds;
  readonly #options: LocalMemoryOptions;
  readonly #hashes = new BoundedMap<string, true>({ entries: MAX_HASHES });
  readonly #cells = new BoundedMap<string, Cell>({
    entries: MAX_CELLS,
    weight: MAX_BYTES,
    weightOf: ({ weight }) => weight,
  });

  constructor(options: LocalMemoryOptions) {
    this.#options = options;
    const ids = createMemoryIds(this.hashKey);
    const hash = (text: string) => {
      const made = ids.hash(text);
      this.#hashes.set(made, true);
      return made;
    };
    this.ids = { ...ids, hash };
  }

  /** Whether the keys of a job were made with the hashes of this process. */
  hasMade({ keys }: Job): boolean {
    return this.#hashes.size > 0 && keys.some(({ parts }) => parts.some((part) => this.#hashes.has(part)));
  }

  /** Throws what `decide` throws. `ids` are those of the store if it was ever reached. */
  decide(job: Job, ids: MemoryIds): unknown {
    const { writer, nowUs, sinceUs } = this.#options;
    const { namespace } = job.identity;
    const stepHash = ids.stepOf(job.identity);
    const cells = cellsOf(job, ids, stepHash).map((name) => this.#cell(name));
    const time = cells.reduce((latest, { state }) => Math.max(latest, state.lastUs + 1), nowUs());
    const view = new CellView({
      job,
      cells,
      ids,
      stepHash,
      nowUs: time,
      source: 'local',
      sinceUs: (ruleId) => sinceUs(namespace, ruleId),
      isFull: false,
    });
    const decision = job.decide(view, cells);
    for (const [cell, entry] of entriesOf({ job, cells, view, decision }, writer)) {
      this.#cells.delete(cell.id);
      cell.append(entry, JSON.stringify(entry));
      cell.settle(1);
      this.#cells.set(cell.id, cell);
    }
    return decision.value;
  }

  /** The store answers again: what was counted without it is forgotten. */
  forget(): void {
    this.#cells.clear();
  }

  #cell(name: CellName): Cell {
    const known = this.#cells.use(name.id);
    if (known !== undefined) return known;
    const begun = this.#options.cellOf(name);
    this.#cells.set(name.id, begun);
    return begun;
  }
}
