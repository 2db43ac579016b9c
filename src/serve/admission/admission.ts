import type { Socket } from 'node:net';
import type { Principal } from '../../contract/call/handler.js';
import type { AdmissionLimits } from '../../contract/config/admission-limits.js';
import type { TrustedProxies } from '../../contract/config/trusted-proxies.js';
import { type AddressAccount, createAddressAccounts } from './address-accounts.js';
import type { CallClass } from './call-class.js';
import { CallTicket, type KeyAccount, type ProcessAccount } from './call-ticket.js';
import { CallTurns } from './call-turns.js';
import { clientAddress } from './client-address.js';
import { FairTurns, Owner } from './fair-turns.js';
import { KeyedTurns } from './keyed-turns.js';
import type { LoadState } from './load-shedder.js';
import { Peer } from './peer.js';
import { type RefusalMeter, refusal } from './refusals.js';
import { TokenBucket } from './token-bucket.js';

/**
 * Calls of each class started in one turn of the event loop. Evaluations are always started: they are short,
 * and the main work of the service. In an idle process a turn takes less time than the call before it.
 */
const KEYED_CALLS_PER_TURN = 4;
const PUBLIC_CALLS_PER_TURN = 2;
/** Calls with a key other than evaluations that are passed on in one turn, before their key is checked. */
const FRONT_CALLS_PER_TURN = 2;
/** Calls that may wait for their turn. */
const MAX_WAITING_CALLS = 10_000;
/** Smallest requests other than evaluations that a caller makes one at a time, in bytes: each takes milliseconds. */
const LARGE_BYTES = 64 * 1024;
/** New connections set up in one turn; each costs as much as many evaluations. */
const CONNECTIONS_PER_TURN = 1;
/** Size of a burst, as the number of seconds in which the rate would allow it. */
const BURST_SECONDS = 1;

