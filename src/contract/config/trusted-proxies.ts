import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Proxies whose `X-Forwarded-For` is trusted. */
export interface TrustedProxies {
  trusts(address: string): boolean;
}

/** Networks that `SERVICE_TRUST_PROXY` may name instead of an address. */
const NAMED_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10', '169.254.0.0/16'],
};

/**
 * Trust in proxies, by addresses, networks such as `10.0.0.0/8`, and the names `loopback` and `private`.
 * Throws an Error that names an invalid entry.
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    for (const network of NAMED_NETWORKS[entry.toLowerCase()] ?? [entry]) addNetwork(list, network);
  }
  if (entries.length === 0) return { trusts: () => false };
  return {
    trusts(address) {
      const plain = plainAddress(address);
      return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
    },
  };
}

/** Whether `trustedProxies` accepts an entry. */
export function isTrustableNetwork(entry: string): boolean {
  try {
    trustedProxies([entry]);
    return true;
  } catch {
    return false;
  }
}

function addNetwork(list: BlockList, network: string): void {
  const [address = '', prefix] = network.split('/');
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined;
  const longest = family === 'ipv4' ? 32 : 128;
  const length = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (family === undefined || length < 0 || length > longest) {
    throw new Error(`${network} is not an address, a network such as 10.0.0.0/8, loopback or private`);
  }
  list.addSubnet(address, length, family);
}

/** Converts an IPv4-mapped address, as reported by IPv6 sockets, to plain IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
