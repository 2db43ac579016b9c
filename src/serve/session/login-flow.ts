import { createHash, randomUUID } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';

/** Time for the login at the issuer, in seconds. */
export const FLOW_SECONDS = 600;
/** Most flows whose callback was seen that are remembered. */
const MAX_USED = 10_000;
const ENCRYPTION = { alg: 'dir', enc: 'A256GCM' };

/** What has to be the same in the callback of a login as at its start. */
export interface LoginFlow {
  readonly state: string;
  readonly nonce: string;
  /** The secret of PKCE (RFC 7636). */
  readonly verifier: string;
  readonly redirectUrl: string;
  /** Page of the dashboard, a path below that of the dashboard. */
  readonly page: string;
}

/** Login flows as texts for the cookie of the browser, so that any instance can serve the callback. */
export interface LoginFlows {
  seal(flow: LoginFlow): Promise<string>;
  /** The flow of a text; undefined if it is not one of `seal`, too old, or was opened in this process before. */
  open(text: string): Promise<LoginFlow | undefined>;
}

/** Encrypts flows with a key that is derived from the secret of the sessions. `now` is in milliseconds since 1970. */
export function createLoginFlows(secret: string, now: () => number): LoginFlows {
  const key = createHash('sha256').update('login flow:').update(secret).digest();
  /** By the ids of flows. */
  const used = new BoundedMap<string, true>({ entries: MAX_USED });
  return {
    seal: (flow) =>
      new EncryptJWT({ ...flow })
        .setProtectedHeader(ENCRYPTION)
        .setJti(randomUUID())
        .setExpirationTime(Math.floor(now() / 1000) + FLOW_SECONDS)
        .encrypt(key),
    async open(text) {
      try {
        const { payload } = await jwtDecrypt<LoginFlow>(text, key, {
          contentEncryptionAlgorithms: [ENCRYPTION.enc],
          keyManagementAlgorithms: [ENCRYPTION.alg],
          requiredClaims: ['jti', 'exp'],
          currentDate: new Date(now()),
        });
        const { jti = '' } = payload;
        if (used.has(jti)) return undefined;
        used.set(jti, true);
        return payload;
      } catch {
        return undefined;
      }
    },
  };
}
