/** Reasons for refusals, as labelled in the metrics. */
export const REFUSAL_REASONS = [
  /** The event loop is late. */
  'overload',
  /** The key has too many calls running, or makes too many per second. */
  'key-limit',
  'key-rate',
  /** Too many calls without a key: running, or per second. */
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

/** Reasons why a connection was closed or not accepted. */
export const CLOSED_REASONS = [
  /** The process, or the address, has too many connections. */
  'connections',
  'address-connections',
  /** The client continued after refusals, or resets streams before they are answered. */
  'abuse',
] as const;
export type ClosedReason = (typeof CLOSED_REASONS)[number];

/** Counts refused calls and closed connections. */
export interface RefusalMeter {
  /** A call was refused. */
  callRefused(reason: RefusalReason): void;
  /** A connection was not accepted, or was closed. */
  connectionClosed(reason: ClosedReason): void;
}