export interface AdmissionOptions {
  readonly limits: AdmissionLimits;
  readonly load: LoadState;
  readonly meter: RefusalMeter;
  readonly proxies: TrustedProxies;
  /** Whether calls need a key. If not, the connections of an address count as those of one owner. */
  readonly hasKeys: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/**
 * Decides, for every protocol, which connections and calls are accepted, in which order they start, and how
 * much memory they may hold. Connections are represented by peers; callers are identified by address and key.
 */
export class Admission implements ProcessAccount {
  readonly limits: AdmissionLimits;
  readonly meter: RefusalMeter;
  readonly #options: AdmissionOptions;
  readonly #turns = new FairTurns();
  readonly #unknown = new Owner(false, () => this.#opening.goOn());
  /** Bounded by the number of connections. */
  readonly #opening = new CallTurns({
    perTurn: CONNECTIONS_PER_TURN,
    maxWaiting: Number.POSITIVE_INFINITY,
    mayStart: () => !this.#unknown.isHeldUp,
  });
  readonly #keyedTurns = new KeyedTurns({
    perTurn: KEYED_CALLS_PER_TURN,
    maxWaiting: MAX_WAITING_CALLS,
    isHeavy: (owner, bytes) =>
      this.#turns.isShared && (bytes >= LARGE_BYTES || owner.bytes.isHeavy(this.now())),
  });
  readonly #frontTurns = new CallTurns({ perTurn: FRONT_CALLS_PER_TURN, maxWaiting: MAX_WAITING_CALLS });
  readonly #publicTurns = new CallTurns({ perTurn: PUBLIC_CALLS_PER_TURN, maxWaiting: MAX_WAITING_CALLS });
  readonly #accounts;
  readonly #publicRate: TokenBucket;
  /** Owners by key fingerprint, or by address if no keys are needed. */
  readonly #keys = new Map<string, KeyAccount>();
  readonly #addresses = new Map<string, Owner>();
  /** Keyed by the HTTP/1 socket or the HTTP/2 session. */
  readonly #peers = new WeakMap<object, Peer>();
  #connections = 0;
  publicCalls = 0;
  heldBytes = 0;

  constructor(options: AdmissionOptions) {
    const { limits, meter, now } = options;
    this.#options = options;
    this.limits = limits;
    this.meter = meter;
    const { publicCallsPerSecond, publicCallsPerSecondPerAddress } = limits;
    this.#publicRate = new TokenBucket(publicCallsPerSecond, publicCallsPerSecond * BURST_SECONDS, now());
    this.#accounts = createAddressAccounts(
      publicCallsPerSecondPerAddress,
      publicCallsPerSecondPerAddress * BURST_SECONDS,
      now,
    );
    this.#turns.add(this.#unknown);
  }

  /** Open connections. */
  get connections(): number {
    return this.#connections;
  }

  /** Running calls that count towards a key. */
  get keyedCalls(): number {
    let sum = 0;
    for (const { running } of this.#keys.values()) sum += running;
    return sum;
  }

  /** Registers an accepted connection. Returns undefined if there are too many; the caller then closes it. */
  connect(socket: Socket): Peer | undefined {
    const { limits, meter, proxies } = this.#options;
    const address = socket.remoteAddress ?? '';
    const account = this.#accounts.of(address);
    const isProxy = proxies.trusts(address);
    if (this.#connections >= limits.connections) {
      meter.connectionClosed('connections');
      return undefined;
    }
    if (!isProxy && account.connections >= limits.connectionsPerAddress) {
      meter.connectionClosed('address-connections');
      return undefined;
    }
    const peer = new Peer({
      socket,
      account,
      owner: this.#firstOwner(address),
      turns: this.#turns,
      opening: this.#opening,
      isProxy,
      onAbuse: () => meter.connectionClosed('abuse'),
      now: this.#options.now,
    });
    this.#connections += 1;
    account.connections += 1;
    socket.once('close', () => {
      this.#connections -= 1;
      account.connections -= 1;
      peer.closed();
      this.#forgetOwner(address, peer.owner);
    });
    this.recognize(socket, peer);
    return peer;
  }

  /** Registers another object for the connection of a peer: its HTTP/2 session, or the socket inside TLS. */
  recognize(connection: object, peer: Peer): void {
    this.#peers.set(connection, peer);
  }

  peerOf(connection: object | undefined): Peer | undefined {
    return connection && this.#peers.get(connection);
  }

  /** Returns the ticket of a call on a connection. */
  ticket(connection: object | undefined, forwardedFor: string | readonly string[] | undefined): CallTicket {
    const peer = this.peerOf(connection);
    const direct = peer?.address ?? '';
    if (forwardedFor === undefined || peer?.isProxy !== true) {
      return new CallTicket(this, peer, direct, peer?.account ?? this.#accounts.of(''));
    }
    const address = clientAddress(direct, forwardedFor, this.#options.proxies);
    return new CallTicket(this, peer, address, this.#accounts.of(address));
  }

  /** Fails with SERVICE_UNAVAILABLE while the event loop is too late for calls of this class. */
  checkLoad(callClass: CallClass): void {
    if (!this.#options.load.refuses(callClass)) return;
    this.meter.callRefused('overload');
    throw refusal('overload', 0);
  }

  /**
   * Starts a call that needs no key when it is its turn, or never if `isGone` by then. Fails with SERVICE_UNAVAILABLE
   * when too many wait.
   */
  takePublicTurn(start: () => void, isGone: () => boolean): void {
    if (!this.#publicTurns.enter(start, isGone)) this.#refuseTurn();
  }

  /**
   * Passes a call with a key on when it is its turn, or never if `isGone` by then; in rotation among callers. Fails with
   * SERVICE_UNAVAILABLE when too many of its caller wait. Not needed for evaluations.
   */
  takeFrontTurn(connection: object | undefined, handOn: () => void, isGone: () => boolean): void {
    const caller = this.peerOf(connection)?.owner ?? this.#unknown;
    if (!this.#frontTurns.enter(handOn, isGone, caller)) this.#refuseTurn();
  }

  /**
   * Resolves when it is the turn of a call with a key, or never if `isGone` by then; undefined if the turn is now. Not
   * needed for evaluations. Fails like `takePublicTurn`. The ticket of a call with one answer ends its turn, see
   * `CallTicket.answered`. The size of requests in bulk does not matter: threads read them.
   */
  keyedTurn(
    ticket: CallTicket,
    hasOneAnswer: boolean,
    isGone: () => boolean,
    isBulk: boolean,
  ): Promise<void> | undefined {
    const bytes = isBulk ? 0 : ticket.heldBytes;
    if (bytes >= LARGE_BYTES) ticket.charges(bytes);
    let isNow = false;
    let resolve = () => {
      isNow = true;
    };
    const start = (answered?: () => void): void => {
      if (hasOneAnswer) ticket.onAnswer(answered);
      else answered?.();
      resolve();
    };
    if (!this.#keyedTurns.enter(ticket.owner, bytes, start, isGone)) this.#refuseTurn();
    if (isNow) return undefined;
    return new Promise((resolved) => {
      resolve = resolved;
    });
  }

  /**
   * Counts a call without a valid key against the rates of its address and of the process. `units` is its
   * cost in units of a simple request. Fails with RATE_LIMITED.
   */
  spendPublic(account: AddressAccount, units: number): void {
    const nowMs = this.#options.now();
    const { limits } = this.#options;
    const waitMs = Math.max(account.publicRate.waitMs(units, nowMs), this.#publicRate.waitMs(units, nowMs));
    if (waitMs > 0) {
      this.meter.callRefused('public-rate');
      throw refusal('public-rate', limits.publicCallsPerSecondPerAddress, Math.ceil(waitMs / 1000));
    }
    account.publicRate.take(units, nowMs);
    this.#publicRate.take(units, nowMs);
  }

  /** The account of the key of a principal; undefined without a key. */
  keyAccountOf({ keyFingerprint }: Principal): KeyAccount | undefined {
    if (keyFingerprint === null) return undefined;
    const known = this.#keys.get(keyFingerprint);
    if (known !== undefined) return known;
    const { limits, now } = this.#options;
    const perSecond = limits.callsPerSecondPerKey;
    const rate = perSecond === 0 ? null : new TokenBucket(perSecond, perSecond * BURST_SECONDS, now());
    // Bounded by the number of configured keys: `forgetKeys` removes the others.
    const account = { owner: new Owner(true), running: 0, heldBytes: 0, rate };
    this.#keys.set(keyFingerprint, account);
    this.#turns.add(account.owner);
    return account;
  }

  /** Forgets the accounts of keys that are not valid any more, once they have neither calls nor connections. */
  forgetKeys(isValid: (fingerprint: string) => boolean): void {
    for (const [fingerprint, { owner, running }] of this.#keys) {
      if (running > 0 || owner.size > 0 || isValid(fingerprint)) continue;
      this.#keys.delete(fingerprint);
      this.#turns.remove(owner);
    }
  }

  now(): number {
    return this.#options.now();
  }

  #refuseTurn(): never {
    this.meter.callRefused('overload');
    throw refusal('overload', 0);
  }

  #firstOwner(address: string): Owner {
    if (this.#options.hasKeys) return this.#unknown;
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const owner = new Owner(true);
    this.#addresses.set(address, owner);
    this.#turns.add(owner);
    return owner;
  }

  #forgetOwner(address: string, owner: Owner): void {
    if (owner.size > 0 || this.#addresses.get(address) !== owner) return;
    this.#addresses.delete(address);
    this.#turns.remove(owner);
  }
}
