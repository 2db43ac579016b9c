import { ROLES, roleNamed } from '../call/scopes.js';
import { converted, inMs, integerIn, LIST, LIST_OR_ALL, secret, TEXT, textWhere } from './config-readers.js';
import { setting, type ValuesOf } from './setting.js';

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

/** A role of the issuer, and the role of the service that it stands for. */
export interface MappedRole {
  readonly from: string;
  readonly to: string;
}

/** Pairs of a role of the issuer and one of the service. A role that does not exist is refused. */
const ROLE_MAP = {
  read(text: string): readonly MappedRole[] | undefined {
    const pairs = (LIST.read(text) ?? []).map((entry) => {
      const end = entry.lastIndexOf('=');
      return { from: entry.slice(0, Math.max(0, end)).trim(), to: entry.slice(end + 1).trim() };
    });
    return pairs.every(({ from, to }) => from !== '' && roleNamed(to) !== undefined) ? pairs : undefined;
  },
  expected: `VALUE=ROLE, separated by commas, where ROLE is one of ${ROLES.map(({ name }) => name).join(', ')}`,
  example: 'platform-team=editor,auditors=viewer',
};

/** Bearer tokens, and the login of browsers at their issuer. */
export const OIDC = {
  issuer: setting(
    'SERVICE_OIDC_ISSUER',
    null,
    textWhere(
      isIssuer,
      'an https URL without a query, exactly as in the tokens',
      'https://login.example.com',
    ),
  ).help(
    'Issuer of bearer tokens that are taken beside API keys, exactly as in the tokens. http only on localhost.',
  ),
  audience: setting('SERVICE_OIDC_AUDIENCE', null, TEXT).help('The audience that bearer tokens must have.'),
  rights: {
    rolesClaim: setting('SERVICE_OIDC_ROLES_CLAIM', 'roles', TEXT).help(
      'Claim with the roles of a token, or the path of one, such as realm_access.roles.',
    ),
    adminRoles: setting('SERVICE_OIDC_ADMIN_ROLES', '', LIST).help(
      'Values of that claim that stand for the role admin, separated by commas.',
    ),
    regularRoles: setting('SERVICE_OIDC_REGULAR_ROLES', '', LIST_OR_ALL).help(
      'Values that stand for the role regular, separated by commas, or * for every token.',
    ),
    roleMap: setting('SERVICE_OIDC_ROLE_MAP', '', ROLE_MAP).help(
      'What further values of that claim stand for: VALUE=ROLE, separated by commas.',
    ),
    namespaceClaim: setting('SERVICE_OIDC_NAMESPACE_CLAIM', null, TEXT).help(
      'Claim with the namespace of a token, or a list of namespaces, the first of which is that of calls. Tokens without it are then refused. Not set: default.',
    ),
    agentsClaim: setting('SERVICE_OIDC_AGENTS_CLAIM', null, TEXT).help(
      'Claim with the agents a token is limited to, or the path of one. Tokens without it are then refused; * in it stands for all agents.',
    ),
    nameClaim: setting('SERVICE_OIDC_NAME_CLAIM', 'sub', TEXT).help(
      'Claim with the name of a caller in logs and the audit log, or the path of one.',
    ),
  },
  clockToleranceMs: setting('SERVICE_OIDC_CLOCK_TOLERANCE_SECONDS', 30, inMs(integerIn(0, 300))).help(
    'How far the clocks of issuer and service may differ.',
  ),
  login: {
    clientId: setting('SERVICE_OIDC_CLIENT_ID', null, TEXT).help(
      'The client that browsers log in with at the issuer. Without it, the dashboard takes keys only.',
    ),
    clientSecret: setting('SERVICE_OIDC_CLIENT_SECRET', null, secret(TEXT)).help(
      'Secret of that client. Without it, it is a public client.',
    ),
    // Without `openid` the issuer makes no ID token.
    scopes: setting(
      'SERVICE_OIDC_SCOPES',
      'openid,profile',
      converted(LIST, (scopes): readonly string[] => [...new Set(['openid', ...scopes])]),
    ).help('Scopes of a login, separated by commas; openid is always one.'),
    name: setting('SERVICE_OIDC_NAME', null, TEXT).help(
      'Name of the issuer at the login.',
      'host of the issuer',
    ),
    redirectUrl: setting(
      'SERVICE_OIDC_REDIRECT_URL',
      null,
      textWhere(isSafeUrl, 'an https URL', 'https://controls.example.com/api/oidc/callback'),
    ).help(
      'Address of the callback as registered at the issuer, which ends with /oidc/callback.',
      'that of the request',
    ),
  },
};

type OidcValues = ValuesOf<typeof OIDC>;

/** How the claims of a token become rights. Claims are members, or paths of members with dots. */
export type TokenRights = OidcValues['rights'];

/** Login of browsers at the issuer of tokens. */
export type OidcLogin = NonNullable<ReturnType<typeof loginAt>>;

/** An issuer of tokens, and what they have to be. */
export type OidcSettings = NonNullable<ReturnType<typeof oidcSettings>>;

/** The settings; null without an issuer. Adds a problem for each variable that is missing or has no effect. */
export function oidcSettings(values: OidcValues, isAuthEnabled: boolean, problems: string[]) {
  const { issuer, audience, rights, clockToleranceMs, login } = values;
  if (issuer === null) {
    // One that is set and cannot be used is told already.
    const isTold = problems.some((problem) => problem.startsWith('SERVICE_OIDC_ISSUER:'));
    if (!isTold && (audience !== null || login.clientId !== null))
      problems.push(
        'SERVICE_OIDC_ISSUER: it is missing; for example SERVICE_OIDC_ISSUER=https://login.example.com',
      );
    return null;
  }
  if (!isAuthEnabled)
    problems.push('SERVICE_OIDC_ISSUER: tokens need authentication; set SERVICE_API_KEY_ENABLED=true');
  if (audience === null)
    problems.push(
      'SERVICE_OIDC_AUDIENCE: it is missing; for example SERVICE_OIDC_AUDIENCE=control-enforcement',
    );
  if (rights.adminRoles.length + rights.regularRoles.length + rights.roleMap.length === 0)
    problems.push(
      'SERVICE_OIDC_ADMIN_ROLES: no token has a role without it, SERVICE_OIDC_REGULAR_ROLES or SERVICE_OIDC_ROLE_MAP; for example SERVICE_OIDC_ADMIN_ROLES=control-admin',
    );
  if (login.clientId === null && (login.clientSecret ?? login.redirectUrl) !== null)
    problems.push(
      'SERVICE_OIDC_CLIENT_ID: it is missing; for example SERVICE_OIDC_CLIENT_ID=control-dashboard',
    );
  if (audience === null) return null;
  return { issuer, audience, rights, clockToleranceMs, login: loginAt(issuer, login) };
}

/** Null without a client. */
function loginAt(issuer: string, { clientId, name, ...login }: OidcValues['login']) {
  return clientId === null ? null : { ...login, clientId, name: name ?? new URL(issuer).host };
}
