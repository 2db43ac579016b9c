import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Client, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  ObservabilityService,
  type WatchEventsRequestSchema,
  type WatchEventsResponse,
} from '../../gen/proto/enforcement/v1/observability_service_pb.js';
import { until } from '../support/until.js';

/** A reader of WatchEvents that keeps what it is told. */
export interface EventWatcher {
  readonly messages: readonly WatchEventsResponse[];
  /** Ids of the events, in the order in which they came. */
  ids(): string[];
  positions(): bigint[];
  /** What kinds of messages came; for one about falling behind its reason. */
  kinds(): string[];
  /** The position to go on from. */
  position(): bigint;
  /** Waits until it has been told of an event. */
  reached(id: string): Promise<void>;
  /** How the stream ended. */
  readonly ended: Promise<ConnectError | 'ended'>;
  /** Ends it, and waits until it has ended. */
  stop(): Promise<void>;
}

export const observability = (transport: Transport): Client<typeof ObservabilityService> =>
  createClient(ObservabilityService, transport);

/** Opens a stream and reads it until it ends or is stopped. */
export function watchEvents(
  transport: Transport,
  request: MessageInitShape<typeof WatchEventsRequestSchema> = {},
): EventWatcher {
  const abort = new AbortController();
  const messages: WatchEventsResponse[] = [];
  const read = async (): Promise<ConnectError | 'ended'> => {
    try {
      const stream = observability(transport).watchEvents(request, { signal: abort.signal });
      for await (const message of stream) messages.push(message);
      return 'ended';
    } catch (error) {
      return ConnectError.from(error);
    }
  };
  const ended = read();
  const told = () => messages.flatMap(({ news }) => (news.case === 'events' ? news.value.events : []));
  const ids = () => told().map(({ event }) => event?.controlExecutionId ?? '');
  return {
    messages,
    ids,
    positions: () => told().map(({ position }) => position),
    kinds: () =>
      messages.map(({ news }) =>
        news.case === 'fellBehind' ? `fellBehind ${news.value.reason}` : String(news.case),
      ),
    position: () => messages.at(-1)?.position ?? 0n,
    async reached(id) {
      await until(ids, (known) => known.includes(id));
    },
    ended,
    async stop() {
      abort.abort();
      await ended;
    },
  };
}
