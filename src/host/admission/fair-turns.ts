/** Something that can be kept from bringing more work: a connection that is read or not. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/**
 * How long the connections of one owner may keep the event loop busy in one turn, in milliseconds, while others are
 * active too; shared out among the owners that are known.
 */
const TURN_MS = 8;
/** The least that an owner gets of it: one read of one connection takes about as long. */
const LEAST_TURN_MS = 2;
/** The same for all connections together that have not shown a key. */
const UNKNOWN_TURN_MS = 2;
/** While known owners are active, connections without a key get at most this share of the time. */
const UNKNOWN_SHARE = 1 / 3;
/** An owner counts as active for so long after its last call, in milliseconds. */
const ACTIVE_MS = 1_000;
/** How often it is counted how many owners are active, in milliseconds. */
const COUNT_INTERVAL_MS = 100;
/** Owners with more connections than this are only kept from those that were used a moment ago: pausing costs, too. */
const MAX_PAUSED_AT_ONCE = 2_000;

/** Callers whose connections are treated as one: those with the same key, or all that have shown none. */
export class Owner {
  /** False for the one owner of all connections that have shown no key. */
  readonly isKnown: boolean;
  readonly connections = new Set<Pausable>();
  /** Connections that brought work in this turn. */
  readonly used = new Set<Pausable>();
  /** Milliseconds spent in the turn `turn`. */
  spentMs = 0;
  turn = -1;
  activeAtMs = Number.NEGATIVE_INFINITY;
  /** What was paused; null while nothing is. */
  paused: Pausable[] | null = null;
  /** Told when it may go on. */
  onResume: (() => void) | null = null;

  constructor(isKnown: boolean) {
    this.isKnown = isKnown;
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
 * charged to the owner of the earlier one, and an owner that has had its share is not read from until the next turn.
 * A single active owner is never held up.
 */
export class FairTurns {
  readonly #clock: TurnClock;
  readonly #owners = new Set<Owner>();
  #turn = 0;
  #isOpen = false;
  #lastOwner: Owner | null = null;
  #lastAtMs = 0;
  readonly #pausedOwners = new Set<Owner>();
  #knownActive = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: TurnClock = PROCESS_CLOCK) {
    this.#clock = clock;
  }

  /** Counts an owner among those that share the time; it leaves when it has no connections. */
  add(owner: Owner): void {
    this.#owners.add(owner);
  }

  remove(owner: Owner): void {
    this.#owners.delete(owner);
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
  }

  /** Whether an owner may bring more work now. */
  mayGoOn(owner: Owner): boolean {
    return owner.paused === null;
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
    }
  }

  /** The time since the last call was that call's. */
  #charge(nowMs: number): void {
    const owner = this.#lastOwner;
    if (owner === null) return;
    owner.spentMs += nowMs - this.#lastAtMs;
    if (owner.paused === null && owner.spentMs > this.#shareOf(owner)) this.#pause(owner);
  }

  #shareOf(owner: Owner): number {
    if (!owner.isKnown) return UNKNOWN_TURN_MS;
    return this.#knownActive < 2
      ? Number.POSITIVE_INFINITY
      : Math.max(LEAST_TURN_MS, TURN_MS / this.#knownActive);
  }

  #pause(owner: Owner): void {
    const all = owner.connections.size <= MAX_PAUSED_AT_ONCE ? owner.connections : owner.used;
    owner.paused = [...all];
    for (const connection of owner.paused) connection.pause();
    this.#pausedOwners.add(owner);
  }

  readonly #close = (): void => {
    const nowMs = this.#clock.now();
    this.#charge(nowMs);
    this.#isOpen = false;
    this.#lastOwner = null;
    for (const owner of this.#pausedOwners) {
      this.#pausedOwners.delete(owner);
      if (owner.isKnown || this.#knownActive === 0) this.#resume(owner);
      else this.#clock.after(owner.spentMs * (1 / UNKNOWN_SHARE - 1), () => this.#resume(owner));
    }
  };

  #resume(owner: Owner): void {
    const paused = owner.paused ?? [];
    owner.paused = null;
    for (const connection of paused) connection.resume();
    owner.onResume?.();
  }
}
