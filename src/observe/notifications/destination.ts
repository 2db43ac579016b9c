import type { NotificationKind } from '../../storage/database/notifications.js';

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

/** A delivery as stored. */
export interface DeliveryRow extends Message {
  readonly id: number;
  readonly destinationId: number;
  readonly object: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly nextAtMs: number;
  readonly lastAtMs: number | null;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export function targetOf(row: DestinationRow, nowMs: number): Target {
  const { type, url, recipients, secret, previousSecret, previousUntilMs } = row;
  const overlaps = previousUntilMs !== null && previousUntilMs > nowMs;
  const secrets = [secret, overlaps ? previousSecret : null].filter((one) => one !== null);
  return { type, url, recipients, secrets };
}
