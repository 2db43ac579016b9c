import { integerIn, listWhere, MIB } from './config-readers.js';
import { setting, type ValuesOf } from './setting.js';
import { isTrustableNetwork } from './trusted-proxies.js';

/** What connections, addresses, keys and callers without a key may have at the same time, or per second. */
export const CALL_LIMITS = {
  limits: {
    bodyBytes: setting('SERVICE_MAX_BODY_BYTES', 8 * MIB, integerIn(1024, 256 * MIB)).help(
      'Largest request body and gRPC message, in bytes.',
    ),
    streamsPerConnection: setting('SERVICE_MAX_STREAMS_PER_CONNECTION', 256, integerIn(1, 100_000)).help(
      'Calls a client may have running on one HTTP/2 connection, streams among them.',
    ),
    admission: {
      callsPerKey: setting('SERVICE_MAX_CALLS_PER_KEY', 10_000, integerIn(0, 1_000_000)).help(
        'Calls of one API key that may run at the same time, streams among them; 0 for any number.',
      ),
      connections: setting('SERVICE_MAX_CONNECTIONS', 10_000, integerIn(1, 1_000_000)).help(
        'Open connections of each process; further ones are closed at once.',
      ),
      connectionsPerAddress: setting(
        'SERVICE_MAX_CONNECTIONS_PER_ADDRESS',
        5_000,
        integerIn(1, 1_000_000),
      ).help(
        'Open connections from one address (of IPv6, one /64 network), so that no address takes them all; trusted proxies are not bounded.',
      ),
      publicCalls: setting('SERVICE_MAX_PUBLIC_CALLS', 1_024, integerIn(1, 1_000_000)).help(
        'Calls without a key that may run at the same time, such as health watches and reflection; each holds memory.',
      ),
      publicCallsPerAddress: setting(
        'SERVICE_MAX_PUBLIC_CALLS_PER_ADDRESS',
        256,
        integerIn(1, 1_000_000),
      ).help('The same for one address.'),
      publicCallsPerConnection: setting(
        'SERVICE_MAX_PUBLIC_CALLS_PER_CONNECTION',
        32,
        integerIn(1, 1_000_000),
      ).help('The same for one connection.'),
      publicCallsPerSecond: setting('SERVICE_PUBLIC_CALLS_PER_SECOND', 4_000, integerIn(1, 1_000_000)).help(
        'Calls a second without a valid key; metrics and public RPCs count as five. About a fifth of what one process can answer.',
      ),
      publicCallsPerSecondPerAddress: setting(
        'SERVICE_PUBLIC_CALLS_PER_SECOND_PER_ADDRESS',
        1_000,
        integerIn(1, 1_000_000),
      ).help('The same for one address.'),
      callsPerSecondPerKey: setting(
        'SERVICE_MAX_CALLS_PER_SECOND_PER_KEY',
        0,
        integerIn(0, 10_000_000, '5000'),
      ).help(
        'Calls of one API key a second, each evaluation of a batch or stream counted; 0 for any number.',
      ),
    },
  },
};

/** How much memory requests may take, and how late the process may be. */
export const LOAD_LIMITS = {
  trustedProxies: setting(
    'SERVICE_TRUST_PROXY',
    '',
    listWhere(
      isTrustableNetwork,
      'addresses, networks, loopback or private, separated by commas',
      '10.0.0.0/8',
    ),
  ).help(
    'Proxies whose X-Forwarded-For names the client, and X-Forwarded-Prefix the base path: addresses, networks such as 10.0.0.0/8, loopback or private, separated by commas.',
  ),
  limits: {
    admission: {
      connectionBytes: setting(
        'SERVICE_MAX_CONNECTION_BUFFER_BYTES',
        64 * MIB,
        integerIn(65_536, 4096 * MIB),
      ).help('Bytes of unanswered requests on one connection; two of the largest always fit.'),
      addressBytes: setting(
        'SERVICE_MAX_ADDRESS_BUFFER_BYTES',
        96 * MIB,
        integerIn(65_536, 1_048_576 * MIB),
      ).help(
        'Bytes of unanswered requests of one address, so that no address takes all of the process; two of the largest always fit.',
      ),
      keyBytes: setting('SERVICE_MAX_KEY_BUFFER_BYTES', 96 * MIB, integerIn(65_536, 1_048_576 * MIB)).help(
        'The same for one API key.',
      ),
      totalBytes: setting('SERVICE_MAX_BUFFER_BYTES', 128 * MIB, integerIn(65_536, 1_048_576 * MIB)).help(
        'Bytes of unanswered requests in each process, which take up to three times as much memory; two of the largest always fit.',
      ),
    },
    shedDelayMs: setting('SERVICE_SHED_EVENT_LOOP_DELAY_MS', 1_000, integerIn(0, 60_000)).help(
      'Turn evaluations away while the process is this late by its own work, in milliseconds, other calls with a key at half of it, those without at an eighth; 0 for never.',
    ),
  },
};

type LimitValues = ValuesOf<typeof CALL_LIMITS>['limits'] & ValuesOf<typeof LOAD_LIMITS>['limits'];

/** Limits for callers of one process. */
export type AdmissionLimits = LimitValues['admission'];

/** The limits as configured, but never without room for the largest message and the data received after it. */
export function admissionLimits({ bodyBytes, admission }: LimitValues): AdmissionLimits {
  const bytes = (setting: number): number => Math.max(setting, 2 * bodyBytes);
  return {
    ...admission,
    connectionBytes: bytes(admission.connectionBytes),
    addressBytes: bytes(admission.addressBytes),
    keyBytes: bytes(admission.keyBytes),
    totalBytes: bytes(admission.totalBytes),
  };
}
