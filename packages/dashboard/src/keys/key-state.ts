import type { ApiKey } from '@gen/enforcement/v1/key_service_pb.js';
import type { Sort } from '../ui/table/use-sort.js';

/** Keys that end by themselves within this time are shown as such. */
const SOON_MS = 14 * 24 * 3_600_000;

/** What can be said of a key: the first that applies. */
export type KeyState = 'revoked' | 'expired' | 'rotating' | 'expiring' | 'unused' | 'valid';

type Key = Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'lastUsedAt' | 'previousSecretUntil'>;

export const KEY_STATES: Readonly<Record<KeyState, string>> = {
  valid: 'valid',
  unused: 'never used',
  expiring: 'expires soon',
  rotating: 'two secrets',
  expired: 'expired',
  revoked: 'revoked',
};

export function keyState(
  { revokedAt, expiresAt, lastUsedAt, previousSecretUntil }: Key,
  nowMs: number,
): KeyState {
  if (revokedAt !== undefined) return 'revoked';
  const endsInMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - nowMs;
  if (endsInMs <= 0) return 'expired';
  if (previousSecretUntil !== undefined && Date.parse(previousSecretUntil) > nowMs) return 'rotating';
  if (endsInMs <= SOON_MS) return 'expiring';
  return lastUsedAt === undefined ? 'unused' : 'valid';
}

/** Whether a key is of no use any more. */
export function hasEnded(key: Key, nowMs: number): boolean {
  const state = keyState(key, nowMs);
  return state === 'revoked' || state === 'expired';
}

type Compare = (one: ApiKey, other: ApiKey) => number;

const timeOf = (time: string | undefined, absent: number) => (time === undefined ? absent : Date.parse(time));
const byText =
  (textOf: (key: ApiKey) => string): Compare =>
  (one, other) =>
    textOf(one).localeCompare(textOf(other));

/** Orders of keys by their names in the address, each in the direction in which it is selected first. */
const ORDERS: Readonly<Record<string, Compare>> = {
  name: byText(({ name }) => name),
  owner: byText(({ owner = '' }) => owner),
  created: (one, other) => timeOf(other.createdAt, 0) - timeOf(one.createdAt, 0),
  used: (one, other) => timeOf(other.lastUsedAt, 0) - timeOf(one.lastUsedAt, 0),
  // What ends first is most urgent.
  expires: (one, other) => timeOf(one.expiresAt, 8.64e15) - timeOf(other.expiresAt, 8.64e15),
};

export const KEY_ORDERS: readonly string[] = Object.keys(ORDERS);

/** The keys in an order; equal ones newest first. Without an order they stay as they are. */
export function inKeyOrder(
  keys: readonly ApiKey[],
  { by, isReversed }: Pick<Sort, 'by' | 'isReversed'>,
): readonly ApiKey[] {
  const compare = ORDERS[by];
  if (compare === undefined) return keys;
  const sign = isReversed ? -1 : 1;
  return [...keys].sort((one, other) => sign * compare(one, other) || other.id - one.id);
}
