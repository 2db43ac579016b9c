import type { FastifyBaseLogger } from 'fastify';
import type { OidcSettings } from '../config/oidc-settings.js';
import type { RepeatLog } from '../process/repeat-log.js';
import type { BearerTokens } from '../transport/auth/bearer-tokens.js';
import type { IssuerKeys } from '../transport/auth/issuer-keys.js';
import type { IssuerLogin } from '../transport/session/issuer-login.js';

/** The issuer of bearer tokens, and the tokens of it. */
export interface Issuer {
  readonly settings: OidcSettings;
  readonly keys: IssuerKeys;
  readonly tokens: BearerTokens;
  /** The login of browsers; null if it is not configured. */
  login(sessionSecret: string): IssuerLogin | null;
  close(): void;
}

export interface IssuerOptions {
  readonly log: Pick<FastifyBaseLogger, 'info'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Called regularly, after expired tokens were forgotten. */
  readonly onSweep: () => void;
}

/**
 * Begins to read the keys of the issuer; the start of the service does not wait for them. Undefined without issuer; what
 * verifies tokens is not loaded then.
 */
export async function createIssuer(
  settings: OidcSettings | null,
  options: IssuerOptions,
): Promise<Issuer | undefined> {
  if (settings === null) return undefined;
  const [{ createBearerTokens }, { IssuerKeys }, { createIssuerLogin }] = await Promise.all([
    import('../transport/auth/bearer-tokens.js'),
    import('../transport/auth/issuer-keys.js'),
    import('../transport/session/issuer-login.js'),
  ]);
  const { issuer } = settings;
  const { log, failures, monotonic, onSweep } = options;
  const keys = new IssuerKeys({
    issuer,
    now: monotonic,
    onChange() {
      // What was signed with a key that is gone is not valid any more.
      tokens.forget();
      log.info({ issuer }, 'the keys of the issuer have changed');
    },
    onProblem: (error) =>
      failures.failed('issuer', 'the keys of the issuer cannot be read', error, { issuer }),
  });
  const tokens = createBearerTokens({ settings, keys, now: () => Date.now(), onSweep });
  keys.start();
  return {
    settings,
    keys,
    tokens,
    login: (secret) =>
      settings.login === null
        ? null
        : createIssuerLogin({ settings, login: settings.login, keys, tokens, secret }),
    close() {
      keys.close();
      tokens.close();
    },
  };
}
