/** A rate with a burst: it holds at most `burst` units and gains `perSecond` units a second. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #units: number;
  #filledAtMs: number;

  /** Creates a full bucket. `nowMs` is the time of a monotonic clock, as in the methods. */
  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#units = burst;
    this.#filledAtMs = nowMs;
  }

  /** Takes units if they are available. */
  take(units: number, nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#units < units) return false;
    this.#units -= units;
    return true;
  }

  /** Takes units even if not available; `take` fails until the debt is regained. */
  owe(units: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#units -= units;
  }

  /** Milliseconds until `units` are available; 0 if they are. */
  waitMs(units: number, nowMs: number): number {
    this.#fill(nowMs);
    return Math.max(0, (Math.min(units, this.#burst) - this.#units) / this.#perMs);
  }

  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#units >= this.#burst;
  }

  #fill(nowMs: number): void {
    this.#units = Math.min(this.#burst, this.#units + (nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
  }
}
