import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The clients of the issuer with tokens of their own; `quick` has tokens that last two seconds. */
export type IssuerClient = 'root' | 'reader' | 'support' | 'stranger' | 'quick';

/** A running issuer of a test. */
export interface TestIssuer {
  readonly url: string;
  /** The settings of a service that takes its tokens. */
  readonly environment: Record<string, string>;
  /** A new access token. */
  token(client: IssuerClient): Promise<string>;
  /** A token with these claims, signed with the key of the issuer. */
  sign(claims: object, header?: object): Promise<string>;
  /** Makes a new key the one that tokens are signed with. */
  rotate(options?: { readonly alg?: string; readonly keepsOld?: boolean }): Promise<void>;
  /** Breaks all connections, or answers again. */
  setAway(isAway: boolean): Promise<void>;
  configure(options: { redirectUris?: readonly string[]; lifetimeSeconds?: number }): Promise<void>;
  /** How often keys and tokens were asked for. */
  counts(): Promise<{ readonly keys: number; readonly tokens: number }>;
  stop(): Promise<void>;
}

export const AUDIENCE = 'control-enforcement';

/** Starts an issuer in a process of its own. */
export async function startIssuer(): Promise<TestIssuer> {
  const child = fork(path.join(import.meta.dirname, 'issuer-process.mjs'), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const errors: string[] = [];
  child.stderr?.on('data', (text: Buffer) => errors.push(text.toString()));
  const failed = once(child, 'exit').then(() =>
    Promise.reject(new Error(`the issuer has ended: ${errors.join('')}`)),
  );
  failed.catch(() => {});
  const [{ url }] = (await Promise.race([once(child, 'message'), failed])) as [{ url: string }];

  async function control<T>(action: string, body?: unknown): Promise<T> {
    const reply = await fetch(`${url}/control/${action}`, {
      method: 'POST',
      body: JSON.stringify(body ?? null),
    });
    return (await reply.json()) as T;
  }
  return {
    url,
    environment: {
      SERVICE_API_KEY_ENABLED: 'true',
      SERVICE_OIDC_ISSUER: url,
      SERVICE_OIDC_AUDIENCE: AUDIENCE,
      SERVICE_OIDC_ADMIN_ROLES: 'control-admin',
      SERVICE_OIDC_REGULAR_ROLES: 'control-reader',
    },
    async token(client) {
      const reply = await fetch(`${url}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client}:${client}-secret`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      const { access_token: token } = (await reply.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`the issuer made no token: ${reply.status}`);
      return token;
    },
    sign: (claims, header = {}) => control('sign', { claims, header }),
    rotate: (options = {}) => control('rotate', options),
    setAway: (isAway) => control('away', isAway),
    configure: (options) => control('configure', options),
    counts: () => control('counts'),
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
