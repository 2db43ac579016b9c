import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { type IssuerMetadata, readJson, readMetadata } from './issuer-documents.js';

/** Times in milliseconds. */
export interface IssuerTimes {
  /** Between two reads of the keys that succeed. */
  readonly refreshMs: number;
  /** Until the next read after one that failed. */
  readonly retryMs: number;
  /** The same if a token waits for it, because there are no keys at all. */
  readonly urgentMs: number;
  /** Between two reads because of unknown keys; `UNKNOWN_KEY_READS` of them may follow each other at once. */
  readonly unknownKeyMs: number;
  /** Age at which keys that could not be read again are not used any more. */
  readonly maxAgeMs: number;
  /** Of one read. */
  readonly timeoutMs: number;
}

export const ISSUER_TIMES: IssuerTimes = {
  refreshMs: 5 * 60_000,
  retryMs: 15_000,
  urgentMs: 1_000,
  unknownKeyMs: 10_000,
  maxAgeMs: 24 * 60 * 60_000,
  timeoutMs: 5_000,
};

/** Reads because of unknown keys that may follow each other at once: strangers can make up names of keys. */
const UNKNOWN_KEY_READS = 3;

export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly times?: IssuerTimes;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Called when the keys have changed. */
  readonly onChange: () => void;
  readonly onProblem: (error: unknown) => void;
}

/** The keys of the issuer could not be read, so it is not known whether a token is valid. */
export class KeysUnavailableError extends Error {
  constructor(cause: unknown) {
    super('the keys of the issuer cannot be read', { cause });
    this.name = 'KeysUnavailableError';
  }
}

interface KeySet {
  readonly text: string;
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly readAtMs: number;
}

/**
 * The signing keys of an issuer. They are read again regularly, and when a token names a key that is not among them.
 * While the issuer cannot be reached, the last keys are used.
 */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #times: IssuerTimes;
  #keys: KeySet | undefined;
  #metadata: IssuerMetadata | undefined;
  #problem: unknown;
  #triedAtMs = 0;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #unknownReads = UNKNOWN_KEY_READS;
  #countedAtMs: number;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    this.#times = options.times ?? ISSUER_TIMES;
    this.#countedAtMs = options.now();
  }

  /** Reads the keys now, and from then on regularly. */
  start(): void {
    void this.#read();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** How old the keys in use are, null if none were ever read, and whether the last attempt to read them failed. */
  get state(): { readonly ageMs: number | null; readonly failed: boolean } {
    const keys = this.#keys;
    return {
      ageMs: keys === undefined ? null : this.#options.now() - keys.readAtMs,
      failed: this.#problem !== undefined,
    };
  }

  /** What the issuer says about itself. Rejects with a KeysUnavailableError if it was never reached. */
  async metadata(): Promise<IssuerMetadata> {
    if (this.#metadata === undefined) await this.#read();
    if (this.#metadata === undefined) throw new KeysUnavailableError(this.#problem);
    return this.#metadata;
  }

  /**
   * The key that a token was signed with. Rejects with a KeysUnavailableError if that cannot be said, and with a
   * JOSEError if the issuer has no such key.
   */
  async find(header: JWSHeaderParameters): Promise<CryptoKey> {
    const keys = await this.#current();
    try {
      return await keys.find(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      if (!this.#mayReadAgain())
        throw this.#problem === undefined ? error : new KeysUnavailableError(this.#problem);
    }
    await this.#read();
    if (this.#problem !== undefined) throw new KeysUnavailableError(this.#problem);
    return (await this.#current()).find(header);
  }

  async #current(): Promise<KeySet> {
    // A read that fails is not repeated for each token.
    const isDue =
      this.#problem === undefined || this.#options.now() - this.#triedAtMs >= this.#times.urgentMs;
    if (this.#keys === undefined && isDue) await this.#read();
    const keys = this.#keys;
    if (keys === undefined || this.#options.now() - keys.readAtMs > this.#times.maxAgeMs)
      throw new KeysUnavailableError(this.#problem);
    return keys;
  }

  #mayReadAgain(): boolean {
    // Calls that wait for a read that is running cause none.
    if (this.#reading !== undefined) return true;
    const now = this.#options.now();
    const earned = (now - this.#countedAtMs) / this.#times.unknownKeyMs;
    this.#unknownReads = Math.min(UNKNOWN_KEY_READS, this.#unknownReads + earned);
    this.#countedAtMs = now;
    if (this.#unknownReads < 1) return false;
    this.#unknownReads -= 1;
    return true;
  }

  /** Never rejects; `#problem` tells why it failed. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
      clearTimeout(this.#timer);
      const { refreshMs, retryMs } = this.#times;
      const waitMs = this.#problem === undefined ? refreshMs : retryMs;
      if (!this.#isClosed) this.#timer = setTimeout(() => void this.#read(), waitMs).unref();
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { issuer, now, onChange, onProblem } = this.#options;
    const { timeoutMs } = this.#times;
    try {
      const metadata = await readMetadata(issuer, timeoutMs);
      const document = await readJson(metadata.jwks_uri, timeoutMs);
      const text = JSON.stringify(document);
      const before = this.#keys;
      // An equal set keeps the keys that were imported.
      const find = before?.text === text ? before.find : createLocalJWKSet(document as JSONWebKeySet);
      this.#keys = { text, find, readAtMs: now() };
      this.#metadata = metadata;
      this.#problem = undefined;
      if (before !== undefined && before.text !== text) onChange();
    } catch (error) {
      this.#problem = error;
      this.#triedAtMs = now();
      if (!this.#isClosed) onProblem(error);
    }
  }
}
