import { randomBytes } from 'node:crypto';
import { roleTable } from '../../contract/call/scopes.js';
import { createKeyUses } from '../../manage/keys/key-uses.js';
import type { Admission } from '../../serve/admission/admission.js';
import { createEntrance, type Entrance } from '../../serve/admission/entrance.js';
import { createKeyGuessing } from '../../serve/admission/key-guessing.js';
import { type Authenticator, createAuthenticator } from '../../serve/auth/authenticator.js';
import { KeyRing } from '../../serve/auth/key-ring.js';
import { fingerprintOf } from '../../serve/auth/known-key.js';
import { createStoredKeys } from '../../serve/auth/stored-keys.js';
import type { RpcMethod } from '../../serve/descriptors/rpc-methods.js';
import { createEndedSessionStore } from '../../serve/sessions/ended-session-store.js';
import { createEndedSessions, type EndedSessions } from '../../serve/sessions/ended-sessions.js';
import type { Features } from './features.js';
import type { Foundations } from './foundations.js';
import { createIssuers, type Issuers } from './issuer.js';
import { readStartFiles, type StartFiles } from './live-files.js';
import type { Programs } from './programs.js';
import {
  callerRights,
  exchangeMethod,
  keyReaderOf,
  runtimeAccess,
  upstreamDecisions,
} from './runtime-auth.js';

const RANDOM_SECRET_BYTES = 32;

/** What tells who calls, and what they may do. */
export interface CallerParts {
  readonly authenticator: Authenticator;
  readonly entrance: Entrance;
  readonly keyRing: KeyRing;
  readonly keyReader: ReturnType<typeof keyReaderOf>;
  /** Undefined without bearer tokens. */
  readonly issuer: Issuers | undefined;
  /** The browser sessions that were ended before they expire. */
  readonly endedSessions: EndedSessions;
  /** Signs sessions and logins. */
  readonly sessionSecret: string;
  readonly startFiles: StartFiles;
}

export interface CallerPartsOptions {
  readonly admission: Admission;
  /** All RPCs, by name. */
  readonly methods: ReadonlyMap<string, RpcMethod>;
}

/** Rejects if a file of keys or an issuer that the settings name cannot be used. */
export async function createCallerParts(
  { config, log, parts, database, failures, metrics, now, monotonic }: Foundations,
  { liveKeys, namespaces }: Programs,
  features: Features,
  { admission, methods }: CallerPartsOptions,
): Promise<CallerParts> {
  const roles = roleTable(config.auth.validationAccess);
  const keyRing = new KeyRing(config.auth, now, roles);
  const startFiles = readStartFiles(config, keyRing);
  const storedKeys = createStoredKeys(roles);
  liveKeys.onChange(() => keyRing.replaceStored(storedKeys(liveKeys.keys)));
  parts.add(
    createKeyUses({
      database,
      takeUsed: () => keyRing.takeUsed(),
      failures,
      now,
    }),
  );
  // Subjects of tokens are not kept either: their accounts are made again when they call.
  const forgetKeys = () =>
    admission.forgetKeys((fingerprint) => keyRing.byFingerprint(fingerprint) !== undefined);
  keyRing.onChange(forgetKeys);
  const { oidc, oidcIssuers } = config.auth;
  const issuer = await createIssuers([...(oidc === null ? [] : [oidc]), ...oidcIssuers], {
    roles,
    log,
    failures,
    monotonic,
    onSweep: forgetKeys,
  });
  parts.add({ close: () => issuer?.close() });
  // Sessions and logins have the same one. Without a configured one, they end with the process.
  const sessionSecret = config.auth.sessionSecret ?? randomBytes(RANDOM_SECRET_BYTES).toString('base64url');
  const endedSessions = parts.add(
    createEndedSessions({
      store: createEndedSessionStore(database.bulk),
      failures,
      now,
    }),
  );
  const keyReader = keyReaderOf(config.auth);
  const decisions = upstreamDecisions({
    auth: config.auth,
    methods: methods.values(),
    roles,
    failures,
    now,
  });
  features.runtimeTokens.connect(
    callerRights(config.auth, keyRing, decisions, exchangeMethod(methods.values()), namespaces),
  );
  const authenticator = createAuthenticator({
    ...config.auth,
    evaluations: runtimeAccess(config.auth.runtime, features.runtimeTokens.codec, keyRing, now),
    decisions,
    endedSessions,
    sessionSecret,
    keyRing,
    roles,
    tokens: issuer?.tokens,
    namespaces,
  });
  const entrance = createEntrance({
    admission,
    authenticator,
    guessing: createKeyGuessing({
      now: monotonic,
      // A verified token counts by its subject, like everywhere else.
      fingerprintOf: (key) =>
        issuer?.tokens.find(key)?.keyFingerprint ?? decisions?.fingerprintOf(key) ?? fingerprintOf(key),
      claimedSubject: (token) => issuer?.tokens.claimedSubject(token),
      onRefused: () => metrics.callRefused('key-guessing'),
    }),
  });
  return { authenticator, entrance, keyRing, keyReader, issuer, endedSessions, sessionSecret, startFiles };
}
