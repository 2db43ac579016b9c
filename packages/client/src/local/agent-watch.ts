import type { AgentControl } from '../../../../gen/proto/enforcement/v1/agent_service_pb.js';
import type { LocalHost } from '../local-controls.js';
import { pauseMs, resting } from '../pause.js';
import type { LocalProgram } from './local-program.js';

/** The controls of an agent at one time. */
export interface LocalState {
  readonly program: LocalProgram;
  readonly revision: bigint;
  /** Time of `performance.now()` when the service last confirmed that there are no later ones. */
  readonly confirmedAt: number;
}

export interface AgentWatchOptions {
  readonly host: LocalHost;
  readonly agent: string;
  readonly compile: (controls: Iterable<AgentControl>) => LocalProgram;
  readonly maxMessageBytes: number | undefined;
  /** Called when nothing has been asked for some time: the watch has ended. */
  readonly onIdle: () => void;
}

/** A watch that is not asked for this long ends. */
const IDLE_MS = 300_000;
/** Shortest time between two requests for a confirmation. */
const NUDGE_INTERVAL_MS = 250;

/** Watches the controls of one agent and compiles them. */
export class AgentWatch {
  state: LocalState | undefined;
  /** Why there are no controls. */
  failure: unknown;
  readonly #options: AgentWatchOptions;
  readonly #closing = new AbortController();
  #nudge = new AbortController();
  #nudgedAt = Number.NEGATIVE_INFINITY;
  #lastAskedAt = performance.now();
  #waiters: (() => void)[] = [];

  constructor(options: AgentWatchOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Resolves when the state or the failure changed, or after a time. */
  change(atMostMs: number): Promise<void> {
    this.#lastAskedAt = performance.now();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, atMostMs);
      this.#waiters.push(end);
    });
  }

  asked(): void {
    this.#lastAskedAt = performance.now();
  }

  /** Asks the service at once whether there are later controls. */
  nudge(): void {
    const now = performance.now();
    if (now - this.#nudgedAt < NUDGE_INTERVAL_MS || this.state === undefined) return;
    this.#nudgedAt = now;
    this.#nudge.abort();
  }

  close(): void {
    this.#closing.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.#watch(signal, () => {
          failures = 0;
        });
        return;
      } catch (error) {
        // For example, the agent is not registered any more, or not yet.
        this.state = undefined;
        this.failure = error;
        this.#wake();
      }
      await resting(pauseMs(failures), signal);
    }
  }

  async #watch(signal: AbortSignal, onNews: () => void): Promise<void> {
    const { host, agent, compile, maxMessageBytes, onIdle } = this.#options;
    const nudge = (): AbortSignal => {
      this.#nudge = new AbortController();
      return this.#nudge.signal;
    };
    for await (const news of host.watchControls(agent, { signal, maxMessageBytes, nudge })) {
      onNews();
      const known = this.state;
      const program = known === undefined || news.changed ? compile(news.controls.values()) : known.program;
      this.state = { program, revision: news.revision, confirmedAt: news.confirmedAt };
      this.failure = undefined;
      this.#wake();
      if (performance.now() - this.#lastAskedAt > IDLE_MS) {
        this.state = undefined;
        onIdle();
        return;
      }
    }
  }

  #wake(): void {
    const woken = this.#waiters;
    this.#waiters = [];
    for (const end of woken) end();
  }
}
