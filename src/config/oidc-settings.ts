/** Tokens of an OpenID Connect issuer. */
export interface OidcSettings {
  /** Exactly as in its tokens and its discovery document. */
  readonly issuer: string;
  /** What tokens must be made for, besides those of a login. */
  readonly audience: string;
  readonly rights: TokenRights;
  /** How far the clocks of issuer and service may differ, in milliseconds. */
  readonly clockToleranceMs: number;
  /** Login of browsers; null without it. */
  readonly login: OidcLogin | null;
}

/** How the claims of a token become rights. Claims are members, or paths of members with dots. */
export interface TokenRights {
  readonly rolesClaim: string;
  readonly adminRoles: readonly string[];
  /** `*` for every token. */
  readonly regularRoles: readonly string[] | '*';
  /** Names the agents that a token is limited to; null for tokens without limits. */
  readonly agentsClaim: string | null;
  readonly nameClaim: string;
}

export interface OidcLogin {
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** Shown at the login. */
  readonly name: string;
  /** The address of the callback; null for that of each request. */
  readonly redirectUrl: string | null;
}

/** The values of the variables about OpenID Connect. */
export interface OidcValues {
  readonly authEnabled: boolean;
  readonly oidcIssuer: string | null;
  readonly oidcAudience: string | null;
  readonly oidcRolesClaim: string;
  readonly oidcAdminRoles: readonly string[];
  readonly oidcRegularRoles: readonly string[] | '*';
  readonly oidcAgentsClaim: string | null;
  readonly oidcNameClaim: string;
  readonly oidcClockToleranceSeconds: number;
  readonly oidcClientId: string | null;
  readonly oidcClientSecret: string | null;
  readonly oidcScopes: readonly string[];
  readonly oidcName: string | null;
  readonly oidcRedirectUrl: string | null;
}

/** The settings; null without an issuer. Adds a problem for each variable that is missing or has no effect. */
export function oidcSettings(values: OidcValues, problems: string[]): OidcSettings | null {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcClientId: clientId } = values;
  if (issuer === null) {
    // One that is set and cannot be used is told already.
    const isTold = problems.some((problem) => problem.startsWith('SERVICE_OIDC_ISSUER:'));
    if (!isTold && (audience !== null || clientId !== null))
      problems.push(
        'SERVICE_OIDC_ISSUER: it is missing; for example SERVICE_OIDC_ISSUER=https://login.example.com',
      );
    return null;
  }
  if (!values.authEnabled)
    problems.push('SERVICE_OIDC_ISSUER: tokens need authentication; set SERVICE_API_KEY_ENABLED=true');
  if (audience === null)
    problems.push(
      'SERVICE_OIDC_AUDIENCE: it is missing; for example SERVICE_OIDC_AUDIENCE=control-enforcement',
    );
  if (values.oidcAdminRoles.length === 0 && values.oidcRegularRoles.length === 0)
    problems.push(
      'SERVICE_OIDC_ADMIN_ROLES: no token has a role without it or SERVICE_OIDC_REGULAR_ROLES; for example SERVICE_OIDC_ADMIN_ROLES=control-admin',
    );
  if (clientId === null && (values.oidcClientSecret ?? values.oidcRedirectUrl) !== null)
    problems.push(
      'SERVICE_OIDC_CLIENT_ID: it is missing; for example SERVICE_OIDC_CLIENT_ID=control-dashboard',
    );
  if (audience === null) return null;
  return {
    issuer,
    audience,
    rights: {
      rolesClaim: values.oidcRolesClaim,
      adminRoles: values.oidcAdminRoles,
      regularRoles: values.oidcRegularRoles,
      agentsClaim: values.oidcAgentsClaim,
      nameClaim: values.oidcNameClaim,
    },
    clockToleranceMs: values.oidcClockToleranceSeconds * 1000,
    login: clientId === null ? null : loginOf(clientId, issuer, values),
  };
}

function loginOf(clientId: string, issuer: string, values: OidcValues): OidcLogin {
  return {
    clientId,
    clientSecret: values.oidcClientSecret,
    // Without it the issuer makes no ID token.
    scopes: [...new Set(['openid', ...values.oidcScopes])],
    name: values.oidcName ?? new URL(issuer).host,
    redirectUrl: values.oidcRedirectUrl,
  };
}

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL may be asked for keys and tokens: over https, or on this machine. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK_NAMES.has(hostname));
}

/** Whether a text can be the identifier of an issuer (OpenID Connect Discovery 1.0, section 3). */
export function isIssuer(text: string): boolean {
  return isSafeUrl(text) && !text.includes('?');
}
