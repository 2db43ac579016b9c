/** A stream without a message for this long counts as lost: the service sends one at least every 15 seconds. */
export const SILENCE_MS = 45_000;

/** One stream, which is ended by the caller, by silence, or to ask at once. */
export class WatchAttempt {
  wasSilent = false;
  wasNudged = false;
  readonly #abort = new AbortController();
  readonly #silenceMs: number;
  readonly #stop: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal, silenceMs: number, nudge: AbortSignal | undefined) {
    this.#silenceMs = silenceMs;
    this.#listen(signal, () => this.#abort.abort());
    this.#listen(nudge, () => {
      this.wasNudged = true;
      this.#abort.abort();
    });
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.wasSilent = true;
      this.#abort.abort();
    }, this.#silenceMs);
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const stop of this.#stop) stop();
    this.#abort.abort();
  }

  #listen(signal: AbortSignal | undefined, callback: () => void): void {
    if (signal === undefined) return;
    if (signal.aborted) callback();
    signal.addEventListener('abort', callback, { once: true });
    this.#stop.push(() => signal.removeEventListener('abort', callback));
  }
}
