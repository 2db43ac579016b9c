import { characterClasses, decodedBase64, entropyOf, looksLikePlaceholder } from './plausibility.js';
import type { SecretRule } from './rule.js';

const JWT = /(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{10,600})\.eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{16,700}/g;
/** The signature of the token that all documentation of JSON Web Tokens shows. */
const JWT_OF_DOCUMENTATION = 'SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c';

const jwtRule: SecretRule = {
  id: 'jwt',
  anchors: ['eyj'],
  before: 2,
  after: 5_400,
  find(part, found) {
    for (const { 0: token, 1: header = '', index: start } of part.matchAll(JWT)) {
      if (token.endsWith(JWT_OF_DOCUMENTATION)) continue;
      if (!/"alg"\s{0,4}:\s{0,4}"(?!none")/i.test(decodedBase64(header) ?? '')) continue;
      found({ kind: 'jwt', start, end: start + token.length });
    }
  },
};

const AUTHORIZATION = /(?<![A-Za-z0-9])(bearer|basic)[ \t]{1,3}([A-Za-z0-9+/_.~=-]{16,2000})/gi;

const authorizationRule: SecretRule = {
  id: 'authorization',
  anchors: ['bearer ', 'basic ', 'bearer\t', 'basic\t'],
  before: 2,
  after: 2_020,
  find(part, found) {
    for (const { 0: all, 1: scheme = '', 2: value = '', index: start } of part.matchAll(AUTHORIZATION)) {
      const isBasic = scheme.toLowerCase() === 'basic';
      const isCredential = isBasic ? isUserAndPassword(value) : isRandom(value);
      if (isCredential) found({ kind: 'authorization_header', start, end: start + all.length });
    }
  },
};

function isUserAndPassword(value: string): boolean {
  return /^[\x20-\x7e]{1,80}:[\x20-\x7e]{3,200}$/.test(decodedBase64(value.slice(0, 400)) ?? '');
}

/** Words and sentences have an entropy below; so do most names. */
function isRandom(value: string): boolean {
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && entropyOf(value.slice(0, 200)) >= 3.5;
}

const NAMES =
  'passwords?|passwd|pwd|passphrase|secret|token|api[-_]?key|access[-_]?key|auth[-_]?key|encryption[-_]?key|' +
  'signing[-_]?key|private[-_]?key|credentials?';
/** A name, a sign of assignment, and a value with quotes or without. Each part reads no character that the next begins with. */
const ASSIGNMENT = new RegExp(
  `(${NAMES})[A-Za-z0-9_-]{0,20}["'\`]?\\]?[ \\t]{0,3}(?::=|=>|:|=)[ \\t]{0,3}` +
    `(?:"([^"\\n\\\\]{8,200})"|'([^'\\n\\\\]{8,200})'|([^\\s"'\`,;<>{}()&|]{8,200})(?=[\\s,;&"'\`}]|$))`,
  'gi',
);
/** Values that are code, references or names of something else. */
const REFERENCE =
  /^(?:process\.env|os\.environ|env[.[]|config[.[]|settings\.|self\.|this\.|vault:|secret:\/\/|op:\/\/|arn:|https?:|file:|\/|\.\/|\$|%[A-Z_]|@)|^[a-z_]+(?:\.[A-Za-z_]+)+$|^[A-Z]+(?:_[A-Z]+)+$|^(?:true|false|null|undefined|none|string|required|optional)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const WEAK = 0.3;

const assignmentRule: SecretRule = {
  id: 'assignment',
  anchors: [
    ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'token', 'api_key', 'api-key', 'apikey'],
    ...['access_key', 'access-key', 'accesskey', 'auth_key', 'auth-key', 'authkey', 'encryption_key'],
    ...['encryption-key', 'encryptionkey', 'signing_key', 'signing-key', 'signingkey', 'private_key'],
    ...['private-key', 'privatekey', 'credential'],
  ],
  before: 2,
  after: 250,
  find(part, found) {
    for (const match of part.matchAll(ASSIGNMENT)) {
      const [all, name = '', double, single, bare] = match;
      const value = double ?? single ?? bare ?? '';
      if (REFERENCE.test(value) || looksLikePlaceholder(value)) continue;
      const end = match.index + all.length - (bare === undefined ? 1 : 0);
      const isPassword = /^pass|^pwd/i.test(name);
      const kind = isPassword ? 'password_assignment' : 'secret_assignment';
      const score = isStrong(value, isPassword) ? undefined : WEAK;
      found({ kind, start: end - value.length, end, ...(score === undefined ? {} : { score }) });
    }
  },
};

/** Whether a value is no word: for a password three classes of characters, for others the entropy of random characters. */
function isStrong(value: string, isPassword: boolean): boolean {
  if (/\s/.test(value) || UUID.test(value)) return false;
  if (isPassword) return characterClasses(value) >= 3 && entropyOf(value) >= 2.7;
  return value.length >= 16 && /[0-9]/.test(value) && entropyOf(value) >= 3.2;
}

/** What is a secret by its form or by the name in front of it, whatever its issuer. */
export const genericRules: readonly SecretRule[] = [jwtRule, authorizationRule, assignmentRule];
