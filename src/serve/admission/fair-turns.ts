import { ByteDebt } from './byte-debt.js';

/** A source of work that can be paused: a connection that is read or not. */
export interface Pausable {
  pause(): void;
  resume(): void;
  /** Limits how much it sends at a time, until `widen`. May be called again while it is narrow. */
  narrow(): void;
  widen(): void;
}

/**
 * How long the connections of one owner may keep the event loop busy in one turn, in milliseconds, while
 * others are active too. Divided among the known owners.
 */
const TURN_MS = 6;
/** Lower bound of an owner's part: one read of one connection takes about as long. */
const LEAST_TURN_MS = 2;
/** The same for all connections together that have not sent a key. */
const UNKNOWN_TURN_MS = 2;
/** Share of the time that connections without a key get at most while known owners are active. */
const UNKNOWN_SHARE = 1 / 3;
/** How long an owner counts as active after its last call, in milliseconds. */
const ACTIVE_MS = 1_000;
/** How long an owner must not have been held up before its limits are lifted, in milliseconds. */
const WIDEN_AFTER_MS = 1_000;
/** Interval at which active owners are counted, in milliseconds. */
const COUNT_INTERVAL_MS = 100;

/** Callers whose connections are treated as one: those with the same key, or all that have sent none. */
export class Owner {
  /** False for the single owner of all connections that have sent no key. */
  readonly isKnown: boolean;
  /** Called when the owner may send work again, before its connections are resumed. */
  readonly onTurn: () => void;
  /** Connections that are read. */
  readonly reading = new Set<Pausable>();
  /** Connections that are not read until their next turn, in that order; those that had no turn yet first. */
  readonly waiting = new Set<Pausable>();
  readonly waitingNew = new Set<Pausable>();
  /** Connections without a call so far. */
  readonly unused = new Set<Pausable>();
  /** Connections that had work in the turn `turn`, and the milliseconds it took. */
  readonly used = new Set<Pausable>();
  turn = -1;
  spentMs = 0;
  activeAtMs = Number.NEGATIVE_INFINITY;
  /** How many connections get a turn at the same time; grows while they stay within their share. */
  batch = 1;
  /** Whether the owner has used its share and waits for a later turn; since when, and how much it used. */
  isHeldUp = false;
  heldUpAtMs = Number.NEGATIVE_INFINITY;
  /** Connections that are limited by `narrow`. */
  readonly narrow = new Set<Pausable>();
  /** What calls other than evaluations sent and received. */
  readonly bytes = new ByteDebt();

  constructor(isKnown: boolean, onTurn: () => void = () => {}) {
    this.isKnown = isKnown;
    this.onTurn = onTurn;
  }

  /** Number of connections. */
  get size(): number {
    return this.reading.size + this.waiting.size + this.waitingNew.size;
  }

  /** Adds a connection to this owner. `isNew` if it has had no call yet. */
  add(connection: Pausable, isNew: boolean): void {
    this.reading.add(connection);
    if (isNew) this.unused.add(connection);
  }

  remove(connection: Pausable): void {
    this.reading.delete(connection);
    this.waiting.delete(connection);
    this.waitingNew.delete(connection);
    this.unused.delete(connection);
    this.used.delete(connection);
    this.narrow.delete(connection);
  }
}

/** The clock and scheduling that fair turns use; replaced in tests. */
export interface TurnClock {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls back once, after the input that is ready now has been processed. */
  endOfTurn(callback: () => void): void;
  after(ms: number, callback: () => void): void;
}

export const PROCESS_CLOCK: TurnClock = {
  now: () => performance.now(),
  endOfTurn: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms).unref(),
};

/**
 * Divides the event loop among owners. In one turn Node.js processes everything that all connections have
 * received, so a caller with many busy connections could make every turn arbitrarily long. The time between
 * the calls of a turn is charged to the owner of the earlier one; the connections of an owner that has used
 * its share are not read until the others have had a turn without it, and are then read in rotation. A single
 * active owner is never held up.
 */
