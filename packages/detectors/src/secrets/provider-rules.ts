import type { SecretRule } from './rule.js';

/** A rule of one pattern, which is searched in the part around its anchor; all repetitions are bounded. */
function patternRule(
  id: string,
  kind: string,
  anchors: readonly string[],
  pattern: RegExp,
  width: { readonly before?: number; readonly after: number },
): SecretRule {
  return {
    id,
    anchors,
    before: (width.before ?? 0) + 2,
    after: width.after,
    mayBeGlued: true,
    find(part, found) {
      for (const match of part.matchAll(pattern)) {
        found({ kind, start: match.index, end: match.index + match[0].length });
      }
    },
  };
}

const KEY_START =
  /-----BEGIN (?:RSA |DSA |EC |OPENSSH )?PRIVATE KEY-----[\s\\nr]{1,8}(?:MI|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=\s\\]{60,10000}/g;
const PGP_KEY = /-----BEGIN PGP PRIVATE KEY BLOCK-----[^-]{100,12000}/g;

/** Formats of providers that secretlint has no rule for, or none that is used, from the documentation of each. */
export const providerRules: readonly SecretRule[] = [
  // Also keys that are cut off, and those of OpenPGP, whose content does not begin like the others.
  patternRule('privatekey', 'private_key', ['-----begin'], KEY_START, { after: 10_200 }),
  patternRule('privatekey', 'private_key', ['-----begin pgp private'], PGP_KEY, { after: 12_200 }),
  patternRule(
    'sendgrid',
    'sendgrid_key',
    ['sg.'],
    /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g,
    { after: 80 },
  ),
  patternRule(
    'google',
    'google_api_key',
    ['aiza'],
    /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
    { after: 50 },
  ),
  patternRule('google', 'google_oauth_secret', ['gocspx-'], /GOCSPX-[A-Za-z0-9_-]{28}(?![A-Za-z0-9_-])/g, {
    after: 50,
  }),
  patternRule('google', 'google_oauth_token', ['ya29.'], /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{50,300}/g, {
    after: 320,
  }),
  patternRule(
    'stripe',
    'stripe_live_key',
    ['sk_live_', 'rk_live_', 'whsec_'],
    /(?<![A-Za-z0-9])(?:[sr]k_live_|whsec_)[A-Za-z0-9]{24,120}(?![A-Za-z0-9])/g,
    { after: 140 },
  ),
  patternRule(
    'stripe',
    'stripe_test_key',
    ['sk_test_', 'rk_test_'],
    /(?<![A-Za-z0-9])[sr]k_test_[A-Za-z0-9]{24,120}(?![A-Za-z0-9])/g,
    { after: 140 },
  ),
  patternRule(
    'azure',
    'azure_storage_key',
    ['accountkey=', 'sharedaccesskey='],
    /(?:AccountKey=[A-Za-z0-9+/]{86}==|SharedAccessKey=[A-Za-z0-9+/]{43}=)/gi,
    { after: 120 },
  ),
  patternRule('pypi', 'pypi_token', ['pypi-ageichlwas'], /pypi-AgEIcHlwaS[A-Za-z0-9_-]{50,300}/g, {
    after: 330,
  }),
  patternRule(
    'telegram',
    'telegram_bot_token',
    [':aa'],
    /(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])/g,
    { before: 12, after: 50 },
  ),
  patternRule(
    'discord',
    'discord_webhook',
    ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    /https:\/\/(?:\w{1,10}\.)?discord(?:app)?\.com\/api\/webhooks\/[0-9]{15,25}\/[A-Za-z0-9_-]{60,80}/g,
    { before: 24, after: 160 },
  ),
  patternRule(
    'digitalocean',
    'digitalocean_token',
    ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{64}(?![A-Za-z0-9])/g,
    { after: 90 },
  ),
  patternRule('atlassian', 'atlassian_token', ['atatt3'], /(?<![A-Za-z0-9])ATATT3[A-Za-z0-9_=-]{180,220}/g, {
    after: 240,
  }),
  patternRule(
    'age',
    'age_secret_key',
    ['age-secret-key-1'],
    /AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}(?![A-Za-z0-9])/g,
    { after: 90 },
  ),
];
