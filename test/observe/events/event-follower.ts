import { setTimeout as pause } from 'node:timers/promises';
import { observability } from '../../e2e/event-streams.support.js';
import { rpcTransport } from '../../support/rpc-transports.js';

/** A client of WatchEvents that goes on after every end of its stream, from the last position. */
export interface EventFollower {
  /** Ids of all events that it was sent. */
  readonly ids: ReadonlySet<string>;
  /** Events that it was sent before, or at a position that is not after the last one. */
  readonly repeated: number;
  stop(): Promise<void>;
}

const RETRY_PAUSE_MS = 50;

/** Follows all events from the first one on. `url` is the address of the service, which may change. */
export function followEvents(url: () => string): EventFollower {
  const ids = new Set<string>();
  const stopping = new AbortController();
  let repeated = 0;

  async function follow(): Promise<void> {
    let afterPosition = 0n;
    let last = 0n;
    while (!stopping.signal.aborted) {
      try {
        const stream = observability(rpcTransport('gRPC', url())).watchEvents(
          { afterPosition },
          { signal: stopping.signal },
        );
        for await (const { position, news } of stream) {
          for (const { position: at, event } of news.case === 'events' ? news.value.events : []) {
            const id = event?.controlExecutionId ?? '';
            if (ids.has(id) || at <= last) repeated += 1;
            ids.add(id);
            last = at;
          }
          afterPosition = position;
        }
      } catch {
        await pause(RETRY_PAUSE_MS);
      }
    }
  }

  const running = follow();
  return {
    ids,
    get repeated() {
      return repeated;
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
