import type { Cell, CellName } from './cell.js';
import { type Entry, entryId } from './cell-state.js';
import { CellView } from './cell-view.js';
import { cellsOf, hasMarks, type SentAttempt, type WaitingJob } from './job.js';
import { type EntryWriter, entriesOf } from './job-entries.js';
import type { MemoryIds } from './keyed-hash.js';
import type { KnownRules } from './known-rules.js';
import type { Room } from './room.js';
import { MAX_ENTRY_BYTES } from './store/exchange-rules.js';
import {
  type EntryAddition,
  type ExchangeGroup,
  type ExchangeReply,
  type ExchangeRequest,
  MemoryStoreError,
} from './store/memory-store.js';

export interface BatchOptions {
  readonly ids: MemoryIds;
  readonly epoch: string | null;
  /** Time of the memory. */
  readonly nowUs: () => number;
  readonly writer: EntryWriter;
  readonly rules: KnownRules;
  /** A cell as the process knows it, or a new one. */
  readonly cellOf: (name: CellName) => Cell;
  readonly room: Room;
}

/** A step adds more to a key than a store takes. Others that are committed with it must not fail because of it. */
export class EntryTooLargeError extends MemoryStoreError {}

interface Decided extends SentAttempt {
  readonly waiting: WaitingJob;
}

/** Jobs that are decided together, in order, each with what those before it add, and what the store is sent for them. */
export class Batch {
  readonly #options: BatchOptions;
  readonly #cells: Cell[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #groups: ExchangeGroup[] = [];
  readonly #decided: Decided[] = [];
  readonly #unread: WaitingJob[] = [];
  readonly #stepHashes = new Map<WaitingJob, string | null>();

  constructor(options: BatchOptions) {
    this.#options = options;
  }

  /** Jobs whose outcome the exchange tells. */
  get decided(): readonly Decided[] {
    return this.#decided;
  }

  /** Jobs to be decided after the exchange. */
  get unread(): readonly WaitingJob[] {
    return this.#unread;
  }

  get cells(): readonly Cell[] {
    return this.#cells;
  }

  /** The value of an earlier attempt that the store has applied, although its reply was lost. Called before any `decide`. */
  recognised(waiting: WaitingJob): SentAttempt | undefined {
    return waiting.unknown.findLast(({ entries }) =>
      [...entries].some(([id, number]) => {
        const index = this.#indexes.get(id);
        const cell = index === undefined ? undefined : this.#cells[index];
        return cell?.state.recent.has(entryId(this.#options.writer.id, number)) === true;
      }),
    );
  }

  /** Takes the cells of a job into the exchange. */
  read(waiting: WaitingJob): readonly Cell[] {
    const { ids, rules } = this.#options;
    const { identity, ruleIds } = waiting.job;
    rules.name(identity.namespace, ruleIds);
    const stepHash = ids.stepOf(identity);
    this.#stepHashes.set(waiting, stepHash);
    return cellsOf(waiting.job, ids, stepHash).map((name) => {
      const known = this.#indexes.get(name.id);
      const cell = known === undefined ? undefined : this.#cells[known];
      if (cell !== undefined) return cell;
      const added = this.#options.cellOf(name);
      this.#indexes.set(name.id, this.#cells.length);
      this.#cells.push(added);
      return added;
    });
  }

  /** Takes a job into the exchange and decides it, unless something has to be read before. Throws what `decide` throws. */
  decide(waiting: WaitingJob, cells: readonly Cell[]): void {
    const { ids, rules, writer, room } = this.#options;
    const { job } = waiting;
    const { namespace, agent } = job.identity;
    if (!rules.areKnown(namespace, job.ruleIds)) {
      this.#unread.push(waiting);
      return;
    }
    const nowUs = cells.reduce((time, { state }) => Math.max(time, state.lastUs + 1), this.#options.nowUs());
    const stepHash = this.#stepHashes.get(waiting) ?? null;
    const sinceUs = (ruleId: string) => rules.sinceUs(namespace, ruleId);
    const isFull = cells.some(({ version }) => version === 0) && room.isFull(namespace, agent);
    const view = new CellView({ job, cells, ids, stepHash, nowUs, source: 'store', sinceUs, isFull });
    const decision = job.decide(view, cells);
    const entries = entriesOf({ job, cells, view, decision }, writer);
    const marks = hasMarks(job, stepHash) ? cells.at(-1) : undefined;
    // A mark that is lost lets the end of a denied step count, so that there is more room for marks.
    if (isFull && marks?.version === 0 && room.isFull(namespace, agent, 2)) entries.delete(marks);
    for (const { version } of entries.keys()) if (version === 0) room.begun(namespace, agent);
    const texts = [...entries.values()].map(fittingText);
    const additions: EntryAddition[] = [];
    for (const [cell, entry] of entries) {
      const text = texts[additions.length] ?? '';
      additions.push({ cell: this.#indexOf(cell), ...cell.append(entry, text) });
    }
    this.#groups.push({ cells: cells.map((cell) => this.#indexOf(cell)), additions });
    const numbers = new Map([...entries].map(([{ id }, { n }]) => [id, n]));
    this.#decided.push({ waiting, value: decision.value, entries: numbers });
  }

  /** What the store is sent. `known` are the versions of the cells before this batch. */
  request(): ExchangeRequest {
    return {
      epoch: this.#options.epoch,
      cells: this.#cells.map((cell) => ({
        ...cell.name,
        known: cell.knownVersion,
        generation: cell.generation,
      })),
      groups: this.#groups,
      rules: this.#options.rules.due(),
    };
  }

  /** Brings the cells to what the store has. Throws a `MemoryStoreError` if the reply does not fit. */
  settle({ news, applied }: ExchangeReply): void {
    const taken = this.#cells.map(() => 0);
    this.#groups.forEach(({ additions }, index) => {
      if (applied[index] !== true) return;
      for (const { cell } of additions) taken[cell] = (taken[cell] ?? 0) + 1;
    });
    this.#cells.forEach((cell, index) => {
      cell.settle(taken[index] ?? 0);
    });
    for (const item of news) this.#cells[item.cell]?.learn(item);
  }

  #indexOf(cell: Cell): number {
    return this.#indexes.get(cell.id) ?? -1;
  }
}

/** The text of an entry. Throws before anything is changed if it is too large. */
function fittingText(entry: Entry): string {
  const text = JSON.stringify(entry);
  // A character takes at most three bytes.
  const bytes = text.length * 3 <= MAX_ENTRY_BYTES ? 0 : Buffer.byteLength(text);
  if (bytes <= MAX_ENTRY_BYTES) return text;
  throw new EntryTooLargeError(
    `a step adds ${bytes} bytes to a key; at most ${MAX_ENTRY_BYTES} are kept of one step`,
  );
}
