import {
  converted,
  entriesOf,
  inMs,
  integerIn,
  LIST,
  numberIn,
  type Reader,
  secret,
  TEXT,
  textWhere,
  wordOf,
} from './config-readers.js';
import { setting, type ValuesOf } from './setting.js';

/** A token of RFC 9110, in lower case: HTTP/2 and gRPC have no other names. */
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that the protocols use themselves. */
const RESERVED = new Set(['cookie', 'host', 'connection', 'content-type', 'content-length', 'te', 'origin']);
/** Shorter secrets of HS256 can be guessed from one token (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;
const MAX_SECRETS = 2;
/** Longest life of a runtime token, in seconds: a day. */
export const MAX_TOKEN_SECONDS = 86_400;

function isHeader(name: string): boolean {
  return (
    HEADER_NAME.test(name) && !RESERVED.has(name) && !name.startsWith('grpc-') && !name.startsWith('connect-')
  );
}

/** The name of a header, in lower case. */
const HEADER: Reader<string> = {
  read: (text) => (isHeader(text.toLowerCase()) ? text.toLowerCase() : undefined),
  expected: 'the name of a header that no protocol uses itself',
  example: 'X-Runtime-Token',
};

/** Names of headers, in lower case, each once. */
const HEADERS: Reader<readonly string[]> = {
  read(text) {
    const names = entriesOf(text.toLowerCase()).filter((name) => name !== '');
    return names.every(isHeader) ? [...new Set(names)] : undefined;
  },
  expected: 'names of headers that no protocol uses itself, separated by commas',
  example: 'X-SF-Token',
};

/** Whether a URL can be asked: credentials in it would be in logs. */
function isUpstreamUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username + password + hash === '';
}

/** How callers prove who they are, beside keys and tokens of an issuer. */
export const AUTH_MODES = {
  auth: {
    mode: setting('SERVICE_AUTH_MODE', null, wordOf('none', 'api_key', 'http_upstream')).help(
      'Who decides about callers: none (everyone may do everything), api_key (this service, by keys and tokens), or http_upstream (a service that is asked about each operation).',
      'by SERVICE_API_KEY_ENABLED',
    ),
    keyHeaders: setting('SERVICE_API_KEY_HEADERS', '', HEADERS).help(
      'Further headers, and metadata, that carry a key: names separated by commas. X-API-Key is read before them, Authorization after them.',
    ),
    runtime: {
      mode: setting('SERVICE_RUNTIME_AUTH_MODE', null, wordOf('none', 'api_key', 'jwt', 'both')).help(
        'What evaluations take: none (no credentials), api_key (what other calls take), jwt (runtime tokens only), or both.',
        'jwt with a secret for tokens, else api_key',
      ),
      secrets: setting('SERVICE_RUNTIME_TOKEN_SECRETS', '', secret(LIST)).help(
        'Secrets of runtime tokens, the same for every instance: one or two of at least 32 bytes, separated by a comma. The first one signs, both verify.',
      ),
      ttlSeconds: setting('SERVICE_RUNTIME_TOKEN_TTL_SECONDS', 300, integerIn(1, MAX_TOKEN_SECONDS)).help(
        'How long a runtime token lasts, in seconds; never longer than the rights it was made with.',
      ),
      header: setting('SERVICE_RUNTIME_TOKEN_HEADER', 'authorization', HEADER).help(
        'The only header, and metadata, that carries a runtime token. Another one than Authorization may have the token without Bearer.',
      ),
    },
    upstream: {
      url: setting(
        'SERVICE_AUTH_UPSTREAM_URL',
        null,
        textWhere(
          isUpstreamUrl,
          'an http or https URL without credentials',
          'https://auth.example.com/authorize',
        ),
      ).help('The service that decides about operations, for SERVICE_AUTH_MODE=http_upstream.'),
      token: setting('SERVICE_AUTH_UPSTREAM_TOKEN', null, secret(TEXT)).help(
        'Sent to it as X-SERVICE-Service-Token.',
      ),
      headers: setting('SERVICE_AUTH_UPSTREAM_HEADERS', '', HEADERS).help(
        'Headers with credentials that are forwarded to it besides X-API-Key, Authorization and Cookie, separated by commas.',
      ),
      cacheMs: setting('SERVICE_AUTH_UPSTREAM_CACHE_SECONDS', 5, inMs(integerIn(0, 60))).help(
        'How long its permissions are kept; refusals are kept for at most 1 second.',
      ),
      timeoutMs: setting(
        'SERVICE_AUTH_UPSTREAM_TIMEOUT_SECONDS',
        5,
        converted(numberIn(0.1, 30, '5'), (seconds) => seconds * 1000),
      ).help('How long its answer is awaited. Calls are refused without one.'),
    },
  },
  versionHeaders: setting('SERVICE_VERSION_HEADERS', '', HEADERS).help(
    'Further headers with the version of the server on every reply, separated by commas: deployed clients read one exact name.',
  ),
};

