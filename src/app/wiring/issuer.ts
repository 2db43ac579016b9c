import type { FastifyBaseLogger } from 'fastify';
import type { RoleTable } from '../../contract/call/scopes.js';
import type { OidcSettings } from '../../contract/config/oidc-settings.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { BearerTokens } from '../../serve/auth/bearer-tokens.js';
import type { IssuerKeys } from '../../serve/auth/issuer-keys.js';
import type { IssuerLogin } from '../../serve/session/issuer-login.js';

/** The issuers of bearer tokens, and the tokens of them. */
export interface Issuers {
  /** Each with its keys. */
  readonly all: readonly { readonly settings: OidcSettings; readonly keys: IssuerKeys }[];
  /** Those of all issuers. */
  readonly tokens: BearerTokens;
  /** The login of browsers; null if it is not configured. */
  login(sessionSecret: string): IssuerLogin | null;
  close(): void;
}

export interface IssuerOptions {
  /** What the roles may do. */
  readonly roles: RoleTable;
  readonly log: Pick<FastifyBaseLogger, 'info'>;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Called regularly, after expired tokens were forgotten. */
  readonly onSweep: () => void;
}

/**
 * Begins to read the keys of the issuers; the start of the service does not wait for them. Undefined without issuers; what
 * verifies tokens is not loaded then. The first one with a login is that of browsers.
 */
export async function createIssuers(
  settings: readonly OidcSettings[],
  options: IssuerOptions,
): Promise<Issuers | undefined> {
  if (settings.length === 0) return undefined;
  const [bearerTokens, issuerKeys, { createIssuerLogin }, { tokensOfAll }] = await Promise.all([
    import('../../serve/auth/bearer-tokens.js'),
    import('../../serve/auth/issuer-keys.js'),
    import('../../serve/session/issuer-login.js'),
    import('../../serve/auth/several-issuers.js'),
  ]);
  const all = settings.map((one) => startIssuer(one, options, { ...bearerTokens, ...issuerKeys }));
  const [first, ...others] = all.map(({ tokens }) => tokens);
  if (first === undefined) return undefined;
  return {
    all,
    tokens: tokensOfAll([first, ...others]),
    login(secret) {
      const one = all.find(({ settings: { login } }) => login !== null);
      if (one === undefined || one.settings.login === null) return null;
      return createIssuerLogin({ ...one, login: one.settings.login, roles: options.roles, secret });
    },
    close() {
      for (const { keys, tokens } of all) {
        keys.close();
        tokens.close();
      }
    },
  };
}

type Modules = typeof import('../../serve/auth/bearer-tokens.js') &
  typeof import('../../serve/auth/issuer-keys.js');

/** One issuer, whose keys are being read. */
function startIssuer(
  settings: OidcSettings,
  { log, failures, monotonic, roles, onSweep }: IssuerOptions,
  { createBearerTokens, IssuerKeys: Keys }: Modules,
) {
  const { issuer } = settings;
  const keys = new Keys({
    issuer,
    now: monotonic,
    onChange() {
      // What was signed with a key that is gone is not valid any more.
      tokens.forget();
      log.info({ issuer }, 'the keys of the issuer have changed');
    },
    onProblem: (error) =>
      failures.failed(`issuer ${issuer}`, 'the keys of the issuer cannot be read', error, { issuer }),
  });
  const tokens = createBearerTokens({ settings, keys, roles, now: () => Date.now(), onSweep });
  keys.start();
  return { settings, keys, tokens };
}
