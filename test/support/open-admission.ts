import type { AdmissionLimits } from '../../src/contract/config/admission-limits.js';
import { Admission } from '../../src/serve/admission/admission.js';
import { createEntrance, type Entrance } from '../../src/serve/admission/entrance.js';
import { createFrontGate, type FrontGate } from '../../src/serve/admission/front-gate.js';
import { createKeyGuessing } from '../../src/serve/admission/key-guessing.js';
import type { LoadState } from '../../src/serve/admission/load-shedder.js';
import type { RefusalMeter } from '../../src/serve/admission/refusals.js';
import type { Authenticator } from '../../src/serve/auth/authenticator.js';
import { createAuthenticator } from '../../src/serve/auth/authenticator.js';
import { fingerprintOf } from '../../src/serve/auth/known-key.js';
import { endedHere } from './ended-sessions.js';

/** Limits that no test reaches unless it sets them. */
export const OPEN_LIMITS: AdmissionLimits = {
  connections: Number.MAX_SAFE_INTEGER,
  connectionsPerAddress: Number.MAX_SAFE_INTEGER,
  publicCalls: Number.MAX_SAFE_INTEGER,
  publicCallsPerAddress: Number.MAX_SAFE_INTEGER,
  publicCallsPerConnection: Number.MAX_SAFE_INTEGER,
  publicCallsPerSecond: 1e9,
  publicCallsPerSecondPerAddress: 1e9,
  callsPerKey: 0,
  callsPerSecondPerKey: 0,
  connectionBytes: Number.MAX_SAFE_INTEGER,
  addressBytes: Number.MAX_SAFE_INTEGER,
  keyBytes: Number.MAX_SAFE_INTEGER,
  totalBytes: Number.MAX_SAFE_INTEGER,
};

export interface OpenAdmission {
  readonly admission: Admission;
  readonly entrance: Entrance;
  readonly gate: FrontGate;
}

export interface OpenAdmissionOptions {
  readonly limits?: Partial<AdmissionLimits>;
  readonly load?: LoadState;
  readonly authenticator?: Authenticator;
  readonly meter?: RefusalMeter;
  readonly now?: () => number;
}

/** An admission that takes everything but what a test limits, with what stands around it. */
export function openAdmission(options: OpenAdmissionOptions = {}): OpenAdmission {
  const now = options.now ?? (() => performance.now());
  const authenticator =
    options.authenticator ??
    createAuthenticator({ enabled: false, keys: [], adminKeys: [], endedSessions: endedHere() });
  const meter = options.meter ?? { callRefused() {}, connectionClosed() {} };
  const admission = new Admission({
    limits: { ...OPEN_LIMITS, ...options.limits },
    load: options.load ?? { refuses: () => false },
    meter,
    proxies: { trusts: () => false },
    hasKeys: authenticator.enabled,
    now,
  });
  const guessing = createKeyGuessing({
    now,
    fingerprintOf,
    onRefused: () => meter.callRefused('key-guessing'),
  });
  const gate = createFrontGate({
    admission,
    classOf: () => ({ callClass: 'keyed', publicUnits: 1, isOperational: false }),
    refuse: { stream() {}, request() {} },
  });
  return { admission, entrance: createEntrance({ admission, authenticator, guessing }), gate };
}
