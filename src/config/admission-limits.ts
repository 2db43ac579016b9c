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