type ModeValues = ValuesOf<typeof AUTH_MODES>['auth'];

/** What evaluations take: `auth` is what other calls take. */
export type RuntimeMode = 'auth' | 'none' | 'jwt' | 'both';

/** The settings of an upstream service that decides about operations. */
export type UpstreamSettings = NonNullable<ReturnType<typeof upstreamSettings>>;

/**
 * Whether calls need credentials at all, and who decides about them. Adds a problem for each contradiction. `keySwitch`
 * is SERVICE_API_KEY_ENABLED, undefined if it is not set.
 */
export function authMode(mode: ModeValues['mode'], keySwitch: boolean | undefined, problems: string[]) {
  if (mode === null)
    return { enabled: keySwitch === true, mode: keySwitch === true ? 'api_key' : 'none' } as const;
  const enabled = mode !== 'none';
  if (keySwitch !== undefined && keySwitch !== enabled)
    problems.push(
      `SERVICE_AUTH_MODE: it is ${mode} but SERVICE_API_KEY_ENABLED is ${keySwitch}; remove SERVICE_API_KEY_ENABLED, or set it to ${enabled}`,
    );
  return { enabled, mode } as const;
}

/** What evaluations take, with a problem for each setting that contradicts another or has no effect. */
export function runtimeSettings(
  { mode, secrets, ttlSeconds, header }: ModeValues['runtime'],
  auth: NonNullable<ModeValues['mode']>,
  problems: string[],
) {
  const needs = (what: string) =>
    problems.push(`${what} needs authentication; set SERVICE_AUTH_MODE=api_key, or remove it`);
  if (auth === 'none' && secrets.length > 0) needs('SERVICE_RUNTIME_TOKEN_SECRETS: it');
  else if (auth === 'none' && mode !== null && mode !== 'none') needs(`SERVICE_RUNTIME_AUTH_MODE: ${mode}`);
  if (auth === 'http_upstream' && mode === 'api_key')
    problems.push(
      'SERVICE_RUNTIME_AUTH_MODE: keys are not known here with SERVICE_AUTH_MODE=http_upstream; leave it out without SERVICE_RUNTIME_TOKEN_SECRETS, or set both',
    );
  if ((mode === 'jwt' || mode === 'both') && secrets.length === 0)
    problems.push(
      `SERVICE_RUNTIME_AUTH_MODE: ${mode} needs SERVICE_RUNTIME_TOKEN_SECRETS, for example the output of openssl rand -hex 32`,
    );
  if (secrets.length > MAX_SECRETS)
    problems.push(
      `SERVICE_RUNTIME_TOKEN_SECRETS: it has ${secrets.length} secrets; at most ${MAX_SECRETS} are taken, the new one first`,
    );
  if (secrets.some((one) => Buffer.byteLength(one) < MIN_SECRET_BYTES))
    problems.push(
      `SERVICE_RUNTIME_TOKEN_SECRETS: each secret must have at least ${MIN_SECRET_BYTES} bytes, for example the output of openssl rand -hex 32`,
    );
  const isStated = mode !== null;
  return { mode: runtimeMode(mode, secrets.length > 0), isStated, secrets, ttlSeconds, header };
}

function runtimeMode(mode: ModeValues['runtime']['mode'], hasSecret: boolean): RuntimeMode {
  if (mode === null) return hasSecret ? 'jwt' : 'auth';
  return mode === 'api_key' ? 'auth' : mode;
}

/** The upstream service; null without one. Adds a problem if it is missing, or has no effect. */
export function upstreamSettings(
  { url, ...rest }: ModeValues['upstream'],
  auth: NonNullable<ModeValues['mode']>,
  problems: string[],
) {
  if (auth !== 'http_upstream') {
    if (url !== null)
      problems.push(
        'SERVICE_AUTH_UPSTREAM_URL: it has no effect without SERVICE_AUTH_MODE=http_upstream; set that, or remove it',
      );
    return null;
  }
  if (url === null) {
    // One that is set and cannot be used is told already.
    if (!problems.some((problem) => problem.startsWith('SERVICE_AUTH_UPSTREAM_URL:')))
      problems.push(
        'SERVICE_AUTH_UPSTREAM_URL: it is missing; for example SERVICE_AUTH_UPSTREAM_URL=https://auth.example.com/authorize',
      );
    return null;
  }
  return { ...rest, url };
}
