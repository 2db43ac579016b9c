import type { Socket } from 'node:net';
import { setReading } from '../../contract/runtime/node-internals.js';
import type { CertificateNames } from '../auth/client-certificate.js';
import type { AddressAccount } from './address-accounts.js';
import type { CallTurns } from './call-turns.js';
import type { FairTurns, Owner, Pausable } from './fair-turns.js';
import { TokenBucket } from './token-bucket.js';

/** Refusals and early resets allowed on a connection without a key: as a burst, and per second after that. */
const OFFENCE_BURST = 20;
const OFFENCES_PER_SECOND = 5;

/** Bytes parsed per turn for a connection without a key: a few requests, at most about thirty. */
const UNKNOWN_SLICE_BYTES = 1_024;
/** The same for one with a key while others are active too. */
const SHARED_SLICE_BYTES = 16_384;

export interface PeerOptions {
  readonly socket: Socket;
  readonly account: AddressAccount;
  readonly owner: Owner;
  readonly turns: FairTurns;
  /** Where new connections wait for their turn. */
  readonly opening: CallTurns;
  /** Whether it may carry requests of several clients. */
  readonly isProxy: boolean;
  /** Called before the connection is closed for abuse. */
  readonly onAbuse: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** An open connection, as admission handles it. */
export class Peer implements Pausable {
  /** Remote address; empty if the socket was closed before the address was read. */
  readonly address: string;
  /** Running calls without a key. */
  publicCalls = 0;
  /** Bytes of unanswered requests. */
  heldBytes = 0;
  /** The verified certificate of its client; undefined without one. */
  certificate: CertificateNames | undefined;
  /** Number of times that reading was paused because others had their turn, or went on. */
  pauseChanges = 0;
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

  /** Whether keys are needed and none was sent on it. Never true for a proxy: other clients may have keys. */
  get isUnknown(): boolean {
    return !this.#owner.isKnown && !this.isProxy;
  }

  /** Most bytes that may be parsed at a time of its HTTP/1 input. */
  get sliceBytes(): number {
    if (!this.#owner.isKnown) return UNKNOWN_SLICE_BYTES;
    return this.#options.turns.isShared ? SHARED_SLICE_BYTES : Number.POSITIVE_INFINITY;
  }

  get owner(): Owner {
    return this.#owner;
  }

  /** Records a call on this connection. */
  callStarted(): void {
    this.#options.turns.callStarted(this.#owner, this);
  }

  /** Runs setup work of a new connection when it is its turn, or never if it is closed by then. */
  takeTurn(work: () => void): void {
    this.#options.opening.enter(work, () => this.#options.socket.destroyed);
  }

  /** Assigns the connection to the owner of the key that was sent on it. */
  belongsTo(owner: Owner): void {
    if (owner === this.#owner) return;
    this.#owner.remove(this);
    this.#owner = owner;
    owner.add(this, false);
    this.resume();
  }

  /**
   * Records that a call was refused, or reset before it was answered. This is normal now and then; a
   * connection without a key that does it continuously is closed, and its remaining input is dropped.
   */
  offended(): void {
    if (!this.isUnknown || this.#isCutOff) return;
    const nowMs = this.#options.now();
    this.#offences ??= new TokenBucket(OFFENCES_PER_SECOND, OFFENCE_BURST, nowMs);
    if (!this.#offences.take(1, nowMs)) this.cutOff();
  }

  /** Closes the connection because of its input. */
  cutOff(): void {
    if (this.#isCutOff) return;
    this.#isCutOff = true;
    this.#options.onAbuse();
    this.#close();
  }

  /** Sets what an HTTP/2 connection supports besides reading: closing with a reason, and fewer streams. */
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

  /** Whether reading is paused because others have their turn. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Stops reading until `resume`; for fair turns. */
  pause(): void {
    this.#isPaused = true;
    this.pauseChanges += 1;
    this.#readIfFree();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.pauseChanges += 1;
    this.#readIfFree();
    const onResume = this.#onResume;
    this.#onResume = null;
    onResume?.();
  }

  /** Ignores further input after the last response. */
  ignoreRest(): void {
    this.#isIgnored = true;
  }

  get isIgnored(): boolean {
    return this.#isIgnored || this.#isCutOff;
  }

  /** Stops reading while input that was read is processed in parts. */
  set isWorking(isWorking: boolean) {
    this.#isWorking = isWorking;
    this.#readIfFree();
  }

  /** Calls back in the next turn of the event loop in which the connection is not paused. */
  nextTurn(callback: () => void): void {
    setImmediate(() => {
      if (this.#isPaused) this.#onResume = callback;
      else callback();
    });
  }

  /** Called when the connection is closed. */
  closed(): void {
    this.#owner.remove(this);
  }

  #setNarrow(isNarrow: boolean): void {
    if (isNarrow === this.#isNarrow) return;
    this.#isNarrow = isNarrow;
    this.#limitStreams?.(isNarrow);
  }

  #readIfFree(): void {
    setReading(this.#options.socket, !this.#isPaused && !this.#isWorking);
  }
}
