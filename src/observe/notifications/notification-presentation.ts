import { isoOf } from '../../contract/call/printed.js';
import type { DeliveryRow, DestinationRow } from './destination.js';
import type { OpenDeliveries } from './destination-store.js';

/** A destination as contained in replies. */
export function printedDestination(row: DestinationRow, open: OpenDeliveries | undefined, nowMs: number) {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    url: shownUrl(row),
    recipients: [...row.recipients],
    kinds: [...row.kinds],
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    created_at: isoOf(row.createdAtMs),
    created_by: row.createdBy,
    rotated_at: isoOf(row.rotatedAtMs),
    previous_secret_until: isoOf((row.previousUntilMs ?? 0) > nowMs ? row.previousUntilMs : null),
    waiting_deliveries: open?.waiting ?? 0,
    dead_deliveries: open?.dead ?? 0,
    dropped_notifications: row.dropped,
  };
}

/** A delivery as contained in replies. */
export function printedDelivery(row: DeliveryRow) {
  return {
    id: row.id,
    destination_id: row.destinationId,
    message_id: row.messageId,
    kind: row.kind,
    object: row.object,
    summary: row.summary,
    state: row.state,
    attempts: row.attempts,
    created_at: isoOf(row.createdAtMs),
    next_attempt_at: row.state === 'waiting' ? isoOf(row.nextAtMs) : null,
    last_attempt_at: isoOf(row.lastAtMs),
    last_status: row.lastStatus,
    last_error: row.lastError,
  };
}

/** The URL of a destination without what may be secret: queries, and the path of Slack, which allows to write to its channel. */
export function shownUrl({ type, url }: Pick<DestinationRow, 'type' | 'url'>): string | null {
  if (url === null) return null;
  const { origin, pathname, search } = new URL(url);
  if (type === 'slack') return `${origin}/…`;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
