import { TEXT } from './config-readers.js';
import { isIssuer, OIDC, type OidcSettings } from './oidc-settings.js';
import { setting } from './setting.js';

/** Most issuers: a token is looked up at each of them. */
const MAX_ISSUERS = 20;
const VARIABLE = 'SERVICE_OIDC_ISSUERS';
const EXAMPLE = `${VARIABLE}=[{"issuer":"https://login.example.com","audience":"controls","role_map":{"team":"editor"}}]`;

/** Further issuers of bearer tokens. */
export const OIDC_ISSUERS = setting(VARIABLE, null, {
  ...TEXT,
  example: '[{"issuer":"https://login.example.com","audience":"controls","regular_roles":"*"}]',
}).help(
  'Further issuers of bearer tokens, a JSON list: issuer, audience, and as in the variables roles_claim, admin_roles, regular_roles, role_map, namespace_claim, agents_claim, name_claim.',
);

const { rights: RIGHTS } = OIDC;
/** The members of an entry besides issuer and audience, with the settings that say what they are. */
const MEMBERS = {
  roles_claim: 'rolesClaim',
  admin_roles: 'adminRoles',
  regular_roles: 'regularRoles',
  role_map: 'roleMap',
  namespace_claim: 'namespaceClaim',
  agents_claim: 'agentsClaim',
  name_claim: 'nameClaim',
} as const;

/** Reads the list, and adds a problem for each entry that cannot be used. `first`: the issuer of the other variables. */
export function oidcIssuers(
  text: string | null,
  first: string | null,
  isAuthEnabled: boolean,
  problems: string[],
): readonly OidcSettings[] {
  if (text === null) return [];
  const add = (place: string, problem: string): void => void problems.push(`${VARIABLE}: ${place}${problem}`);
  if (!isAuthEnabled) add('', 'tokens need authentication; set SERVICE_API_KEY_ENABLED=true');
  const entries = listOf(text);
  if (entries === undefined || entries.length > MAX_ISSUERS) {
    add('', `must be a JSON list of at most ${MAX_ISSUERS} objects; for example ${EXAMPLE}`);
    return [];
  }
  const issuers = entries.flatMap((entry, index) =>
    issuerOf(entry, (problem) => add(`entry ${index + 1}: `, problem)),
  );
  const names = [...(first === null ? [] : [first]), ...issuers.map(({ issuer }) => issuer)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) add('', `the issuer ${twice} is given twice`);
  return issuers;
}

function listOf(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function issuerOf(entry: unknown, report: (problem: string) => void): OidcSettings[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    report('must be an object');
    return [];
  }
  const { issuer, audience, ...others } = entry as Record<string, unknown>;
  const isNamed = typeof issuer === 'string' && isIssuer(issuer);
  if (!isNamed) report('issuer must be an https URL without a query, exactly as in the tokens');
  const hasAudience = typeof audience === 'string' && audience !== '';
  if (!hasAudience) report('audience must be the audience that its tokens must have');
  const rights: Record<string, unknown> = {};
  for (const [member, place] of Object.entries(MEMBERS)) {
    const value = others[member];
    const { fallback, reader } = RIGHTS[place];
    const read = value === undefined || value === null ? fallback : readMember(value, reader.read);
    if (read === undefined) report(`${member} must be ${reader.expected}`);
    rights[place] = read;
  }
  for (const member of Object.keys(others))
    if (!Object.hasOwn(MEMBERS, member)) report(`has the unknown member ${JSON.stringify(member)}`);
  const { adminRoles, regularRoles, roleMap } = rights as Partial<OidcSettings['rights']>;
  if ([adminRoles, regularRoles, roleMap].every((list) => list?.length === 0))
    report('no token has a role without admin_roles, regular_roles or role_map');
  if (!isNamed || !hasAudience) return [];
  // Each right was read with the setting that it has in the variables.
  const typed = rights as unknown as OidcSettings['rights'];
  return [{ issuer, audience, rights: typed, clockToleranceMs: OIDC.clockToleranceMs.fallback, login: null }];
}

/** A text as in the variable, a list of texts, or an object of texts for pairs. */
function readMember(value: unknown, read: (text: string) => unknown): unknown {
  if (typeof value === 'string' && value !== '') return read(value);
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== '' && !one.includes(',');
  if (Array.isArray(value)) return value.every(isText) ? read(value.join(',')) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const pairs = Object.entries(value);
  return pairs.every((pair) => pair.every(isText))
    ? read(pairs.map((pair) => pair.join('=')).join(','))
    : undefined;
}
