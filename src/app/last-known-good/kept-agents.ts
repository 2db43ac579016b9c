import type { AgentKey, TargetKey } from '../../contract/call/namespace.js';
import type { ControlLinks } from '../../decide/agent-state/control-links.js';
import type { ReadControls, ReadLinks } from '../../decide/decisions/state-reader.js';
import type { StateHeader } from './file-format.js';
import type { KeptAccess, KeptState } from './kept-state.js';
import type { KnownChanges } from './known-changes.js';
import type { StateFile } from './state-file.js';

export interface KeptAgentsOptions {
  readonly file: StateFile;
  /** The database that the file must come from. */
  readonly instanceId: () => string;
  readonly changes: KnownChanges;
  readonly log: { warn(facts: object, message: string): void };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** State that was already read from the file. */
  readonly state?: KeptState | null;
}

export const NO_ACCESS: KeptAccess = { keys: [], halts: [], namespaces: [] };

/** Pause before a file that did not help is read again, in milliseconds. Others may save a newer one. */
const LOOK_AGAIN_MS = 5_000;

/**
 * The controls of agents in the last known good file. The file is read on first use, and kept in memory until
 * `release`.
 */
export class KeptAgents {
  readonly #options: KeptAgentsOptions;
  #state: KeptState | null;
  #reading: Promise<void> | null = null;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #problem = '';

  constructor(options: KeptAgentsOptions) {
    this.#options = options;
    this.#state = options.state ?? null;
  }

  /** Whether a state of the database is in memory. */
  get isAtHand(): boolean {
    return this.#current() !== null;
  }

  /** What the state in memory knows about callers; nothing without one. */
  get access(): KeptAccess {
    return this.#current()?.access ?? NO_ACCESS;
  }

  /**
   * The links of an agent that works on a target, null for none, at revision `needed` or later, and not older than its known changes. Null if the file has
   * none such, which does not mean that the agent does not exist.
   */
  linksOf(agent: AgentKey, target: TargetKey | null, needed: number): Promise<ReadLinks | null> {
    return this.#found((state) => {
      const { revision } = state.header;
      const kept = state.linksOf(agent, target);
      const isValid = revision >= Math.max(needed, this.#options.changes.neededForLinks(agent, target));
      return kept !== null && isValid ? { revision, ...kept, keptAtMs: this.#keptAtMs(state) } : null;
    });
  }

  /** The controls of links, at revision `needed` or later, and not older than known changes of them. */
  controlsOf(links: ControlLinks, needed: number): Promise<ReadControls | null> {
    return this.#found((state) => {
      const { revision } = state.header;
      const controls = state.controlsOf(links);
      // The links may be later than the state.
      if (controls === null) return null;
      const ids = controls.map(({ id }) => id);
      const isValid = revision >= Math.max(needed, this.#options.changes.neededForControls(links, ids));
      return isValid ? { revision, controls, keptAtMs: this.#keptAtMs(state) } : null;
    });
  }

  /** Reads the file, unless it was read recently or its content is already known. Never rejects. */
  async load(): Promise<void> {
    if (this.#reading === null) {
      if (this.#options.monotonic() < this.#lookedAtMs + LOOK_AGAIN_MS) return;
      this.#reading = this.#read().finally(() => {
        this.#reading = null;
        this.#lookedAtMs = this.#options.monotonic();
      });
    }
    await this.#reading;
  }

  /** Frees the memory when the database answers. */
  release(): void {
    this.#state = null;
    this.#lookedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Searches the state in memory, then the file. */
  async #found<T>(find: (state: KeptState) => T | null): Promise<T | null> {
    const inMemory = this.#current();
    const found = inMemory === null ? null : find(inMemory);
    if (found !== null) return found;
    await this.load();
    const loaded = this.#current();
    return loaded === null ? null : find(loaded);
  }

  /** When a state was certainly the latest, in milliseconds of the monotonic clock. */
  #keptAtMs({ header }: KeptState): number {
    const { now, monotonic } = this.#options;
    return monotonic() - ageMs(header, now());
  }

  /** The state in memory, if it belongs to the current database. */
  #current(): KeptState | null {
    return this.#state?.header.instanceId === this.#options.instanceId() ? this.#state : null;
  }

  async #read(): Promise<void> {
    const { file, log } = this.#options;
    const header = await file.header();
    const known = this.#state?.header;
    if (known !== undefined && known.revision === header?.revision && known.timeMs === header.timeMs) return;
    const read = await file.read();
    if (read.kind === 'usable') this.#state = read.value;
    if (read.kind !== 'damaged' || read.problem === this.#problem) return;
    this.#problem = read.problem;
    log.warn({ file: file.path }, `the last known good file cannot be used: ${read.problem}`);
  }
}

/** Time since a state was last confirmed as current. A time in the future is due to a wrong clock. */
export function ageMs({ timeMs }: StateHeader, nowMs: number): number {
  return Math.max(0, nowMs - timeMs);
}
