/** How much callers may use of one process. Each bound is a setting of its own; see `config-variables.ts`. */
export interface AdmissionLimits {
  /** Open connections, in all and from one address. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Calls that need no key and run at the same time, streams among them. */
  readonly publicCalls: number;
  readonly publicCallsPerAddress: number;
  readonly publicCallsPerConnection: number;
  /** Calls a second that show no valid key, in units of a simple request. */
  readonly publicCallsPerSecond: number;
  readonly publicCallsPerSecondPerAddress: number;
  /** Calls of one API key that may run at the same time, streams among them; 0 for any number. */
  readonly callsPerKey: number;
  /** Calls of one API key a second, each evaluation of a batch or stream counted; 0 for any number. */
  readonly callsPerSecondPerKey: number;
  /** Bytes of unanswered requests. */
  readonly connectionBytes: number;
  readonly addressBytes: number;
  readonly keyBytes: number;
  readonly totalBytes: number;
}

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
  callRefused(reason: RefusalReason): void;
  connectionClosed(reason: ClosedReason): void;
}
