import type { Socket } from 'node:net';
import type { AddressAccount } from './address-accounts.js';
import type { CallTurns } from './call-turns.js';
import type { FairTurns, Owner, Pausable } from './fair-turns.js';
import { TokenBucket } from './token-bucket.js';

/** Refusals and early resets that a connection without a key may cause at once, and how many a second after that. */
const OFFENCE_BURST = 20;
const OFFENCES_PER_SECOND = 5;

/** What one turn parses of a connection without a key: a few requests, at most some thirty. */
const UNKNOWN_SLICE_BYTES = 1_024;
/** The same of one with a key while others are active too. */
const SHARED_SLICE_BYTES = 16_384;

/** How Node.js stops and starts to read a socket, also one that HTTP/2 has taken over. No public method does that. */
interface ReadHandle {
  readStop?(): number;
  readStart?(): number;
}

export interface PeerOptions {
  readonly socket: Socket;
  readonly account: AddressAccount;
  readonly owner: Owner;
  readonly turns: FairTurns;
  /** Where new connections wait for their turn. */
  readonly opening: CallTurns;
  /** Whether other clients may stand behind it. */
  readonly isProxy: boolean;
  /** Told before the connection is cut off. */
  readonly onAbuse: () => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** An open connection, as admission sees it. */
export class Peer implements Pausable {
  /** Address of the other end; empty when it was gone before it was asked for. */
  readonly address: string;
  /** Calls without a key that run on it. */
  publicCalls = 0;
  /** Bytes of unanswered requests on it. */
  heldBytes = 0;
  readonly #options: PeerOptions;
  #owner: Owner;
  #offences: TokenBucket | null = null;
  #close: () => void;
  #limitStreams: ((isNarrow: boolean) => void) | null = null;
  #isNarrow = false;
  #isCutOff = false;
  #isIgnored = false;
  #isPaused = false;
  #isWorking = false;
  #onResume: (() => void) | null = null;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#owner = options.owner;
    this.address = options.socket.remoteAddress ?? '';
    this.#close = () => options.socket.destroy();
    this.#owner.add(this, true);
  }

  get account(): AddressAccount {
    return this.#options.account;
  }

  get isProxy(): boolean {
    return this.#options.isProxy;
  }

  /** Whether no key was shown on it where keys are needed. A proxy is known: its other clients may have keys. */
  get isUnknown(): boolean {
    return !this.#owner.isKnown && !this.isProxy;
  }

  /** How much may be parsed at once of what it sends over HTTP/1, in bytes. */
  get sliceBytes(): number {
    if (!this.#owner.isKnown) return UNKNOWN_SLICE_BYTES;
    return this.#options.turns.isShared ? SHARED_SLICE_BYTES : Number.POSITIVE_INFINITY;
  }

  get owner(): Owner {
    return this.#owner;
  }

  /** A call comes in on it. */
  callStarted(): void {
    this.#options.turns.callStarted(this.#owner, this);
  }

  /** Does work that a new connection makes when it is its turn; never, if it is closed by then. */
  takeTurn(work: () => void): void {
    this.#options.opening.enter(work, () => this.#options.socket.destroyed);
  }

  /** A key was shown on it. From now on what it does is that key's. */
  belongsTo(owner: Owner): void {
    if (owner === this.#owner) return;
    this.#owner.remove(this);
    this.#owner = owner;
    owner.add(this, false);
    this.resume();
  }

  /**
   * A call on it was refused, or was reset before it was answered. Clients do both now and then; one without a key that
   * does it all the time is cut off, and what it has sent is dropped.
   */
  offended(): void {
    if (!this.isUnknown || this.#isCutOff) return;
    const nowMs = this.#options.now();
    this.#offences ??= new TokenBucket(OFFENCES_PER_SECOND, OFFENCE_BURST, nowMs);
    if (!this.#offences.take(1, nowMs)) this.cutOff();
  }

  /** Closes the connection because of what comes on it. */
  cutOff(): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    this.#options.onAbuse();
    this.#close();
  }

  /** Tells what a connection of HTTP/2 can do beside being read: be cut off in words, and take fewer streams. */
  speaksHttp2(session: { cutOff(): void; limitStreams(isNarrow: boolean): void }): void {
    this.#close = () => session.cutOff();
    this.#limitStreams = (isNarrow) => session.limitStreams(isNarrow);
  }

  narrow(): void {
    this.#setNarrow(true);
  }

  widen(): void {
    this.#setNarrow(false);
  }

  /** Whether the connection is not read because others have their turn. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Keeps the connection from bringing more, and goes on with it; for fair turns. */
  pause(): void {
    this.#isPaused = true;
    this.#readIfFree();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#readIfFree();
    const onResume = this.#onResume;
    this.#onResume = null;
    onResume?.();
  }

  /** The last answer was given: what still comes is not looked at. */
  ignoreRest(): void {
    this.#isIgnored = true;
  }

  get isIgnored(): boolean {
    return this.#isIgnored || this.#isCutOff;
  }

  /** Nothing more is read while what was read is worked off in parts. */
  set isWorking(isWorking: boolean) {
    this.#isWorking = isWorking;
    this.#readIfFree();
  }

  /** Calls back in the next turn of the event loop in which the connection may bring work. */
  nextTurn(callback: () => void): void {
    setImmediate(() => {
      if (this.#isPaused) this.#onResume = callback;
      else callback();
    });
  }

  /** The connection is closed. */
  closed(): void {
    this.#owner.remove(this);
  }

  #setNarrow(isNarrow: boolean): void {
    if (isNarrow === this.#isNarrow) return;
    this.#isNarrow = isNarrow;
    this.#limitStreams?.(isNarrow);
  }

  #readIfFree(): void {
    const { socket } = this.#options;
    if (socket.destroyed) return;
    const handle = (socket as unknown as { _handle?: ReadHandle | null })._handle;
    if (this.#isPaused || this.#isWorking) handle?.readStop?.();
    else handle?.readStart?.();
  }
}
