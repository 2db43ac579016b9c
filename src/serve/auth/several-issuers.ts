import { createHash } from 'node:crypto';
import type { BearerTokens } from './bearer-tokens.js';

/**
 * The tokens of several issuers, each of which decides about its own. A token of none of them is refused by the first one.
 */
export function tokensOfAll(all: readonly [BearerTokens, ...BearerTokens[]]): BearerTokens {
  const [first, ...others] = all;
  if (others.length === 0) return first;
  const issuerOf = (token: string): BearerTokens =>
    all.find((one) => one.claimedSubject(token) !== undefined) ?? first;
  return {
    settingsId: createHash('sha256')
      .update(all.map(({ settingsId }) => settingsId).join(' '))
      .digest('base64url'),
    find(token) {
      for (const one of all) {
        const found = one.find(token);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    isUnverified: (text) => all.every((one) => one.isUnverified(text)),
    verify: (token) => issuerOf(token).verify(token),
    claimsOf: (token, audience) => issuerOf(token).claimsOf(token, audience),
    claimedSubject: (text) => issuerOf(text).claimedSubject(text),
    wasValid: (text) => all.some((one) => one.wasValid(text)),
    close() {
      for (const one of all) one.close();
    },
  };
}
