import { Code, ConnectError } from '@connectrpc/connect';

/** An API key, or a function that returns the present one. */
export type ApiKey = string | (() => string | Promise<string>);

/** Where the key of a client comes from. */
export interface KeySource {
  /** Whether a refused key can be replaced by reading it again. */
  readonly isRenewable: boolean;
  /** The header for a call: the last key that was read. */
  forCall(): Promise<Record<string, string>>;
  /** The header for a new stream: a callback is called again. */
  forStream(): Promise<Record<string, string>>;
  /** Reads the key again after it was refused. Callers at the same time share one reading. */
  renew(): Promise<void>;
}

/** Visible characters: others cannot travel in a header. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** Throws a TypeError for a key that cannot be sent. */
export function createKeySource(apiKey: ApiKey | undefined): KeySource {
  if (apiKey === undefined) return fixed({});
  if (typeof apiKey === 'string') return fixed(headerOf(apiKey, 'apiKey'));
  if (typeof apiKey !== 'function')
    throw new TypeError('apiKey must be a text or a function that returns one');
  return readFrom(apiKey);
}

function fixed(header: Record<string, string>): KeySource {
  const read = async () => header;
  return { isRenewable: false, forCall: read, forStream: read, renew: async () => {} };
}

function readFrom(callback: () => string | Promise<string>): KeySource {
  let last: Record<string, string> | undefined;
  /** Whether no stream has been opened with the last key since it was renewed. */
  let isFresh = false;
  let reading: Promise<Record<string, string>> | undefined;

  async function call(): Promise<Record<string, string>> {
    let key: unknown;
    try {
      key = await callback();
    } catch (error) {
      // Where keys are kept may be unavailable for a moment, as the service may be.
      const message = `apiKey: the function failed: ${error instanceof Error ? error.message : String(error)}`;
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, error);
    }
    try {
      last = headerOf(key, 'apiKey: the function');
    } catch (error) {
      throw new ConnectError(
        (error as TypeError).message,
        Code.FailedPrecondition,
        undefined,
        undefined,
        error,
      );
    }
    return last;
  }

  function read(): Promise<Record<string, string>> {
    reading ??= call().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    isRenewable: true,
    forCall: async () => last ?? read(),
    async forStream() {
      if (!isFresh || last === undefined) return read();
      isFresh = false;
      return last;
    },
    async renew() {
      await read();
      isFresh = true;
    },
  };
}

function headerOf(key: unknown, source: string): Record<string, string> {
  if (typeof key === 'string' && SENDABLE.test(key)) return { 'x-api-key': key };
  const found = typeof key === 'string' ? (key === '' ? 'an empty text' : 'other characters') : typeof key;
  throw new TypeError(`${source} must give a text of visible ASCII characters, not ${found}`);
}
