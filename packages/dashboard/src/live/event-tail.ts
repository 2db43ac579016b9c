import { fromBinary } from '@bufbuild/protobuf';
import {
  type ControlExecutionEvent,
  FellBehindReason,
  WatchEventsResponseSchema,
} from '@gen/enforcement/v1/observability_service_pb.js';
import type { StreamFailure } from '../streams/stream-letters.js';
import type { StreamListener } from '../streams/stream-tab.js';

/** Receiver of what a tail reads. */
export interface TailListener {
  onEvents(events: readonly ControlExecutionEvent[]): void;
  onConnected(): void;
  onLost(failure: StreamFailure): void;
  onNotice(text: string): void;
}

/** Position up to which events were received: a tail that starts with it misses none. */
export interface TailPosition {
  value: bigint | undefined;
}

const NOTICES: Readonly<Record<FellBehindReason, string>> = {
  [FellBehindReason.UNSPECIFIED]: 'The page has fallen behind.',
  [FellBehindReason.SLOW_READER]: 'Events arrive faster than this page reads them; they follow with a delay.',
  [FellBehindReason.EVENTS_DELETED]: 'Some events were deleted because of their age before they were shown.',
  [FellBehindReason.DATABASE_RESTORED]:
    'The database was restored to an earlier state: events shown here may not be stored any more.',
};

/** Reads the messages of a shared stream of events: each event after the position once. */
export function eventTail(position: TailPosition, listener: TailListener): StreamListener {
  return {
    position: () => position.value,
    onAttached: (start, isLive) => {
      position.value ??= start;
      if (isLive) listener.onConnected();
    },
    onLost: (failure) => listener.onLost(failure),
    onMessage: (bytes) => {
      const { position: upTo, news } = fromBinary(WatchEventsResponseSchema, bytes);
      listener.onConnected();
      if (news.case === 'fellBehind') {
        listener.onNotice(NOTICES[news.value.reason]);
        if (news.value.reason === FellBehindReason.DATABASE_RESTORED) position.value = upTo;
      }
      const seen = position.value ?? -1n;
      if (news.case === 'events') {
        listener.onEvents(
          news.value.events.flatMap((one) =>
            one.event === undefined || one.position <= seen ? [] : [one.event],
          ),
        );
      }
      if (upTo > seen) position.value = upTo;
    },
  };
}
