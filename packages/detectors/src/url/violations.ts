import { isAddress, isPrivate } from '../../../../src/contract/input/host-address.js';
import { OPAQUE_SCHEMES, SPECIAL_SCHEMES } from './find-urls.js';
import { hasPunycode, isEncoded, isMixedScript, isObfuscated } from './host-forms.js';
import type { HostMatcher } from './host-rules.js';
import { nestedUrls } from './nested-urls.js';
import { hasHost, parseUrl, type ReadUrl } from './read-url.js';

/** What `forbid` may have. */
export const FORBIDDABLE = [
  'userinfo',
  'ip_address',
  'private_address',
  'obfuscated_address',
  'encoded_host',
  'punycode',
  'mixed_script',
  'redirect',
  'credentials_in_query',
  'data_uri',
  'markdown_image',
] as const;

export type Forbiddable = (typeof FORBIDDABLE)[number];

/** What is forbidden when a configuration does not say. */
export const DEFAULT_FORBIDDEN: readonly Forbiddable[] = [
  'userinfo',
  'private_address',
  'obfuscated_address',
  'encoded_host',
  'mixed_script',
];

/** Scores of violations. The parser knows what it says; the lower ones depend on what was meant. */
export const SCORES = {
  host_denied: 1,
  host_not_allowed: 1,
  scheme_not_allowed: 1,
  userinfo: 0.9,
  ip_address: 1,
  private_address: 1,
  obfuscated_address: 1,
  encoded_host: 0.9,
  punycode: 1,
  mixed_script: 0.9,
  redirect: 0.8,
  credentials_in_query: 0.8,
  data_uri: 1,
  markdown_image: 0.8,
  unreadable: 1,
} as const;

/** The score of a URL that clients do not read alike where hosts are denied, not allowed: it may be one of these. */
export const UNREADABLE_WHERE_DENIED = 0.6;

export type ViolationKind = keyof typeof SCORES;

/** The rules of a configuration. */
export interface UrlRules {
  /** Null when all hosts are allowed. */
  readonly isAllowed: HostMatcher | null;
  readonly isDenied: HostMatcher | null;
  /** Null when all schemes are allowed. */
  readonly schemes: ReadonlySet<string> | null;
  readonly forbidden: ReadonlySet<Forbiddable>;
}

/** Names of members of a query that carry credentials. */
const CREDENTIALS =
  /^(?:access_?token|auth(?:_?token|orization)?|api_?key|apikey|client_?secret|credentials?|id_?token|jwt|key|pass(?:word|wd)?|private_?key|pwd|refresh_?token|secret(?:_?key)?|session(?:_?id|_?token)?|sid|token|x-api-key|x-amz-(?:signature|security-token|credential))$/i;

/** Which rules a URL violates. */
export function violationsOf(read: ReadUrl, rules: UrlRules): ViolationKind[] {
  const { url, scheme, host, port, writtenHost, hasUserinfo } = read;
  const { isAllowed, isDenied, schemes, forbidden } = rules;
  const found: ViolationKind[] = [];
  if (schemes !== null && !schemes.has(scheme)) found.push('scheme_not_allowed');
  if (scheme === 'data' && forbidden.has('data_uri')) found.push('data_uri');
  if (OPAQUE_SCHEMES.has(scheme)) return found;
  if (isDenied?.(host, port) === true) found.push('host_denied');
  // A file of a host, or of none, is on no list.
  if (isAllowed !== null && !isAllowed(host, port)) found.push('host_not_allowed');
  if (!hasHost(read)) return found;
  if (hasUserinfo && forbidden.has('userinfo')) found.push('userinfo');
  // URLs of other schemes have hosts that are not read as addresses.
  const address = SPECIAL_SCHEMES.has(scheme) ? host : asSpecial(host);
  if (isAddress(address) && forbidden.has('ip_address')) found.push('ip_address');
  if (forbidden.has('private_address') && isPrivate(address)) found.push('private_address');
  if (forbidden.has('obfuscated_address') && isObfuscated(address, writtenHost.toLowerCase())) {
    found.push('obfuscated_address');
  }
  if (forbidden.has('encoded_host') && isEncoded(address, writtenHost)) found.push('encoded_host');
  if (forbidden.has('punycode') && hasPunycode(address)) found.push('punycode');
  if (forbidden.has('mixed_script') && isMixedScript(address)) found.push('mixed_script');
  if (forbidden.has('credentials_in_query') && hasCredentials(url)) found.push('credentials_in_query');
  if (forbidden.has('redirect') && nestedUrls(url).some((inner) => isRedirect(inner, read, rules))) {
    found.push('redirect');
  }
  return found;
}

/** The host as a client of HTTP reads it; the host itself when that cannot. */
function asSpecial(host: string): string {
  return parseUrl(`http://${host}/`)?.hostname ?? host;
}

/** Whether a URL in another one leads to a host that the rules do not allow; without a list, to another host. */
export function isRedirect(inner: ReadUrl, outer: ReadUrl, { isAllowed, isDenied }: UrlRules): boolean {
  if (isDenied?.(inner.host, inner.port) === true) return true;
  if (isAllowed !== null) return !isAllowed(inner.host, inner.port);
  return inner.host !== outer.host;
}

function hasCredentials(url: URL): boolean {
  if (url.search.length <= 1 && !url.hash.includes('=')) return false;
  for (const part of [url.search, url.hash]) {
    for (const [name, value] of new URLSearchParams(part.slice(1))) {
      if (value !== '' && CREDENTIALS.test(name)) return true;
    }
  }
  return false;
}
