import type { NotificationKind } from '../../storage/database/notifications.js';
import {
  type Column,
  columns,
  flag,
  json,
  nullable,
  number,
  type ReadRow,
  text,
} from '../../storage/database/rows.js';

export const DESTINATION_TYPES = ['webhook', 'slack', 'email'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** What a notification is sent to. */
export interface Target {
  readonly type: DestinationType;
  /** Null for e-mail. */
  readonly url: string | null;
  readonly recipients: readonly string[];
  /** Secrets of a webhook, the current one first; empty for others. */
  readonly secrets: readonly string[];
}

export const DESTINATION = columns({
  id: number,
  namespace: text,
  name: text,
  type: text as Column<DestinationType>,
  url: nullable(text),
  recipients: nullable(json<readonly string[]>()),
  kinds: json<readonly NotificationKind[]>(),
  enabled: flag,
  disabledReason: nullable(text),
  createdAtMs: number,
  createdBy: text,
  secret: nullable(text),
  rotatedAtMs: nullable(number),
  previousSecret: nullable(text),
  previousUntilMs: nullable(number),
  dropped: number,
});

/** A destination as stored. Times are in milliseconds since 1970. */
export interface DestinationRow extends ReadRow<typeof DESTINATION> {
  readonly recipients: readonly string[];
}

/** A notification as it is sent. */
export interface Message {
  readonly messageId: string;
  readonly kind: string;
  readonly summary: string;
  /** JSON text: type, timestamp and data. */
  readonly payload: string;
}

export const DELIVERY = columns({
  id: number,
  destinationId: number,
  object: text,
  state: text as Column<DeliveryState>,
  attempts: number,
  createdAtMs: number,
  nextAtMs: number,
  lastAtMs: nullable(number),
  lastStatus: nullable(number),
  lastError: nullable(text),
  messageId: text,
  kind: text,
  summary: text,
  payload: text,
});

/** A delivery as stored. */
export type DeliveryRow = ReadRow<typeof DELIVERY>;

export function targetOf(row: DestinationRow, nowMs: number): Target {
  const { type, url, recipients, secret, previousSecret, previousUntilMs } = row;
  const overlaps = previousUntilMs !== null && previousUntilMs > nowMs;
  const secrets = [secret, overlaps ? previousSecret : null].filter((one) => one !== null);
  return { type, url, recipients, secrets };
}
