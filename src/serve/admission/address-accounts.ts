import { addressGroup } from './client-address.js';
import { TokenBucket } from './token-bucket.js';

/** Resources in use by the callers of one address. */
export interface AddressAccount {
  connections: number;
  /** Calls without a key that are running. */
  publicCalls: number;
  /** Bytes of unanswered requests. */
  heldBytes: number;
  /** Calls without a key per second. */
  readonly publicRate: TokenBucket;
}

/** Accounts checked in one sweep for removal. */
const SWEEP_SIZE = 64;

/** Accounts by address, or by network for IPv6; see `addressGroup`. */
export interface AddressAccounts {
  of(address: string): AddressAccount;
  readonly size: number;
}

/**
 * An account is kept while it is in use. An unused one is removed once its rate has recovered, so that
 * reconnecting does not reset an address's rate. Each new account triggers a sweep, so the number of accounts
 * follows the number of addresses that were active within the time a rate takes to recover.
 */
export function createAddressAccounts(perSecond: number, burst: number, now: () => number): AddressAccounts {
  const accounts = new Map<string, AddressAccount>();
  let sweep = accounts.entries();

  function forgetSome(nowMs: number): void {
    for (let count = 0; count < SWEEP_SIZE; count += 1) {
      const next = sweep.next();
      if (next.done === true) {
        sweep = accounts.entries();
        return;
      }
      const [group, account] = next.value;
      const used = account.connections + account.publicCalls + account.heldBytes;
      if (used === 0 && account.publicRate.isFull(nowMs)) accounts.delete(group);
    }
  }

  return {
    of(address) {
      const group = addressGroup(address);
      const known = accounts.get(group);
      if (known !== undefined) return known;
      const nowMs = now();
      forgetSome(nowMs);
      const publicRate = new TokenBucket(perSecond, burst, nowMs);
      const account = { connections: 0, publicCalls: 0, heldBytes: 0, publicRate };
      accounts.set(group, account);
      return account;
    },
    get size() {
      return accounts.size;
    },
  };
}
