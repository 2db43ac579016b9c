/** Why something was refused, as the metrics tell it. */
export const REFUSAL_REASONS = [
  /** The event loop is late. */
  'overload',
  /** The key has too many calls running, or makes too many a second. */
  'key-limit',
  'key-rate',
  /** Too many calls without a key: running, or a second. */
  'public-limit',
  'public-rate',
  /** Wrong keys from this address. */
  'key-guessing',
  /** Bytes of unanswered requests. */
  'connection-bytes',
  'address-bytes',
  'key-bytes',
  'process-bytes',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Why a connection was closed or not accepted. */
export const CLOSED_REASONS = [
  /** The process, or its address, has too many. */
  'connections',
  'address-connections',
  /** It went on after refusals, or resets streams before they are answered. */
  'abuse',
] as const;
export type ClosedReason = (typeof CLOSED_REASONS)[number];

/** Hears of everything that is turned away. */
export interface RefusalMeter {
  /** A call was turned away. */
  callRefused(reason: RefusalReason): void;
  /** A connection was not accepted, or was cut off. */
  connectionClosed(reason: ClosedReason): void;
}
