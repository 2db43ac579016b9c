import type { AgentState } from '../controls/agent-control-store.js';
import type { StateHeader } from './file-format.js';
import type { KeptState } from './kept-state.js';
import type { KnownChanges } from './known-changes.js';
import type { StateFile } from './state-file.js';

/** The controls of an agent in a file. */
export interface KeptAgentState extends AgentState {
  readonly controls: NonNullable<AgentState['controls']>;
  /** When they were last confirmed as current, in milliseconds of the monotonic clock. */
  readonly keptAtMs: number;
}

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

  /**
   * The controls of an agent, at revision `needed` or later, and not older than the known changes of the
   * agent. Null if the file has none such, which does not mean that the agent does not exist.
   */
  async stateOf(agentName: string, needed: number): Promise<KeptAgentState | null> {
    const found = this.#find(agentName, needed);
    if (found !== null) return found;
    await this.load();
    return this.#find(agentName, needed);
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

  #find(agentName: string, needed: number): KeptAgentState | null {
    const { changes, now, monotonic } = this.#options;
    const state = this.#current();
    if (state === null) return null;
    const { revision, controls } = state.stateOf(agentName);
    if (controls === null || revision < needed) return null;
    const ids = controls.map(({ id }) => id);
    if (revision < changes.neededFor(agentName, ids)) return null;
    return { revision, controls, keptAtMs: monotonic() - ageMs(state.header, now()) };
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
