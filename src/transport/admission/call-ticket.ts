import type { AdmissionLimits } from '../../config/admission-limits.js';
import type { Principal } from '../../contract/call/handler.js';
import type { AddressAccount } from './address-accounts.js';
import type { Owner } from './fair-turns.js';
import type { RefusalMeter, RefusalReason } from './limits.js';
import type { Peer } from './peer.js';
import { refusal } from './refusals.js';
import type { TokenBucket } from './token-bucket.js';

/** What the calls of one key use. */
export interface KeyAccount {
  readonly owner: Owner;
  running: number;
  heldBytes: number;
  /** Null for any number of calls a second. */
  readonly rate: TokenBucket | null;
}

/** What is bounded for the whole process, and who is told of refusals. */
export interface ProcessAccount {
  readonly limits: AdmissionLimits;
  readonly meter: RefusalMeter;
  /** Calls without a key that are running. */
  publicCalls: number;
  /** Bytes of unanswered requests. */
  heldBytes: number;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Counts a call without a valid key. Fails with RATE_LIMITED. */
  spendPublic(account: AddressAccount, units: number): void;
  /** The account of the key of a principal; undefined without a key. */
  keyAccountOf(principal: Principal): KeyAccount | undefined;
}

/**
 * Bytes that one request may always hold: about as much memory as an open request takes without them. However much
 * others hold, small requests are served.
 */
export const FREE_BYTES = 16_384;

/** What one call takes of what is bounded, from its first byte to its end. */
export class CallTicket {
  /** Address of the caller, as far as proxies are trusted to tell it. */
  readonly address: string;
  readonly peer: Peer | undefined;
  readonly #process: ProcessAccount;
  readonly #account: AddressAccount;
  #key: KeyAccount | undefined;
  #isPublic = false;
  #isOver = false;
  #heldBytes = 0;

  constructor(process: ProcessAccount, peer: Peer | undefined, address: string, account: AddressAccount) {
    this.#process = process;
    this.peer = peer;
    this.address = address;
    this.#account = account;
  }

  /** Whether a proxy told the address. */
  get isForwarded(): boolean {
    return this.peer !== undefined && this.peer.address !== this.address;
  }

  /**
   * The call needs no key. Counts it until its end. `units` is what it costs in units of a simple request. Fails with
   * RATE_LIMITED when too many run, or come within a second.
   */
  takePublicPlace(units: number): void {
    // A caller may be gone by the time it is its turn.
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

  /** The call was refused. */
  offended(): void {
    this.peer?.offended();
  }

  /**
   * The caller is known. Counts the call for its key until its end. Fails with RATE_LIMITED when the key has no place
   * left, or makes too many calls.
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

  /** Counts more evaluations for the rate of the key. Fails with RATE_LIMITED. */
  spend(evaluations: number): void {
    if (this.#key !== undefined && evaluations > 0) this.#spendRate(this.#key, evaluations);
  }

  /**
   * The unanswered request holds so many bytes now. If that is too much it changes nothing and fails: with RATE_LIMITED
   * for the connection, address or key, with SERVICE_UNAVAILABLE for the process.
   */
  hold(bytes: number): void {
    if (this.#isOver || bytes === this.#heldBytes) return;
    const more = bytes - this.#heldBytes;
    if (more > 0 && bytes > FREE_BYTES) this.#checkBytes(more);
    this.#change(more);
  }

  /** Holds so many bytes more. Fails like `hold`. */
  holdMore(bytes: number): void {
    this.hold(this.#heldBytes + bytes);
  }

  /** Lets go of all bytes, for good: what still comes is not kept. */
  release(): void {
    this.#change(-this.#heldBytes);
  }

  /** Gives everything back, once. Has to be called when the call is over; after that it takes nothing. */
  end(): void {
    if (this.#isOver) return;
    this.release();
    this.#isOver = true;
    if (this.#key !== undefined) this.#key.running -= 1;
    if (!this.#isPublic) return;
    this.#process.publicCalls -= 1;
    this.#account.publicCalls -= 1;
    if (this.peer !== undefined) this.peer.publicCalls -= 1;
  }

  /** The limit of public calls that is reached; null while there is room. */
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
    // A batch may be larger than what a second gives; the calls after it wait for longer.
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
