import { BlockList } from 'node:net';

/** Addresses that are not of the public internet (RFC 6890 and its registries, RFC 4193, RFC 6598). */
const RESERVED = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  RESERVED.addSubnet(address, prefix, 'ipv4');
}
for (const [address, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  RESERVED.addSubnet(address, prefix, 'ipv6');
}

/** Names that are resolved on the machine or in its network (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal). */
const LOCAL_NAMES = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;

/** Whether a host, as `URL` prints it, is an IPv4 or IPv6 address. */
export function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

/** The IPv4 address that an IPv6 address stands for; null for other ones. `host` is as `URL` prints it. */
export function embeddedIpv4(host: string): string | null {
  // Mapped (RFC 4291), compatible (deprecated), translated (RFC 6052) and 6to4 (RFC 3056) addresses.
  const groups =
    /^\[(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ??
    /^\[2002:([0-9a-f]{1,4}):([0-9a-f]{1,4}):/.exec(host);
  if (groups === null) return null;
  const [high, low] = [Number.parseInt(groups[1] ?? '', 16), Number.parseInt(groups[2] ?? '', 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Whether a host is an address or a name that is not of the public internet. Names are not resolved. */
export function isPrivate(host: string): boolean {
  if (!isAddress(host)) return LOCAL_NAMES.test(host);
  const embedded = embeddedIpv4(host);
  if (embedded !== null) return RESERVED.check(embedded, 'ipv4');
  return host.startsWith('[') ? RESERVED.check(host.slice(1, -1), 'ipv6') : RESERVED.check(host, 'ipv4');
}
