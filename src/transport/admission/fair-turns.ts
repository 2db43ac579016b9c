/** Something that can be kept from bringing more work: a connection that is read or not. */
export interface Pausable {
  pause(): void;
  resume(): void;
  /** Lets it bring less at once, until `widen`. Called again while it is narrow already. */
  narrow(): void;
  widen(): void;
}

/**
 * How long the connections of one owner may keep the event loop busy in one turn, in milliseconds, while others are
 * active too; shared out among the owners that are known.
 */
const TURN_MS = 6;
/** The least that an owner gets of it: one read of one connection takes about as long. */
const LEAST_TURN_MS = 2;
/** The same for all connections together that have not shown a key. */
const UNKNOWN_TURN_MS = 2;
/** While known owners are active, connections without a key get at most this share of the time. */
const UNKNOWN_SHARE = 1 / 3;
/** An owner counts as active for so long after its last call, in milliseconds. */
const ACTIVE_MS = 1_000;
/** An owner that was not held up for so long may bring as much at once as before, in milliseconds. */
const WIDEN_AFTER_MS = 1_000;
/** How often it is counted how many owners are active, in milliseconds. */
const COUNT_INTERVAL_MS = 100;

/** Callers whose connections are treated as one: those with the same key, or all that have shown none. */
export class Owner {
  /** False for the one owner of all connections that have shown no key. */
  readonly isKnown: boolean;
  /** Told when the owner may bring work again, before its connections do. */
  readonly onTurn: () => void;
  /** Connections that are read. */
  readonly reading = new Set<Pausable>();
  /** Connections that are not read until it is their turn again, in that order; first those that had none yet. */
  readonly waiting = new Set<Pausable>();
  readonly waitingNew = new Set<Pausable>();
  /** Connections that have not brought a call yet. */
  readonly unused = new Set<Pausable>();
  /** Connections that brought work in the turn `turn`, and the milliseconds that it took. */
  readonly used = new Set<Pausable>();
  turn = -1;
  spentMs = 0;
  activeAtMs = Number.NEGATIVE_INFINITY;
  /** How many connections get their turn at once; grows while they bring no more work than they may. */
  batch = 1;
  /** Whether the owner has had its share and waits for a later turn; since when, and how much it had. */
  isHeldUp = false;
  heldUpAtMs = Number.NEGATIVE_INFINITY;
  /** Connections that were told to bring less at once. */
  readonly narrow = new Set<Pausable>();

  constructor(isKnown: boolean, onTurn: () => void = () => {}) {
    this.isKnown = isKnown;
    this.onTurn = onTurn;
  }

  /** Number of connections. */
  get size(): number {
    return this.reading.size + this.waiting.size + this.waitingNew.size;
  }

  /** A connection is this owner's. `isNew` when it has not brought a call yet. */
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

/** What fair turns need of the process; tests bring their own. */
export interface TurnClock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls back once, after the input that is ready now was worked off. */
  endOfTurn(callback: () => void): void;
  after(ms: number, callback: () => void): void;
}

const PROCESS_CLOCK: TurnClock = {
  now: () => performance.now(),
  endOfTurn: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms).unref(),
};

/**
 * Shares the event loop out among owners. In one turn Node.js works off everything that all connections have brought; a
 * caller with many busy connections would make every turn as long as it likes. So the time between the calls of a turn is
 * charged to the owner of the earlier one, and the connections of an owner that has had its share are not read until the
 * others have had a turn without it; then they are read in rotation. A single active owner is never held up.
 */
export class FairTurns {
  readonly #clock: TurnClock;
  readonly #owners = new Set<Owner>();
  #turn = 0;
  #isOpen = false;
  #lastOwner: Owner | null = null;
  #lastAtMs = 0;
  /** Owners that have to be given a turn after this one. */
  readonly #due = new Set<Owner>();
  #knownActive = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: TurnClock = PROCESS_CLOCK) {
    this.#clock = clock;
  }

  /** Counts an owner among those that share the time. */
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

  /** A connection brings a call. Must be told before the call is worked on. */
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

  /** The time since the last call was that call's. */
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

  /** Those that brought work are the last to have a turn again. */
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
    // The others get a turn in which this owner brings nothing.
    for (const owner of this.#due) this.#clock.endOfTurn(() => this.#endOfFreeTurn(owner));
    this.#due.clear();
  };

  /** Callers without a key have to wait for longer while others are active. */
  #endOfFreeTurn(owner: Owner): void {
    const endsAtMs = owner.heldUpAtMs + owner.spentMs * (1 / UNKNOWN_SHARE - 1);
    const leftMs = endsAtMs - this.#clock.now();
    if (owner.isKnown || this.#knownActive === 0 || leftMs <= 0) this.#giveTurn(owner);
    else this.#clock.after(leftMs, () => this.#giveTurn(owner));
  }

  /** Has some more connections of an owner read. */
  #giveTurn(owner: Owner): void {
    owner.isHeldUp = false;
    owner.onTurn();
    this.#resumeSome(owner, owner.waitingNew);
    this.#resumeSome(owner, owner.waiting);
    if (owner.isHeldUp || owner.waiting.size + owner.waitingNew.size === 0) return;
    // What they bring comes in the next turn; if it is little, more of them may follow.
    this.#clock.endOfTurn(() => {
      if (!owner.isHeldUp) this.#clock.endOfTurn(() => this.#goOn(owner));
    });
  }

  /** Stops when the owner has had its share: a connection may bring at once what was left of it. */
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
