import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../gen/proto/grpc/health/v1/health_pb.js';

/** State of grpc.health.v1, for the server and each of its services. */
export interface HealthState {
  /** Notifies every watcher. */
  setServing(serving: boolean): void;
  /** Notifies watchers whose result of `isServing` has changed. */
  refresh(): void;
  /** Sends NOT_SERVING to every watcher and ends its stream with UNAVAILABLE. */
  shutDown(): void;
  readonly serving: boolean;
  /** Adds grpc.health.v1.Health to a router. */
  register(router: ConnectRouter): void;
}

/**
 * Health of the server (`""`) and of the named services: not serving until `setServing`, from then on
 * according to `isServing` for each service.
 */
export function createHealthState(
  serviceNames: readonly string[],
  isServing: (service: string) => boolean = () => true,
): HealthState {
  const names = new Set(['', ...serviceNames]);
  const watchers = new Set<() => void>();
  let serving = false;
  let ended = false;
  const status = (service: string): ServingStatus => {
    if (!names.has(service)) return ServingStatus.SERVICE_UNKNOWN;
    return serving && isServing(service) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING;
  };
  return {
    get serving() {
      return serving;
    },
    setServing(next) {
      if (next === serving) return;
      serving = next;
      for (const tell of watchers) tell();
    },
    refresh() {
      for (const tell of watchers) tell();
    },
    shutDown() {
      serving = false;
      ended = true;
      for (const tell of watchers) tell();
    },
    register(router) {
      router.service(Health, {
        check({ service }) {
          if (!names.has(service)) throw new ConnectError(`there is no service "${service}"`, Code.NotFound);
          return { status: status(service) };
        },
        list: () => ({
          statuses: Object.fromEntries([...names].map((name) => [name, { status: status(name) }])),
        }),
        watch: ({ service }, context) =>
          watch(
            () => status(service),
            () => ended,
            watchers,
            context,
          ),
      });
    },
  };
}

/** Sends the state now and after each change. Fails when the caller disconnects or the server shuts down. */
async function* watch(
  status: () => ServingStatus,
  ended: () => boolean,
  watchers: Set<() => void>,
  context: HandlerContext,
): AsyncGenerator<{ status: ServingStatus }> {
  const { signal } = context;
  let sent: ServingStatus | undefined;
  while (!signal.aborted) {
    const now = status();
    if (now !== sent) {
      sent = now;
      yield { status: now };
      continue;
    }
    if (ended()) throw new ConnectError('the server is shutting down', Code.Unavailable);
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        watchers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      watchers.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
  throw signal.reason;
}
