import type { StoredDefinition } from '../controls/agent-control-store.js';
import { hashText } from '../database/text.js';
import type { AgentControl } from './agent-controls.js';

/** Removed controls that are remembered for an agent; whoever has not heard of older removals is told everything. */
const MAX_REMEMBERED_REMOVALS = 1_000;

/** What is new to a reader: everything, or what changed. */
export type ControlNews =
  | { readonly full: { readonly controls: readonly AgentControl[] } }
  | { readonly changed: { readonly upserted: readonly AgentControl[]; readonly removed: readonly number[] } };

interface Entry {
  /** Tells whether name or definition changed. */
  readonly hash: string;
  readonly view: AgentControl;
  /** Where it got this form. */
  readonly position: number;
}

/**
 * The controls of an agent, and what is new to a reader who has seen them up to a position. A reader is no more than
 * that number, however slowly it reads. Positions count the states that were seen here; revisions would not do, because
 * a state may be read at any revision after its change.
 */
export class WatchedControls {
  /** The last state; 0 when there is none yet. */
  #position = 0;
  /** Readers up to this position are told everything. */
  #tellAllUpTo = 0;
  #startedOver = false;
  /** By id descending. */
  #controls: ReadonlyMap<number, Entry> = new Map();
  /** Removed controls and where they were removed, in that order. */
  readonly #removed = new Map<number, number>();

  get position(): number {
    return this.#position;
  }

  has(controlId: number): boolean {
    return this.#controls.has(controlId);
  }

  /**
   * Takes the controls as they are stored, by id descending. False when nothing is new. What `present` throws is thrown,
   * and then nothing has changed.
   */
  take(rows: readonly StoredDefinition[], present: (row: StoredDefinition) => AgentControl): boolean {
    const position = this.#position + 1;
    const controls = new Map(rows.map((row) => [row.id, this.#entryOf(row, position, present)]));
    const removed = [...this.#controls.keys()].filter((id) => !controls.has(id));
    const isNew = [...controls.values()].some((entry) => entry.position === position);
    if (this.#position > 0 && !this.#startedOver && !isNew && removed.length === 0) return false;
    this.#startedOver = false;
    this.#position = position;
    this.#controls = controls;
    for (const id of removed) this.#removed.set(id, position);
    for (const id of controls.keys()) this.#removed.delete(id);
    this.#forgetRemovals();
    return true;
  }

  /** The next state follows from nothing that was seen before: every reader is told everything. */
  startOver(): void {
    this.#startedOver = true;
    this.#tellAllUpTo = this.#position;
    this.#removed.clear();
  }

  /** What a reader who has seen the state of `position`, or 0 for nothing, has to be told. */
  newsSince(position: number): ControlNews {
    const controls = [...this.#controls.values()];
    if (position <= this.#tellAllUpTo) return { full: { controls: controls.map(({ view }) => view) } };
    const upserted = controls.filter((entry) => entry.position > position).map(({ view }) => view);
    const removed = [...this.#removed].filter(([, at]) => at > position).map(([id]) => id);
    return { changed: { upserted, removed: removed.sort((left, right) => left - right) } };
  }

  #entryOf(row: StoredDefinition, position: number, present: (row: StoredDefinition) => AgentControl): Entry {
    const hash = hashText(JSON.stringify([row.name, row.data]));
    const known = this.#controls.get(row.id);
    return known?.hash === hash ? known : { hash, view: present(row), position };
  }

  #forgetRemovals(): void {
    for (const [id, position] of this.#removed) {
      if (this.#removed.size <= MAX_REMEMBERED_REMOVALS) return;
      this.#removed.delete(id);
      this.#tellAllUpTo = Math.max(this.#tellAllUpTo, position - 1);
    }
  }
}
