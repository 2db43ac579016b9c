import type { AgentState } from '../controls/agent-control-store.js';
import type { StateHeader } from './file-format.js';
import type { KeptState } from './kept-state.js';
import type { KnownChanges } from './known-changes.js';
import type { StateFile } from './state-file.js';

/** The controls of an agent as a file has them. */
export interface KeptAgentState extends AgentState {
  readonly controls: NonNullable<AgentState['controls']>;
  /** When they were certainly the latest, in milliseconds of the clock that never goes back. */
  readonly keptAtMs: number;
}

export interface KeptAgentsOptions {
  readonly file: StateFile;
  /** The database that the file must be of. */
  readonly instanceId: () => string;
  readonly changes: KnownChanges;
  readonly log: { warn(facts: object, message: string): void };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number;
  /** What was read of the file already. */
  readonly state?: KeptState | null;
}

/** How long a file that did not help is not looked at again, in milliseconds. Others may save a newer one meanwhile. */
const LOOK_AGAIN_MS = 5_000;

/**
 * The controls of agents as the last known good file has them. The file is read when it is needed first, and kept in
 * memory until `release`.
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
   * The controls of an agent, of revision `needed` at least, and not older than what this process knows of the agent.
   * Null when the file has none such: nothing is said about whether the agent exists.
   */
  async stateOf(agentName: string, needed: number): Promise<KeptAgentState | null> {
    const found = this.#find(agentName, needed);
    if (found !== null) return found;
    await this.load();
    return this.#find(agentName, needed);
  }

  /** Reads the file unless that was done lately or what is there is known. Never rejects. */
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

  /** Frees the memory: the database answers. */
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

  /** What is in memory, if it is of the database that is used. */
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

/** How long ago a state was certainly the latest. A time in the future is that of a wrong clock. */
export function ageMs({ timeMs }: StateHeader, nowMs: number): number {
  return Math.max(0, nowMs - timeMs);
}
