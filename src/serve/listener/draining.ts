import type { OpenConnections } from './open-connections.js';

export interface DrainOptions {
  readonly graceMs?: number;
  readonly noticeMs?: number;
}

/** The end of a listener; see `Listener.drain`. */
export class Draining {
  readonly #connections: OpenConnections;
  readonly #graceMs: number;
  readonly #begun = new AbortController();
  #drained: Promise<void> | undefined;
  /** Aborted when it begins. */
  readonly signal: AbortSignal = this.#begun.signal;
  /** Whether connections that open now are closed. */
  isClosing = false;

  /** `graceMs`: after how long connections are destroyed, unless a call says so. */
  constructor(connections: OpenConnections, graceMs: number) {
    this.#connections = connections;
    this.#graceMs = graceMs;
  }

  begin(
    stopAccepting: () => Promise<void> | undefined,
    { graceMs = this.#graceMs, noticeMs = 0 }: DrainOptions = {},
  ): Promise<void> {
    const connections = this.#connections;
    let notice: NodeJS.Timeout | undefined;
    if (this.#drained === undefined) {
      this.#begun.abort();
      const stopped = stopAccepting();
      if (noticeMs > 0) {
        connections.retireAll();
        notice = setTimeout(() => this.#finishAll(), noticeMs);
      } else this.#finishAll();
      this.#drained = Promise.all([stopped, connections.whenEmpty()]).then(() => {});
    }
    const deadline = setTimeout(() => connections.destroyAll(), graceMs);
    return this.#drained.finally(() => {
      clearTimeout(notice);
      clearTimeout(deadline);
    });
  }

  #finishAll(): void {
    this.isClosing = true;
    this.#connections.finishAll();
  }
}
