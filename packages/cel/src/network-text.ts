import { CelCidr, CelIp } from './values.js';

/** Longest text of an address with its prefix. */
const LONGEST = 64;

/**
 * Reads an address as the CEL library of Kubernetes does: IPv4 in four decimal numbers without leading zeros, IPv6 by RFC
 * 4291; neither zones nor IPv4 addresses mapped into IPv6. Null for other texts.
 */
export function readIp(text: string): CelIp | null {
  if (text.length > LONGEST) return null;
  if (text.includes(':')) {
    const bits = readIpv6(text);
    return bits === null || bits >> 32n === 0xffffn ? null : new CelIp(6, bits);
  }
  const bits = readIpv4(text);
  return bits === null ? null : new CelIp(4, bits);
}

/** Reads a network, such as `10.0.0.0/8`; null for other texts. */
export function readCidr(text: string): CelCidr | null {
  const slash = text.indexOf('/');
  const ip = slash < 0 ? null : readIp(text.slice(0, slash));
  const written = text.slice(slash + 1);
  if (ip === null || !/^(?:0|[1-9]\d{0,2})$/.test(written)) return null;
  const prefix = Number(written);
  return prefix > widthOf(ip) ? null : new CelCidr(ip, prefix);
}

export function widthOf({ family }: CelIp): number {
  return family === 4 ? 32 : 128;
}

/** The first address of a network. */
export function masked({ ip, prefix }: CelCidr): CelIp {
  const rest = BigInt(widthOf(ip) - prefix);
  return new CelIp(ip.family, (ip.bits >> rest) << rest);
}

function readIpv4(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function readIpv6(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1)?.at(-1);
  const tail = last?.includes('.') === true ? readIpv4(last) : null;
  if (last?.includes('.') === true) {
    if (tail === null) return null;
    groups.at(-1)?.splice(-1, 1, (tail >> 16n).toString(16), (tail & 0xffffn).toString(16));
  }
  const [before = [], after] = groups;
  const missing = 8 - before.length - (after?.length ?? 0);
  if (after === undefined ? missing !== 0 : missing < 1) return null;
  const all = [...before, ...Array.from({ length: missing }, () => '0'), ...(after ?? [])];
  if (!all.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

/** The canonical text of an address, for IPv6 by RFC 5952. */
export function ipText({ family, bits }: CelIp): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    Number((bits >> BigInt(112 - 16 * index)) & 0xffffn),
  );
  let [start, length] = [0, 1];
  for (let index = 0; index < 8; index += 1) {
    let end = index;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - index > length) [start, length] = [index, end - index];
  }
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

export function cidrText({ ip, prefix }: CelCidr): string {
  return `${ipText(ip)}/${prefix}`;
}