export class FairTurns {
  readonly #clock: TurnClock;
  readonly #owners = new Set<Owner>();
  #turn = 0;
  #isOpen = false;
  #lastOwner: Owner | null = null;
  #lastAtMs = 0;
  /** Owners that get a turn after this one. */
  readonly #due = new Set<Owner>();
  #knownActive = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: TurnClock = PROCESS_CLOCK) {
    this.#clock = clock;
  }

  /** Adds an owner to those that share the time. */
  add(owner: Owner): void {
    this.#owners.add(owner);
  }

  remove(owner: Owner): void {
    this.#owners.delete(owner);
  }

  /** Whether more than one known owner is active. */
  get isShared(): boolean {
    return this.#knownActive > 1;
  }

  /** Records a call on a connection. Must be called before the call is processed. */
  callStarted(owner: Owner, connection: Pausable): void {
    const nowMs = this.#clock.now();
    if (this.#isOpen) this.#charge(nowMs);
    else this.#open(nowMs);
    this.#lastOwner = owner;
    this.#lastAtMs = nowMs;
    owner.activeAtMs = nowMs;
    if (owner.turn !== this.#turn) {
      owner.turn = this.#turn;
      owner.spentMs = 0;
      owner.used.clear();
    }
    owner.used.add(connection);
    if (owner.unused.size > 0) owner.unused.delete(connection);
  }

  #open(nowMs: number): void {
    this.#isOpen = true;
    this.#turn += 1;
    if (nowMs - this.#countedAtMs >= COUNT_INTERVAL_MS) this.#countActive(nowMs);
    this.#clock.endOfTurn(this.#close);
  }

  #countActive(nowMs: number): void {
    this.#countedAtMs = nowMs;
    this.#knownActive = 0;
    for (const owner of this.#owners) {
      if (owner.isKnown && nowMs - owner.activeAtMs < ACTIVE_MS) this.#knownActive += 1;
      if (owner.narrow.size > 0 && nowMs - owner.heldUpAtMs > WIDEN_AFTER_MS) this.#widen(owner);
    }
  }

  /** Charges the time since the last call to that call. */
  #charge(nowMs: number): void {
    const owner = this.#lastOwner;
    if (owner === null) return;
    owner.spentMs += nowMs - this.#lastAtMs;
    if (!owner.isHeldUp && owner.spentMs > this.#shareOf(owner)) this.#holdUp(owner);
  }

  #shareOf(owner: Owner): number {
    if (!owner.isKnown) return UNKNOWN_TURN_MS;
    return this.isShared ? Math.max(LEAST_TURN_MS, TURN_MS / this.#knownActive) : Number.POSITIVE_INFINITY;
  }

  /** Connections that had work are the last to get another turn. */
  #holdUp(owner: Owner): void {
    owner.isHeldUp = true;
    owner.heldUpAtMs = this.#lastAtMs;
    owner.batch = Math.max(1, owner.batch >> 1);
    for (const connection of owner.reading) {
      connection.pause();
      if (owner.unused.has(connection)) owner.waitingNew.add(connection);
      else if (!owner.used.has(connection)) owner.waiting.add(connection);
    }
    for (const connection of owner.used) {
      if (!owner.reading.has(connection)) continue;
      owner.waiting.add(connection);
      if (!owner.isKnown) continue;
      connection.narrow();
      owner.narrow.add(connection);
    }
    owner.reading.clear();
    this.#due.add(owner);
  }

  #widen(owner: Owner): void {
    for (const connection of owner.narrow) connection.widen();
    owner.narrow.clear();
  }

  readonly #close = (): void => {
    this.#charge(this.#clock.now());
    this.#isOpen = false;
    this.#lastOwner = null;
    // Gives the others a turn without input from this owner.
    for (const owner of this.#due) this.#clock.endOfTurn(() => this.#endOfFreeTurn(owner));
    this.#due.clear();
  };

  /** Callers without a key wait longer while others are active. */
  #endOfFreeTurn(owner: Owner): void {
    const endsAtMs = owner.heldUpAtMs + owner.spentMs * (1 / UNKNOWN_SHARE - 1);
    const leftMs = endsAtMs - this.#clock.now();
    if (owner.isKnown || this.#knownActive === 0 || leftMs <= 0) this.#giveTurn(owner);
    else this.#clock.after(leftMs, () => this.#giveTurn(owner));
  }

  /** Resumes reading of some connections of an owner. */
  #giveTurn(owner: Owner): void {
    owner.isHeldUp = false;
    owner.onTurn();
    this.#resumeSome(owner, owner.waitingNew);
    this.#resumeSome(owner, owner.waiting);
    if (owner.isHeldUp || owner.waiting.size + owner.waitingNew.size === 0) return;
    // Their input arrives in the next turn; if it is small, more connections may follow.
    this.#clock.endOfTurn(() => {
      if (!owner.isHeldUp) this.#clock.endOfTurn(() => this.#goOn(owner));
    });
  }

  /** Stops when the owner has used its share: a connection may use the rest of it immediately. */
  #resumeSome(owner: Owner, waiting: Set<Pausable>): void {
    let left = owner.batch;
    for (const connection of waiting) {
      if (left === 0 || owner.isHeldUp) return;
      left -= 1;
      waiting.delete(connection);
      owner.reading.add(connection);
      connection.resume();
    }
  }

  #goOn(owner: Owner): void {
    if (owner.isHeldUp || owner.waiting.size + owner.waitingNew.size === 0) return;
    owner.batch *= 2;
    this.#giveTurn(owner);
  }
}
