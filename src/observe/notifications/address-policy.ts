import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { type TrustedProxies, trustedProxies } from '../../contract/config/trusted-proxies.js';
import { embeddedIpv4, isPrivate } from '../../contract/input/host-address.js';

/** Unicast addresses of the internet. Of others, only those that stand for addresses of IPv4 are looked at. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');
/**
 * Of protocols and tunnels, whose ends an address does not tell plainly (RFC 2928, RFC 4380), and of documentation (RFC 3849,
 * RFC 9637).
 */
const OTHER_IPV6 = new BlockList();
OTHER_IPV6.addSubnet('2001::', 23, 'ipv6');
OTHER_IPV6.addSubnet('2001:db8::', 32, 'ipv6');
OTHER_IPV6.addSubnet('3fff::', 20, 'ipv6');
/** Of documentation (RFC 5737), and of relays that are no more (RFC 7526). */
const OTHER_IPV4 = new BlockList();
for (const network of ['192.0.2.0', '198.51.100.0', '203.0.113.0', '192.88.99.0']) {
  OTHER_IPV4.addSubnet(network, 24, 'ipv4');
}

/** Which addresses notifications may be sent to. */
export interface AddressPolicy {
  /** Whether an address, or a name that is not resolved here, may be contacted. `host` is as `URL` prints it. */
  allows(host: string): boolean;
  /** Resolves names for sockets, to addresses that may be contacted only: there is no time between check and use. */
  readonly lookup: LookupFunction;
}

/** A destination must not be contacted. Its message tells what the name stands for to those who may create destinations. */
export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';
}

/** Allows addresses of the public internet, and those of `allowed`: see `trustedProxies`. */
export function createAddressPolicy(
  allowed: readonly string[],
  resolve: typeof resolveName = resolveName,
): AddressPolicy {
  const exceptions = trustedProxies(allowed);

  const lookup: LookupFunction = (name, options, callback) => {
    resolve(name, { ...options, all: true }, (error, found) => {
      // The same as for a name of addresses that are refused: nothing is told of which names exist inside.
      if (error !== null) return callback(new ForbiddenAddress(refusalOf(name)), '');
      const usable = found.filter(({ address }) => allowsAddress(address, exceptions));
      const [first] = usable;
      if (first === undefined) return callback(new ForbiddenAddress(refusalOf(name)), '');
      if (options.all === true) return callback(null, usable);
      callback(null, first.address, first.family);
    });
  };

  return {
    lookup,
    allows(host) {
      const address = host.startsWith('[') ? host.slice(1, -1) : host;
      return isIP(address) === 0 || allowsAddress(address, exceptions);
    },
  };
}

export function refusalOf(host: string): string {
  return isIP(host.replace(/^\[|\]$/g, '')) === 0
    ? `${host} has no address of the public internet, and none of SERVICE_NOTIFICATIONS_ALLOW`
    : `${host} is not an address of the public internet, and not one of SERVICE_NOTIFICATIONS_ALLOW`;
}

function allowsAddress(address: string, exceptions: TrustedProxies): boolean {
  if (isIP(address) === 4) return isPublicIpv4(address) || exceptions.trusts(address);
  // One with a zone is of a link.
  if (!URL.canParse(`http://[${address}]`)) return false;
  const host = new URL(`http://[${address}]`).hostname;
  const plain = host.slice(1, -1);
  const embedded = embeddedIpv4(host);
  if (embedded !== null && embedded !== '0.0.0.1' && embedded !== '0.0.0.0') {
    // What stands for an address of IPv4 is as allowed as that is.
    return isPublicIpv4(embedded) || exceptions.trusts(embedded);
  }
  const isPublic = GLOBAL_IPV6.check(plain, 'ipv6') && !OTHER_IPV6.check(plain, 'ipv6');
  return isPublic || exceptions.trusts(plain);
}

function isPublicIpv4(address: string): boolean {
  return !isPrivate(address) && !OTHER_IPV4.check(address, 'ipv4');
}
