import { createClient } from '@connectrpc/connect';
import {
  type ControlExecutionEvent,
  FellBehindReason,
  ObservabilityService,
} from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { transport } from '../api/transport.js';
import { eventFilter } from '../events/event-filter.js';
import { retryDelayMs, waitFor } from '../shared/retry.js';

/** Receiver of what a tail reads. */
export interface TailListener {
  onEvents(events: readonly ControlExecutionEvent[]): void;
  onConnected(): void;
  onLost(error: unknown): void;
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
  [FellBehindReason.DATABASE_RESTORED]: 'The database was restored; events since then may be missing here.',
};
const observability = createClient(ObservabilityService, transport);

/** Reads events until the signal is aborted, and continues a lost stream after the last position. */
export async function tailEvents(
  filters: URLSearchParams,
  position: TailPosition,
  signal: AbortSignal,
  listener: TailListener,
): Promise<void> {
  const { agentName, actions = [], matched } = eventFilter(filters);
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      const request = {
        actions,
        ...(agentName === undefined ? {} : { agentName }),
        ...(matched === undefined ? {} : { matched }),
        ...(position.value === undefined ? {} : { afterPosition: position.value }),
      };
      for await (const message of observability.watchEvents(request, { signal })) {
        failures = 0;
        position.value = message.position;
        listener.onConnected();
        const { news } = message;
        if (news.case === 'fellBehind') listener.onNotice(NOTICES[news.value.reason]);
        if (news.case !== 'events') continue;
        listener.onEvents(news.value.events.flatMap(({ event }) => (event === undefined ? [] : [event])));
      }
    } catch (error) {
      if (!signal.aborted) listener.onLost(error);
    }
    await waitFor(retryDelayMs(failures), signal);
  }
}
