import type { Principal } from '../../contract/call/handler.js';
import type { AdmissionLimits } from '../../contract/config/admission-limits.js';
import type { AddressAccount } from './address-accounts.js';
import type { Owner } from './fair-turns.js';
import type { Peer } from './peer.js';
import { type RefusalMeter, type RefusalReason, refusal } from './refusals.js';
import type { TokenBucket } from './token-bucket.js';

/** Resources in use by the calls of one key. */
export interface KeyAccount {
  readonly owner: Owner;
  running: number;
  heldBytes: number;
  /** Null if calls per second are not limited. */
  readonly rate: TokenBucket | null;
}

/** Process-wide counters and limits, and the meter for refusals. */
export interface ProcessAccount {
  readonly limits: AdmissionLimits;
  readonly meter: RefusalMeter;
  /** Calls without a key that are running. */
  publicCalls: number;
  /** Bytes of unanswered requests. */
  heldBytes: number;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Counts a call without a valid key. Fails with RATE_LIMITED. */
  spendPublic(account: AddressAccount, units: number): void;
  /** The account of the key of a principal; undefined without a key. */
  keyAccountOf(principal: Principal): KeyAccount | undefined;
}

/**
 * Bytes that a request may always hold: about the memory an open request takes without its body. Small
 * requests are served however much other requests hold.
 */
export const FREE_BYTES = 16_384;

/** Bytes of a reply to a caller without a key that cost it as much as a simple request. */
const BYTES_PER_UNIT = 16_384;

/** The limited resources that one call uses, from its first byte to its end. */
export class CallTicket {
  /** Address of the caller, taken from trusted proxies where there are any. */
  readonly address: string;
  readonly peer: Peer | undefined;
  readonly #process: ProcessAccount;
  readonly #account: AddressAccount;
  #key: KeyAccount | undefined;
  #isPublic = false;
  #isOver = false;
  #heldBytes = 0;
  #onAnswer: (() => void) | undefined;

  constructor(process: ProcessAccount, peer: Peer | undefined, address: string, account: AddressAccount) {
    this.#process = process;
    this.peer = peer;
    this.address = address;
    this.#account = account;
  }

  /** The callers it is one of; undefined for none. */
  get owner(): Owner | undefined {
    return this.#key?.owner ?? this.peer?.owner;
  }

  /** Whether the address comes from a proxy. */
  get isForwarded(): boolean {
    return this.peer !== undefined && this.peer.address !== this.address;
  }

