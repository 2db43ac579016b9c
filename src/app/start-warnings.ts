import type { Config } from '../config/config.js';

/** A session token allows offline guessing of its secret; a random one of this length cannot be guessed. */
const SAFE_SECRET_LENGTH = 32;
/** Shorter keys can be guessed in spite of the limits on wrong keys. In characters. */
const SAFE_KEY_LENGTH = 16;

const KEYS_WITHOUT_EFFECT =
  'SERVICE_API_KEYS, SERVICE_ADMIN_API_KEYS, SERVICE_OPERATOR_API_KEYS and SERVICE_KEYS_FILE have no effect, because SERVICE_API_KEY_ENABLED is false: set it to true, or remove them';

const LAST_COUNTS =
  'SERVICE_DUPLICATE_MEMBERS is last: a step can have a member twice, of which controls check the last one only; refuse is safe';

/** Warnings about a valid but questionable configuration, one sentence each. Never contains a secret. */
export function startWarnings({ auth, host, duplicateMembers, unknownVariables }: Config): string[] {
  const warnings = unknownVariables.map((name) => `${name} is not a variable of this service`);
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
