import { MASK, maskCredentials } from './mask-credentials.js';
import { isSecretName } from './secret-names.js';

/** Digits of a payment card number (ISO/IEC 7812). */
const MIN_CARD_DIGITS = 13;
const MAX_CARD_DIGITS = 19;

/** An assigned name. Tried once per word, so that the cost of long words is linear. */
const ASSIGNED_NAME = /(?<![\w-])([\w-]{2,})\\?["']?\s{0,3}[:=]\s{0,3}/g;
/** An assigned value: quoted in JSON inside of a text, quoted, or not. An open quotation ends the text. */
const ASSIGNED_VALUE =
  /\\"(?:[^"\\]|\\[^"])*(?:\\?"|\\?$)|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'[^']*(?:'|$)|[^\s,;&"'{}[\]]+/y;
/** A run that may be a key in hex, base64 or base64url. */
const LONG_RUN = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
/** Groups of digits with single blanks or dashes between them. */
const DIGIT_GROUPS = /\d(?:[ -]?\d){12,}/g;

/**
 * Replaces everything that looks like a credential by MASK: values assigned to secret-like names, bearer
 * tokens, keys, card numbers. Errs on the safe side, for texts that are displayed. The time is linear in the
 * text: no pattern can read the same characters repeatedly without a bound.
 */
export function maskSecrets(text: string): string {
  return maskAssignments(maskCredentials(text))
    .replace(LONG_RUN, (run) => (looksLikeKey(run) ? MASK : run))
    .replace(DIGIT_GROUPS, (digits) => (holdsCardNumber(digits) ? MASK : digits));
}

/** Values assigned to other names are searched too: a text may quote a text with an assignment. */
function maskAssignments(text: string): string {
  let masked = '';
  let done = 0;
  for (const found of text.matchAll(ASSIGNED_NAME)) {
    const [whole, name = ''] = found;
    if (found.index < done || !isSecretName(name)) continue;
    ASSIGNED_VALUE.lastIndex = found.index + whole.length;
    const value = ASSIGNED_VALUE.exec(text)?.[0];
    if (value === undefined) continue;
    const quote = /^\\?["']/.exec(value)?.[0] ?? '';
    masked += `${text.slice(done, found.index)}${whole}${quote}${MASK}${quote}`;
    done = found.index + whole.length + value.length;
  }
  return masked + text.slice(done);
}

/** Hex of 32 digits and more, or more mixed than any word, path or UUID. */
function looksLikeKey(run: string): boolean {
  if (/^[0-9a-fA-F]{32,}$/.test(run)) return true;
  const mixed = /[0-9]/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);
  if (mixed) return true;
  return run.length >= 32 && /^[A-Za-z0-9]+={0,2}$/.test(run) && /[0-9]/.test(run) && /[A-Za-z]/.test(run);
}

/** Whether consecutive groups form a card number by their check digit. */
function holdsCardNumber(text: string): boolean {
  const groups = text.split(/[ -]/);
  return groups.some((_group, start) => {
    let digits = '';
    for (let end = start; end < groups.length && digits.length < MAX_CARD_DIGITS; end += 1) {
      digits += groups[end];
      if (digits.length >= MIN_CARD_DIGITS && digits.length <= MAX_CARD_DIGITS && passesLuhn(digits))
        return true;
    }
    return false;
  });
}

/** The check digit of ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = digit * 2;
    if (index % 2 === 0) sum += digit;
    else sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
