import type { SettingValues } from './config-variables.js';

/** Limits for callers of one process. Each is a separate setting; see `config-variables.ts`. */
export interface AdmissionLimits {
  /** Open connections, in total and per address. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
  /** Running calls that need no key, including streams. */
  readonly publicCalls: number;
  readonly publicCallsPerAddress: number;
  readonly publicCallsPerConnection: number;
  /** Calls per second without a valid key, in units of a simple request. */
  readonly publicCallsPerSecond: number;
  readonly publicCallsPerSecondPerAddress: number;
  /** Running calls of one API key, including streams; 0 for no limit. */
  readonly callsPerKey: number;
  /** Calls per second of one API key, counting each evaluation of a batch or stream; 0 for no limit. */
  readonly callsPerSecondPerKey: number;
  /** Bytes of unanswered requests. */
  readonly connectionBytes: number;
  readonly addressBytes: number;
  readonly keyBytes: number;
  readonly totalBytes: number;
}

/** The limits as configured. */
export function admissionLimits(values: SettingValues): AdmissionLimits {
  // The largest message must fit along with the data received after it.
  const bytes = (setting: number): number => Math.max(setting, 2 * values.maxBodyBytes);
  return {
    connections: values.maxConnections,
    connectionsPerAddress: values.maxConnectionsPerAddress,
    publicCalls: values.maxPublicCalls,
    publicCallsPerAddress: values.maxPublicCallsPerAddress,
    publicCallsPerConnection: values.maxPublicCallsPerConnection,
    publicCallsPerSecond: values.publicCallsPerSecond,
    publicCallsPerSecondPerAddress: values.publicCallsPerSecondPerAddress,
    callsPerKey: values.maxCallsPerKey,
    callsPerSecondPerKey: values.maxCallsPerSecondPerKey,
    connectionBytes: bytes(values.maxConnectionBufferBytes),
    addressBytes: bytes(values.maxAddressBufferBytes),
    keyBytes: bytes(values.maxKeyBufferBytes),
    totalBytes: bytes(values.maxBufferBytes),
  };
}
