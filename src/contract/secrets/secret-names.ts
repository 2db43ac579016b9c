/** Parts of names that mark a secret, in any context: `user_password`, `X-Api-Key`, `clientSecret`. */
const SECRET_PARTS = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'authorization',
  'apikey',
  'accesskey',
  'privatekey',
  'signingkey',
  'encryptionkey',
  'credential',
  'cookie',
  'sessionid',
  'connectionstring',
  'bearer',
  'cardnumber',
  'creditcard',
] as const;

/** Words too short to be matched inside others: `pin` is in `shipping`. */
const SECRET_WORDS = new Set([
  'pwd',
  'pass',
  'auth',
  'jwt',
  'pin',
  'otp',
  'cvv',
  'cvc',
  'ssn',
  'sid',
  'iban',
  'pan',
]);

/** Names of members that mark a secret as a whole only: `key` is in `keyword`, and texts say "the key: …". */
const SECRET_MEMBERS = new Set(['key', 'keys', 'private', 'hmac', 'dsn', 'seed', 'mnemonic', 'salt']);

/** Longer names are treated as secrets without a check: real member names are shorter. */
const MAX_NAME_LENGTH = 200;

/** Whether the name alone marks a value as a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return true;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const joined = words.join('');
  return words.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.some((part) => joined.includes(part));
}

/** Whether the name of a member marks its value as a secret: also names that mark nothing inside of texts. */
export function isSecretMember(name: string): boolean {
  return SECRET_MEMBERS.has(name.toLowerCase()) || isSecretName(name);
}
