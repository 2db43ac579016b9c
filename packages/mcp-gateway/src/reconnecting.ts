/** How a server is: `silent` if it has not answered in time, `failed` if it could not be reached when it was asked last. */
export const UPSTREAM_STATES = ['unused', 'connecting', 'connected', 'silent', 'failed'] as const;
export type UpstreamState = (typeof UPSTREAM_STATES)[number];

/** A connection that is opened on demand, and again after it broke. */
export interface Reconnecting<C> {
  readonly state: UpstreamState;
  /** The open one. */
  readonly current: C | undefined;
  /**
   * The open one, or opens it. Callers at the same time open it once. Rejects at once for a server that is silent: it is
   * asked again in the background.
   */
  get(): Promise<C>;
  /** Forgets a connection that broke or whose session is lost; not another one that took its place. */
  drop(connection: C): void;
  close(): Promise<C | undefined>;
}

interface ReconnectingOptions<C> {
  readonly open: () => Promise<C>;
  /** How long callers wait for it, in milliseconds. */
  readonly limitMs: number;
  readonly silent: () => Error;
  readonly onState: (state: UpstreamState) => void;
  /** It answers after all. */
  readonly onBack: () => void;
}

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

export function createReconnecting<C>(options: ReconnectingOptions<C>): Reconnecting<C> {
  const { open, limitMs, silent, onState, onBack } = options;
  let state: UpstreamState = 'unused';
  let current: C | undefined;
  let attempt: { readonly opened: Promise<C>; readonly inTime: Promise<C> } | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let silences = 0;
  let isClosed = false;

  function become(next: UpstreamState): void {
    if (state === next || isClosed) return;
    state = next;
    onState(next);
  }

  function begin(): Promise<C> {
    const isBack = silences > 0;
    let isLate = false;
    if (!isBack) become('connecting');
    let overdue: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      overdue = setTimeout(() => {
        isLate = true;
        become('silent');
        reject(silent());
      }, limitMs);
    });
    const opened = open().then(
      (connection) => {
        clearTimeout(overdue);
        attempt = undefined;
        current = connection;
        silences = 0;
        become('connected');
        if (isBack || isLate) onBack();
        return connection;
      },
      (error) => {
        clearTimeout(overdue);
        attempt = undefined;
        if (isLate && !isClosed) {
          retry = setTimeout(again, Math.min(RETRY_MS * 2 ** silences, MAX_RETRY_MS));
          retry.unref();
          silences += 1;
        } else {
          // It is reached again on demand.
          silences = 0;
          become('failed');
        }
        throw error;
      },
    );
    const inTime = Promise.race([opened, late]);
    opened.catch(() => {});
    inTime.catch(() => {});
    attempt = { opened, inTime };
    return inTime;
  }

  function again(): void {
    retry = undefined;
    if (!isClosed) void begin();
  }

  return {
    get state() {
      return state;
    },
    get current() {
      return current;
    },
    get() {
      if (current !== undefined) return Promise.resolve(current);
      if (attempt !== undefined) return silences > 0 ? Promise.reject(silent()) : attempt.inTime;
      return retry === undefined ? begin() : Promise.reject(silent());
    },
    drop(connection) {
      if (current !== connection) return;
      current = undefined;
      become('failed');
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      return current ?? (await attempt?.opened.catch(() => undefined));
    },
  };
}
