/** Parts of names that mark a secret, whatever stands around them: `user_password`, `X-Api-Key`, `clientSecret`. */
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

/** Words too short to be looked for inside others: `pin` is in `shipping`. */
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

/** Longer names are taken for secrets unseen: nobody calls a member that. */
const MAX_NAME_LENGTH = 200;

/** Whether the value under a name looks like a secret by that name alone. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return true;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  const joined = words.join('');
  return words.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.some((part) => joined.includes(part));
}
