import type { NotificationKind } from '../../storage/database/notifications.js';
import { type Column, columns, nullable, number, type ReadRow, text } from '../../storage/database/rows.js';

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

/** A destination as stored. Times are in milliseconds since 1970. */
export interface DestinationRow {
  readonly id: number;
  readonly namespace: string;
  readonly name: string;
  readonly type: DestinationType;
  readonly url: string | null;
  readonly recipients: readonly string[];
  readonly kinds: readonly NotificationKind[];
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly secret: string | null;
  readonly rotatedAtMs: number | null;
  readonly previousSecret: string | null;
  readonly previousUntilMs: number | null;
  readonly dropped: number;
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