  /**
   * Counts a call that needs no key, until it ends. `units` is its cost in units of a simple request. Fails
   * with RATE_LIMITED when too many are running or arrive within a second.
   */
  takePublicPlace(units: number): void {
    // The caller may have disconnected before its turn.
    if (this.#isPublic || this.#isOver) return;
    const limit = this.#publicLimit();
    if (limit !== null) {
      this.#process.meter.callRefused('public-limit');
      this.offended();
      throw refusal('public-limit', limit);
    }
    this.spendPublic(units);
    this.#isPublic = true;
    this.#process.publicCalls += 1;
    this.#account.publicCalls += 1;
    if (this.peer !== undefined) this.peer.publicCalls += 1;
  }

  /** Counts a call without a valid key. Fails with RATE_LIMITED. */
  spendPublic(units: number): void {
    try {
      this.#process.spendPublic(this.#account, units);
    } catch (error) {
      this.offended();
      throw error;
    }
  }

  /** Reports that the call was refused. */
  offended(): void {
    this.peer?.offended();
  }

  /**
   * Counts the call for the key of its caller, until it ends. Fails with RATE_LIMITED when the key has too
   * many calls running or makes too many a second.
   */
  takePlace(principal: Principal): void {
    if (this.#isOver || this.#key !== undefined) return;
    const key = this.#process.keyAccountOf(principal);
    if (key === undefined) return;
    const { callsPerKey } = this.#process.limits;
    if (callsPerKey > 0 && key.running >= callsPerKey) {
      this.#process.meter.callRefused('key-limit');
      throw refusal('key-limit', callsPerKey);
    }
    this.#spendRate(key, 1);
    key.running += 1;
    this.#key = key;
    this.peer?.belongsTo(key.owner);
    if (this.#heldBytes > 0) key.heldBytes += this.#heldBytes;
  }

  /** Counts more evaluations against the rate of the key. Fails with RATE_LIMITED. */
  spend(evaluations: number): void {
    if (this.#key !== undefined && evaluations > 0) this.#spendRate(this.#key, evaluations);
  }

  /**
   * Sets the number of bytes the unanswered request holds. Above a limit, changes nothing and fails: with
   * RATE_LIMITED for the connection, address or key, with SERVICE_UNAVAILABLE for the process.
   */
  hold(bytes: number): void {
    if (this.#isOver || bytes === this.#heldBytes) return;
    const more = bytes - this.#heldBytes;
    if (more > 0 && bytes > FREE_BYTES) this.#checkBytes(more);
    this.#change(more);
  }

  /** Bytes that the unanswered request holds. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Counts bytes of its request or reply: its caller's next calls wait behind those of others if there are many. */
  charges(bytes: number): void {
    this.owner?.bytes.charge(bytes, this.#process.now());
  }

  /** Counts bytes of a reply to a caller without a key against the rate of its address. */
  sendsPublic(bytes: number): void {
    this.#account.publicRate.owe(bytes / BYTES_PER_UNIT, this.#process.now());
  }

  /** Sets what is called once, when its only answer is ready or the call is over. */
  onAnswer(answered: (() => void) | undefined): void {
    if (this.#isOver) answered?.();
    else this.#onAnswer = answered;
  }

  /** The only answer of the call is ready. */
  answered(): void {
    const onAnswer = this.#onAnswer;
    this.#onAnswer = undefined;
    onAnswer?.();
  }

  /** Adds to the held bytes. Fails like `hold`. */
  holdMore(bytes: number): void {
    this.hold(this.#heldBytes + bytes);
  }

  /** Releases all bytes; data that still arrives is not kept. */
  release(): void {
    this.#change(-this.#heldBytes);
  }

  /** Releases everything. Must be called when the call is over; later calls have no effect. */
  end(): void {
    if (this.#isOver) return;
    this.answered();
    this.release();
    this.#isOver = true;
    if (this.#key !== undefined) this.#key.running -= 1;
    if (!this.#isPublic) return;
    this.#process.publicCalls -= 1;
    this.#account.publicCalls -= 1;
    if (this.peer !== undefined) this.peer.publicCalls -= 1;
  }

  /** The limit of public calls that is reached; null if none is. */
  #publicLimit(): number | null {
    const { limits, publicCalls } = this.#process;
    if ((this.peer?.publicCalls ?? 0) >= limits.publicCallsPerConnection && this.peer?.isProxy !== true)
      return limits.publicCallsPerConnection;
    if (this.#account.publicCalls >= limits.publicCallsPerAddress) return limits.publicCallsPerAddress;
    return publicCalls >= limits.publicCalls ? limits.publicCalls : null;
  }

  #spendRate({ rate }: KeyAccount, units: number): void {
    if (rate === null) return;
    const nowMs = this.#process.now();
    // A batch may exceed the rate of a second; later calls then wait longer.
    const waitMs = rate.waitMs(1, nowMs);
    if (waitMs > 0) {
      this.#process.meter.callRefused('key-rate');
      throw refusal('key-rate', this.#process.limits.callsPerSecondPerKey, Math.ceil(waitMs / 1000));
    }
    rate.owe(units, nowMs);
  }

  #checkBytes(more: number): void {
    const { connectionBytes, addressBytes, keyBytes, totalBytes } = this.#process.limits;
    const check = (reason: RefusalReason & `${string}-bytes`, held: number, limit: number): void => {
      if (held + more <= limit) return;
      this.#process.meter.callRefused(reason);
      throw refusal(reason, limit);
    };
    check('connection-bytes', this.peer?.heldBytes ?? this.#heldBytes, connectionBytes);
    check('address-bytes', this.#account.heldBytes, addressBytes);
    check('key-bytes', this.#key?.heldBytes ?? 0, keyBytes);
    check('process-bytes', this.#process.heldBytes, totalBytes);
  }

  #change(more: number): void {
    this.#heldBytes += more;
    this.#account.heldBytes += more;
    this.#process.heldBytes += more;
    if (this.peer !== undefined) this.peer.heldBytes += more;
    if (this.#key !== undefined) this.#key.heldBytes += more;
  }
}
