import { addressGroup } from './client-address.js';
import { TokenBucket } from './token-bucket.js';

/** What the callers of one address use. */
export interface AddressAccount {
  connections: number;
  /** Calls without a key that are running. */
  publicCalls: number;
  /** Bytes of unanswered requests. */
  heldBytes: number;
  /** Calls without a key a second. */
  readonly publicRate: TokenBucket;
}

/** Accounts that are looked through at once for those that are not needed any more. */
const SWEEP_SIZE = 64;

/** The accounts of addresses, and of IPv6 networks; see `addressGroup`. */
export interface AddressAccounts {
  of(address: string): AddressAccount;
  readonly size: number;
}

/**
 * Accounts that are kept as long as anything is on them. One that is not used is forgotten once its rate has recovered, so
 * that an address gains nothing by connecting anew. Each new account makes room for itself, so their number follows
 * that of the addresses which were active within the time a rate takes to recover.
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
