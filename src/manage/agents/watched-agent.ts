import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { AgentState, StoredDefinition } from '../../decide/agent-state/agent-control-store.js';
import type { RecordedChange } from '../../storage/database/change-log.js';
import { SharedValues } from './shared-values.js';
import {
  type ControlNews,
  type ControlsPart,
  type ListedControl,
  type WatchedControl,
  WatchedControls,
} from './watched-controls.js';

/** The state of the database known to a process. */
export interface Followed {
  /** Every change up to this revision is known. */
  readonly revision: number;
  /** When the database last confirmed that there is no later one, in milliseconds of a monotonic clock. */
  readonly currentAtMs: number;
}

/** News for a reader with the revision that it then has. */
export type ControlsMessage = ControlNews & { readonly revision: number };

/** A watched agent, or one that works on a target: its controls, their revision, and the streams waiting for the next state. */
export class WatchedAgent {
  readonly key: AgentKey;
  /** What it works on; null for nothing. */
  readonly target: TargetKey | null;
  readonly #followed: () => Followed;
  readonly #controls = new WatchedControls();
  readonly #waiting = new Set<() => void>();
  readonly #called = new Set<() => void>();
  #policyIds: ReadonlySet<number> = new Set();
  #readRevision = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #loaded = false;
  /** A load must have read at least this revision. */
  #needed = 0;
  /** The state for which the controls are valid, while a later change is not loaded; null otherwise. */
  #behind: Followed | null = null;
  #unchangedSince = 0;
  /** Other revisions of the same state have the same news, which transports encode once. */
  readonly #news = new SharedValues<ControlNews>();
  readonly #messages = new SharedValues<ControlsMessage>();
  readonly #parts = new SharedValues<ControlsPart>();
  readonly #replies = new SharedValues<object>();
  /** Number of streams and lists of the agent. */
  users = 0;
  loading: Promise<void> | null = null;
  /** The search for the revision since which the controls are unchanged; one for each state. */
  search: Promise<void> | null = null;
  /** Why every stream of the agent has to end; null while they may continue. */
  failure: Error | null = null;

  constructor(key: AgentKey, target: TargetKey | null, followed: () => Followed) {
    this.key = key;
    this.target = target;
    this.#followed = followed;
  }

  /** Whether its controls are known. */
  get loaded(): boolean {
    return this.#loaded;
  }

  /** Whether a change is not loaded yet. */
  get isBehind(): boolean {
    return this.#behind !== null;
  }

  /** The position of the latest state. */
  get position(): number {
    return this.#controls.position;
  }

  /** The revision that the controls were read at. */
  get readRevision(): number {
    return this.#readRevision;
  }

  /** The latest revision for which they are certainly valid. */
  get revision(): number {
    return Math.max(this.#readRevision, (this.#behind ?? this.#followed()).revision);
  }

  /** When they were certainly the latest, in milliseconds of the clock of `Followed`. */
  get currentAtMs(): number {
    return Math.max(this.#readAtMs, (this.#behind ?? this.#followed()).currentAtMs);
  }

  /** The controls are known to be unchanged since this revision. */
  get unchangedSince(): number {
    return this.#unchangedSince;
  }

  has(controlId: number): boolean {
    return this.#controls.has(controlId);
  }

  /** Its policies, as read last. */
  get policyIds(): ReadonlySet<number> {
    return this.#policyIds;
  }

  /** Whether a change may affect it that does not list the agent. */
  mayHave({
    controls,
    policies,
    targets,
  }: Pick<RecordedChange, 'controls' | 'policies' | 'targets'>): boolean {
    if (this.target !== null && targets.includes(this.target)) return true;
    if (controls.length === 0 && policies.length === 0) return false;
    // What a running load reads is not known yet.
    if (this.loading !== null) return true;
    return controls.some((id) => this.has(id)) || policies.some((id) => this.#policyIds.has(id));
  }

  /** Records a change that affects it. True when it has to be loaded for this revision. */
  demand(revision: number): boolean {
    if (this.#loaded && this.#readRevision >= revision) return false;
    this.#needed = Math.max(this.#needed, revision);
    this.#behind ??= { revision: this.revision, currentAtMs: this.currentAtMs };
    return true;
  }

  /** Stores loaded controls. True when there is a new state. Rethrows errors of `present`. */
  take(
    { revision, policyIds }: Pick<AgentState, 'revision' | 'policyIds'>,
    atMs: number,
    rows: readonly StoredDefinition[],
    present: (row: StoredDefinition) => WatchedControl,
  ): boolean {
    const isNew = this.#controls.take(rows, present);
    this.#policyIds = new Set(policyIds);
    this.#readRevision = revision;
    this.#readAtMs = atMs;
    this.#loaded = true;
    if (revision >= this.#needed) this.#behind = null;
    if (isNew) {
      this.#unchangedSince = revision;
      this.search = null;
    }
    return isNew;
  }

  /** The database was restored to a revision. All known state of the agent is invalid. */
  startOver({ revision, currentAtMs }: Followed): void {
    this.#controls.startOver();
    this.#loaded = false;
    this.#readRevision = 0;
    this.#readAtMs = Number.NEGATIVE_INFINITY;
    this.#needed = 0;
    this.#behind = { revision, currentAtMs };
  }

  /** Records that the state of `position` has been unchanged for longer. */
  foundUnchanged(position: number, sinceRevision: number): void {
    if (position === this.position) this.#unchangedSince = Math.min(this.#unchangedSince, sinceRevision);
  }

  /** The message for a reader at a position; shared by readers at the same one. */
  messageSince(seen: number): ControlsMessage {
    const { revision, position } = this;
    const news = () => this.#news.of(String(position), String(seen), () => this.#controls.newsSince(seen));
    return this.#messages.of(`${position} ${revision}`, String(seen), () => ({ revision, ...news() }));
  }

  /** See `WatchedControls.partSince`; shared by readers that are at the same place. */
  partSince(seen: number, below: number, maxBytes: number): ControlsPart {
    const key = `${seen} ${below} ${maxBytes}`;
    return this.#parts.of(String(this.position), key, () => this.#controls.partSince(seen, below, maxBytes));
  }

  /** The controls of the latest state, by id descending. */
  listed(): ListedControl[] {
    return this.#controls.listed();
  }

  /** A reply about the latest state, made once for each key. */
  reply(key: string, make: () => object): object {
    return this.#replies.of(String(this.position), key, make);
  }

  /** Calls `wake` once, after the next state or when the streams have to end. */
  wait(wake: () => void): void {
    this.#waiting.add(wake);
  }

  stopWaiting(wake: () => void): void {
    this.#waiting.delete(wake);
    this.#called.delete(wake);
  }

  /** Marks all waiting callbacks to be called by `wakeSome`. */
  callWaiting(): void {
    for (const wake of this.#waiting) this.#called.add(wake);
    this.#waiting.clear();
  }

  /** Calls some of the marked callbacks. False when none are left. */
  wakeSome(count: number): boolean {
    let left = count;
    for (const wake of this.#called) {
      if (left === 0) return true;
      left -= 1;
      this.#called.delete(wake);
      wake();
    }
    return false;
  }
}
