import type { Config } from '../../contract/config/config.js';
import { isSafeUrl } from '../../contract/config/oidc-settings.js';

/** A session token allows offline guessing of its secret; a random one of this length cannot be guessed. */
const SAFE_SECRET_LENGTH = 32;
/** Shorter keys can be guessed in spite of the limits on wrong keys. In characters. */
const SAFE_KEY_LENGTH = 16;

const KEYS_WITHOUT_EFFECT =
  'SERVICE_API_KEYS, SERVICE_ADMIN_API_KEYS, SERVICE_OPERATOR_API_KEYS and SERVICE_KEYS_FILE have no effect, because SERVICE_API_KEY_ENABLED is false: set it to true, or remove them';

const ONLY_TOKENS =
  'evaluations take runtime tokens only, because SERVICE_RUNTIME_TOKEN_SECRETS is set: clients that evaluate with a key are refused; SERVICE_RUNTIME_AUTH_MODE=both takes both, and jwt states that this is meant';

const OPEN_EVALUATIONS =
  'SERVICE_RUNTIME_AUTH_MODE is none: anyone who reaches this port may evaluate for every agent of the namespace default; api_key is safe';

const KEYS_WITH_UPSTREAM =
  'SERVICE_API_KEYS, SERVICE_ADMIN_API_KEYS and SERVICE_KEYS_FILE have no effect on calls, because SERVICE_AUTH_MODE is http_upstream: remove them';

const OPEN_UPSTREAM =
  'SERVICE_AUTH_UPSTREAM_URL is not https: the credentials of all callers are sent to it in the clear';

const LAST_COUNTS =
  'SERVICE_DUPLICATE_MEMBERS is last: a step can have a member twice, of which controls check the last one only; refuse is safe';

/** Warnings about a valid but questionable configuration, one sentence each. Never contains a secret. */
export function startWarnings({
  auth,
  host,
  duplicateMembers,
  adapters,
  unknownVariables,
}: Config): string[] {
  const warnings = unknownVariables.map((name) => `${name} is not a variable of this service`);
  warnings.push(...runtimeWarnings(auth));
  if (!auth.enabled) {
    warnings.push(keysOffWarning(host));
    const { keys, adminKeys, operatorKeys } = auth;
    if (auth.keysFile !== null || keys.length + adminKeys.length + operatorKeys.length > 0)
      warnings.push(KEYS_WITHOUT_EFFECT);
  }
  warnings.push(...shortKeys('SERVICE_API_KEYS', auth.keys));
  warnings.push(...shortKeys('SERVICE_ADMIN_API_KEYS', auth.adminKeys));
  warnings.push(...shortKeys('SERVICE_OPERATOR_API_KEYS', auth.operatorKeys));
  if ((auth.sessionSecret?.length ?? SAFE_SECRET_LENGTH) < SAFE_SECRET_LENGTH) {
    warnings.push(
      `SERVICE_SESSION_SECRET is short: with ${SAFE_SECRET_LENGTH} random characters or more it cannot be guessed`,
    );
  }
  if (duplicateMembers === 'last') warnings.push(LAST_COUNTS);
  warnings.push(...openAdapters(adapters));
  return warnings;
}

function openAdapters({ on, failOpen }: Config['adapters']): string[] {
  return failOpen.map((name) =>
    on.includes(name)
      ? `SERVICE_ADAPTERS_FAIL_OPEN has ${name}: its steps pass without an evaluation while the service cannot evaluate; without it they are denied`
      : `SERVICE_ADAPTERS_FAIL_OPEN has ${name}, which SERVICE_ADAPTERS does not have: it has no effect`,
  );
}

/** What evaluations take, if that may surprise: deployed clients with keys would be refused. */
function runtimeWarnings({
  enabled,
  runtime,
  upstream,
  keysFile,
  keys,
  adminKeys,
}: Config['auth']): string[] {
  const warnings: string[] = [];
  if (runtime.mode === 'jwt' && !runtime.isStated) warnings.push(ONLY_TOKENS);
  if (enabled && runtime.mode === 'none') warnings.push(OPEN_EVALUATIONS);
  if (upstream !== null && (keysFile !== null || keys.length + adminKeys.length > 0))
    warnings.push(KEYS_WITH_UPSTREAM);
  if (upstream !== null && !isSafeUrl(upstream.url)) warnings.push(OPEN_UPSTREAM);
  return warnings;
}

function shortKeys(variable: string, keys: readonly string[]): string[] {
  const short = keys.filter((key) => key.length < SAFE_KEY_LENGTH).length;
  if (short === 0) return [];
  const count = short === 1 ? '1 key' : `${short} keys`;
  return [
    `${variable} has ${count} of fewer than ${SAFE_KEY_LENGTH} characters, which can be guessed; use long random keys`,
  ];
}

function keysOffWarning(host: string): string {
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);
  return isLocal
    ? 'API keys are off: every program on this machine may do everything (SERVICE_API_KEY_ENABLED)'
    : `API keys are off and the service listens on ${host}: anyone who reaches this port may do everything; ` +
        'set SERVICE_API_KEY_ENABLED=true, or SERVICE_HOST=127.0.0.1';
}
