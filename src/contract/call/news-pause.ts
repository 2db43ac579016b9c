/**
 * Pause after which a stream reports that there are no news, in milliseconds. Well below the 60 seconds after
 * which common load balancers close an idle connection.
 */
export const HEARTBEAT_MS = 15_000;

/** A source of news notifications. */
export interface NewsSource {
  /** Calls `wake` once, when there are news. */
  wait(wake: () => void): void;
  stopWaiting(wake: () => void): void;
}

/** A wait that ends with news, at a time limit, or with its stream. */
export interface NewsPause {
  /** True when there were no news for `limitMs`. */
  next(limitMs: number): Promise<boolean>;
  end(): void;
}

/** Creates the pause of a stream of news. */
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
