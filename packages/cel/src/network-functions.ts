import { ipText, masked, readCidr, readIp, widthOf } from './network-text.js';
import { define, type FunctionDefinition } from './signatures.js';
import { CelCidr, CelIp, Fault, type Value } from './values.js';

const NO_IP = new Fault('the text is no IP address');
const NO_CIDR = new Fault('the text is no network, such as 10.0.0.0/8');
/** Work of reading an address, in steps. */
const READ_WORK = 60;

const isInAny = (networks: readonly string[]) => {
  const read = networks.map((text) => readCidr(text)).filter((network) => network !== null);
  return (ip: CelIp) => read.some((network) => containsIp(network, ip));
};
const isLoopback = isInAny(['127.0.0.0/8', '::1/128']);
const isUnspecified = isInAny(['0.0.0.0/32', '::/128']);
const isLinkLocalUnicast = isInAny(['169.254.0.0/16', 'fe80::/10']);
const isLinkLocalMulticast = isInAny(['224.0.0.0/24', 'ff02::/16']);
const isMulticast = isInAny(['224.0.0.0/4', 'ff00::/8']);
const isBroadcast = isInAny(['255.255.255.255/32']);

/** Addresses and networks, as in the CEL library of Kubernetes. */
export const NETWORK_FUNCTIONS: readonly FunctionDefinition[] = [
  define(['ip(string): ip'], 'An IP address.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.spend(READ_WORK);
    return readIp(text) ?? NO_IP;
  }),
  define('isIP(string): bool', 'Whether a text is an IP address.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.spend(READ_WORK);
    return readIp(text) !== null;
  }),
  define(
    'ip::isCanonical(string): bool',
    'Whether a text is the canonical one of an IP address.',
    (run, text) => {
      if (typeof text !== 'string') return undefined;
      run.spend(2 * READ_WORK);
      const ip = readIp(text);
      return ip === null ? NO_IP : ipText(ip) === text;
    },
  ),
  define('ip.family(): int', '4 or 6.', (_run, ip) => (ip instanceof CelIp ? ip.family : undefined)),
  testing('isUnspecified', 'Whether it is 0.0.0.0 or ::.', isUnspecified),
  testing('isLoopback', 'Whether it is of 127.0.0.0/8, or ::1.', isLoopback),
  testing('isLinkLocalMulticast', 'Whether it is of 224.0.0.0/24 or ff02::/16.', isLinkLocalMulticast),
  testing('isLinkLocalUnicast', 'Whether it is of 169.254.0.0/16 or fe80::/10.', isLinkLocalUnicast),
  testing(
    'isGlobalUnicast',
    'Whether it is a unicast address that is neither unspecified, loopback nor link-local; private networks are global.',
    (ip) =>
      !isUnspecified(ip) &&
      !isLoopback(ip) &&
      !isMulticast(ip) &&
      !isLinkLocalUnicast(ip) &&
      !isBroadcast(ip),
  ),
  define('cidr(string): cidr', 'A network, such as cidr("10.0.0.0/8").', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.spend(READ_WORK);
    return readCidr(text) ?? NO_CIDR;
  }),
  define('isCIDR(string): bool', 'Whether a text is a network.', (run, text) => {
    if (typeof text !== 'string') return undefined;
    run.spend(READ_WORK);
    return readCidr(text) !== null;
  }),
  define(
    ['cidr.containsIP(ip): bool', 'cidr.containsIP(string): bool'],
    'Whether an address is in the network.',
    (run, network, address) => {
      run.spend(READ_WORK);
      const ip = typeof address === 'string' ? (readIp(address) ?? NO_IP) : address;
      if (ip instanceof Fault) return ip;
      return network instanceof CelCidr && ip instanceof CelIp ? containsIp(network, ip) : undefined;
    },
  ),
  define(
    ['cidr.containsCIDR(cidr): bool', 'cidr.containsCIDR(string): bool'],
    'Whether another network is within the network.',
    (run, network, given) => {
      run.spend(READ_WORK);
      const other = typeof given === 'string' ? (readCidr(given) ?? NO_CIDR) : given;
      if (other instanceof Fault) return other;
      if (!(network instanceof CelCidr && other instanceof CelCidr)) return undefined;
      return other.prefix >= network.prefix && containsIp(network, other.ip);
    },
  ),
  define('cidr.ip(): ip', 'The address of the network, as written.', (_run, network) =>
    network instanceof CelCidr ? network.ip : undefined,
  ),
  define('cidr.masked(): cidr', 'The network with its first address.', (_run, network) =>
    network instanceof CelCidr ? new CelCidr(masked(network), network.prefix) : undefined,
  ),
  define('cidr.prefixLength(): int', 'The number of bits that all addresses share.', (_run, network) =>
    network instanceof CelCidr ? network.prefix : undefined,
  ),
];

function testing(name: string, documentation: string, test: (ip: CelIp) => boolean): FunctionDefinition {
  return define(`ip.${name}(): bool`, documentation, (run, ip: Value) => {
    run.spend(4);
    return ip instanceof CelIp ? test(ip) : undefined;
  });
}

function containsIp(network: CelCidr, ip: CelIp): boolean {
  if (network.ip.family !== ip.family) return false;
  const rest = BigInt(widthOf(ip) - network.prefix);
  return network.ip.bits >> rest === ip.bits >> rest;
}
