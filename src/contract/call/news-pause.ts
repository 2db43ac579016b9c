/**
 * Pause after which a stream says that there is nothing new, in milliseconds. Well below the 60 seconds after which
 * common load balancers close a connection on which nothing moves.
 */
export const HEARTBEAT_MS = 15_000;

/** Something that tells of news by a call. */
export interface NewsSource {
  /** Calls `wake` once, when there is something new. */
  wait(wake: () => void): void;
  stopWaiting(wake: () => void): void;
}

/** A wait that ends with news, with its time, or with the stream it is for. */
export interface NewsPause {
  /** True when there were no news for `limitMs`. */
  next(limitMs: number): Promise<boolean>;
  end(): void;
}

/** Creates the pause of a stream that tells news. */
export function createPause(source: NewsSource, signal: AbortSignal): NewsPause {
  let wake: (() => void) | undefined;
  const onAbort = (): void => wake?.();
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    async next(limitMs) {
      let idle = false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => {
          idle = true;
          wake?.();
        }, limitMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        source.wait(wake);
      });
      if (wake !== undefined) source.stopWaiting(wake);
      return idle;
    },
    end: () => signal.removeEventListener('abort', onAbort),
  };
}
