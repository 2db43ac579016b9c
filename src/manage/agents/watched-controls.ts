import type { StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import { hashText } from '../../storage/database/text.js';
import type { AgentControl, LinkedControlView } from './agent-controls.js';
import { controlBytes } from './control-parts.js';

/** Removed controls remembered per agent; readers that missed older removals receive everything. */
const MAX_REMEMBERED_REMOVALS = 1_000;

/** News for a reader: everything, or the changes. */
export type ControlNews =
  | { readonly full: { readonly controls: readonly AgentControl[] } }
  | { readonly changed: { readonly upserted: readonly AgentControl[]; readonly removed: readonly number[] } };

/** Some of the controls of a state. */
export interface ControlsPart {
  readonly controls: readonly AgentControl[];
  /** They as the beginning of all controls, and as a change. */
  readonly full: { readonly controls: readonly AgentControl[] };
  readonly changed: { readonly upserted: readonly AgentControl[]; readonly removed: readonly number[] };
  /** The id of the last one; 0 if no others follow. */
  readonly lastId: number;
  readonly isLast: boolean;
}

/** A control as loaded. */
export type WatchedControl = AgentControl & Pick<Partial<LinkedControlView>, 'rendered'>;

/** A control with what lists are filtered by. */
export interface ListedControl {
  readonly view: AgentControl;
  /** False for a template with missing values. */
  readonly rendered: boolean;
}

interface Entry extends ListedControl {
  /** Changes with name or definition. */
  readonly hash: string;
  /** Position at which it got this form. */
  readonly position: number;
}

/**
 * The controls of an agent, and the news for a reader that has received them up to a position. This number is
 * the only state of a reader, however slow. Positions count the states seen here; revisions are unsuitable,
 * because a state may be read at any revision after its change.
 */
export class WatchedControls {
  /** The latest state; 0 when there is none yet. */
  #position = 0;
  /** Readers up to this position receive everything. */
  #tellAllUpTo = 0;
  #startedOver = false;
  /** By id descending. */
  #controls: ReadonlyMap<number, Entry> = new Map();
  /** Removed controls with the position of their removal, in that order. */
  readonly #removed = new Map<number, number>();

  get position(): number {
    return this.#position;
  }

  has(controlId: number): boolean {
    return this.#controls.has(controlId);
  }

  /**
   * Stores the controls as read from the database, by id descending. False when nothing changed. Rethrows
   * errors of `present`, and then nothing has changed.
   */
  take(rows: readonly StoredDefinition[], present: (row: StoredDefinition) => WatchedControl): boolean {
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

  /** The next state does not continue any earlier one: every reader receives everything. */
  startOver(): void {
    this.#startedOver = true;
    this.#tellAllUpTo = this.#position;
    this.#removed.clear();
  }

  /** The controls of the latest state, by id descending. */
  listed(): ListedControl[] {
    return [...this.#controls.values()];
  }

  /** News for a reader that has received the state of `position`, or 0 for nothing. */
  newsSince(position: number): ControlNews {
    const controls = [...this.#controls.values()];
    if (position <= this.#tellAllUpTo) return { full: { controls: controls.map(({ view }) => view) } };
    const upserted = controls.filter((entry) => entry.position > position).map(({ view }) => view);
    return { changed: { upserted, removed: this.#removedSince(position) } };
  }

  /**
   * A part of the latest state: by id descending, the controls with ids below `below` that are newer than a position,
   * as many as have at most `maxBytes` together, but at least one.
   */
  partSince(position: number, below: number, maxBytes: number): ControlsPart {
    const controls: AgentControl[] = [];
    let bytes = 0;
    for (const [id, entry] of this.#controls) {
      if (id >= below || entry.position <= position) continue;
      bytes += controlBytes(entry.view);
      if (bytes > maxBytes && controls.length > 0)
        return { ...this.#forms(controls, position, below), lastId: idOfLast(controls), isLast: false };
      controls.push(entry.view);
    }
    return { ...this.#forms(controls, position, below), lastId: 0, isLast: true };
  }

  /** The first part of a change names all removed controls. */
  #forms(controls: readonly AgentControl[], position: number, below: number) {
    const removed = below === Number.POSITIVE_INFINITY ? this.#removedSince(position) : [];
    return { controls, full: { controls }, changed: { upserted: controls, removed } };
  }

  #removedSince(position: number): number[] {
    const removed = [...this.#removed].filter(([, at]) => at > position).map(([id]) => id);
    return removed.sort((left, right) => left - right);
  }

  #entryOf(
    row: StoredDefinition,
    position: number,
    present: (row: StoredDefinition) => WatchedControl,
  ): Entry {
    const hash = hashText(JSON.stringify([row.name, row.data]));
    const known = this.#controls.get(row.id);
    if (known?.hash === hash) return known;
    const { id, name, control, rendered = true } = present(row);
    return { hash, view: { id, name, control }, rendered, position };
  }

  #forgetRemovals(): void {
    for (const [id, position] of this.#removed) {
      if (this.#removed.size <= MAX_REMEMBERED_REMOVALS) return;
      this.#removed.delete(id);
      this.#tellAllUpTo = Math.max(this.#tellAllUpTo, position - 1);
    }
  }
}

function idOfLast(controls: readonly AgentControl[]): number {
  return controls.at(-1)?.id ?? 0;
}
