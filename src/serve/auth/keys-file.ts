import {
  duplicateNames,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../packages/exact-json/src/index.js';
import { AGENT_PATTERN, createAgentLimit } from '../../contract/call/agent-limit.js';
import { NAMESPACE_NAME, namespaceNamed } from '../../contract/call/namespace.js';
import { DEFAULT_ROLES, isScope, type RoleTable, SCOPES, scopeMask } from '../../contract/call/scopes.js';
import { didYouMean } from '../../contract/warnings/suggestion.js';
import { certificateKey, hashedKey, type KeyRights, type KnownKey, knownKey } from './known-key.js';

/** Most entries of a keys file. */
const MAX_KEYS = 10_000;
/** Most problems that are reported at once. */
const MAX_PROBLEMS = 20;
const MAX_NAME_LENGTH = 128;
/** No control characters and no line breaks: names appear in logs. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;
const SHA256 = /^[0-9a-f]{64}$/i;
const CERTIFICATE = /^(?:URI|DNS|CN):.+$/;
/** A date with a time and a zone, RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const CREDENTIALS = ['key', 'sha256', 'certificate'] as const;
const MEMBERS = ['name', ...CREDENTIALS, 'role', 'scopes', 'namespace', 'expires_at', 'agents'] as const;

/** A keys file cannot be used. Its message names entry and member of each problem, and repeats no key. */
export class KeysFileError extends Error {
  constructor(problems: readonly string[]) {
    const left = problems.length - MAX_PROBLEMS;
    const more = left > 0 ? [`and ${left} more`] : [];
    super([...problems.slice(0, MAX_PROBLEMS), ...more].join('; '));
    this.name = 'KeysFileError';
  }
}

/** Reads a keys file. `others` are the keys configured elsewhere. Throws a KeysFileError with all problems. */
export function readKeysFile(
  content: Buffer,
  others: readonly KnownKey[],
  roles: RoleTable = DEFAULT_ROLES,
): KnownKey[] {
  const problems: string[] = [];
  const entries = entriesOf(content);
  const places = new Map(others.map((key) => [key.id, 'SERVICE_API_KEYS or SERVICE_ADMIN_API_KEYS']));
  const keys: KnownKey[] = [];
  entries.forEach((entry, index) => {
    const place = `keys[${index}]`;
    const report: Report = (member, problem) => void problems.push(`${place}${member}: ${problem}`);
    const key = readEntry(entry, roles, report);
    if (key === undefined) return;
    const other = places.get(key.id);
    if (other === undefined) places.set(key.id, place);
    else problems.push(`${place}: the same key is in ${other}`);
    keys.push(key);
  });
  if (problems.length > 0) throw new KeysFileError(problems);
  return keys;
}

function entriesOf(content: Buffer): readonly JsonValue[] {
  let value: JsonValue;
  try {
    value = parseJson(content);
  } catch (error) {
    throw new KeysFileError([error instanceof Error ? error.message : 'not JSON']);
  }
  // JSON readers keep one of two equal members: which key counts must not depend on that.
  const [repeated] = duplicateNames(content.toString('utf8'), 1);
  if (repeated !== undefined) {
    const [list, index] = repeated.path;
    const place = list === 'keys' && typeof index === 'number' ? `keys[${index}]: ` : '';
    throw new KeysFileError([`${place}a member occurs twice`]);
  }
  const { keys, ...others } = isObject(value) ? value : {};
  if (!Array.isArray(keys)) throw new KeysFileError(['must be an object with the list "keys"']);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new KeysFileError(['has a member other than "keys"']);
  if (keys.length > MAX_KEYS) throw new KeysFileError([`keys: has more than ${MAX_KEYS} entries`]);
  return keys;
}

/** Reports a problem of a member, given with its dot, or of the whole entry. */
type Report = (member: '' | `.${string}`, problem: string) => void;

function readEntry(entry: JsonValue, roles: RoleTable, report: Report): KnownKey | undefined {
  if (!isObject(entry)) {
    report('', 'must be an object');
    return undefined;
  }
  for (const member of Object.keys(entry)) {
    if ((MEMBERS as readonly string[]).includes(member)) continue;
    // A key that was written as the name of a member must not be repeated.
    const known = didYouMean(member, MEMBERS);
    report('', known === '' ? 'has an unknown member' : `has an unknown member${known}`);
  }
  const name = readName(entry.name, report);
  const granted = readGranted(entry, roles, report);
  const namespace = readNamespace(entry.namespace, report);
  const expiresAtMs = readTime(entry.expires_at, report);
  const patterns = readAgents(entry.agents, report);
  const make = readCredential(entry, report);
  if (make === undefined || name === undefined || granted === undefined) return undefined;
  if (namespace === undefined || expiresAtMs === undefined || patterns === undefined) return undefined;
  const agents = patterns === null ? null : createAgentLimit(patterns);
  return make({ ...granted, namespace: namespaceNamed(namespace), name, agents, expiresAtMs });
}

/** What a key may do: the scopes of its role, or those that it lists. A key without either is not assumed to have one. */
function readGranted(
  { role, scopes }: JsonObject,
  roles: RoleTable,
  report: Report,
): Pick<KeyRights, 'role' | 'scopes'> | undefined {
  const listsScopes = scopes !== undefined && scopes !== null;
  const hasRole = role !== undefined && role !== null;
  if (listsScopes && hasRole) {
    report('', 'must have one of role and scopes, not both');
    return undefined;
  }
  if (!listsScopes) {
    const found = typeof role === 'string' ? roles.get(role) : undefined;
    if (found !== undefined) return { role: found.name, scopes: found.scopes };
    report('.role', `must be one of ${[...roles.keys()].join(', ')}`);
    return undefined;
  }
  if (!Array.isArray(scopes) || scopes.length === 0) {
    report('.scopes', 'must be a list of scopes');
    return undefined;
  }
  const known = scopes.filter((scope) => typeof scope === 'string' && isScope(scope));
  scopes.forEach((scope, index) => {
    if (!(known as JsonValue[]).includes(scope))
      report(`.scopes[${index}]`, `must be one of ${SCOPES.join(', ')}`);
  });
  return known.length === scopes.length ? { role: null, scopes: scopeMask(known as string[]) } : undefined;
}

/** The name of the namespace; `default` without one. */
function readNamespace(value: JsonValue | undefined, report: Report): string | undefined {
  if (value === undefined || value === null) return 'default';
  if (typeof value === 'string' && NAMESPACE_NAME.test(value)) return value;
  report(
    '.namespace',
    'must be the name of a namespace: 1 to 63 lower-case letters, digits and inner hyphens',
  );
  return undefined;
}

function readName(value: JsonValue | undefined, report: Report): string | undefined {
  if (
    typeof value === 'string' &&
    value.length <= MAX_NAME_LENGTH &&
    NAME.test(value) &&
    value.trim() === value
  )
    return value;
  report('.name', `must be a text of 1 to ${MAX_NAME_LENGTH} characters, without blanks at its ends`);
  return undefined;
}

/** Infinite without a time. */
function readTime(value: JsonValue | undefined, report: Report): number | undefined {
  if (value === undefined || value === null) return Number.POSITIVE_INFINITY;
  const ms = typeof value === 'string' && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  report('.expires_at', 'must be a time with a zone, for example 2026-12-31T00:00:00Z');
  return undefined;
}

/** Null for all agents. */
function readAgents(value: JsonValue | undefined, report: Report): readonly string[] | null | undefined {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value) || value.length === 0) {
    report('.agents', 'must be a list of agent names; without it, the key is for all agents');
    return undefined;
  }
  const patterns: string[] = [];
  value.forEach((pattern, index) => {
    const plain = typeof pattern === 'string' ? pattern.toLowerCase() : '';
    if (plain !== '' && AGENT_PATTERN.test(plain)) patterns.push(plain);
    else report(`.agents[${index}]`, 'must be the name of an agent, or one with a single *');
  });
  return patterns.length === value.length ? patterns : undefined;
}

/** A function that makes the key, from the one member with a credential. */
function readCredential(entry: JsonObject, report: Report): ((rights: KeyRights) => KnownKey) | undefined {
  const given = CREDENTIALS.filter((member) => entry[member] !== undefined && entry[member] !== null);
  const [member] = given;
  if (member === undefined || given.length > 1) {
    report('', `must have exactly one of ${CREDENTIALS.join(', ')}`);
    return undefined;
  }
  const value = entry[member];
  if (typeof value === 'string') {
    if (member === 'key' && value !== '' && value.trim() === value)
      return (rights) => knownKey(value, rights);
    if (member === 'sha256' && SHA256.test(value))
      return (rights) => hashedKey(Buffer.from(value, 'hex'), rights);
    if (member === 'certificate' && CERTIFICATE.test(value)) return (rights) => certificateKey(value, rights);
  }
  report(`.${member}`, RULES[member]);
  return undefined;
}

const RULES = {
  key: 'must be a text without blanks at its ends',
  sha256: 'must be the SHA-256 of the key, in 64 hex digits',
  certificate: 'must be a name of a client certificate: URI:…, DNS:… or CN:…',
} as const;
