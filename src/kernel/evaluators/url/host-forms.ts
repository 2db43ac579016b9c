import { BlockList } from 'node:net';
import { domainToUnicode } from 'node:url';
import { isAddress } from './host-rules.js';

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

/** Whether an address is written so that it does not look like the one that a client contacts. */
export function isObfuscated(host: string, written: string): boolean {
  if (!isAddress(host)) return false;
  if (host.startsWith('[')) return embeddedIpv4(host) !== null;
  return written !== host && written !== `${host}.`;
}

/** Whether a host is written with percent signs or with units that stand for those of ASCII. */
export function isEncoded(host: string, written: string): boolean {
  if (written.includes('%')) return true;
  if (isAscii(written)) return false;
  // Each label that is not ASCII as it is written must need Punycode; dots of other scripts separate labels too.
  const labels = written.split(/[.\u3002\uff0e\uff61]/);
  if (/[\u3002\uff0e\uff61]/.test(written)) return true;
  const ascii = host.split('.');
  return labels.some((label, at) => !isAscii(label) && !(ascii[at] ?? '').startsWith('xn--'));
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 126) return false;
  return true;
}

export function hasPunycode(host: string): boolean {
  return host.startsWith('xn--') || host.includes('.xn--');
}

const SCRIPTS = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Armenian',
  'Hebrew',
  'Arabic',
  'Cherokee',
  'Georgian',
  'Devanagari',
  'Thai',
].concat(['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']);
const SCRIPT_PATTERNS = SCRIPTS.map((script) => ({
  script,
  pattern: new RegExp(`\\p{Script=${script}}`, 'u'),
}));
/** Scripts that are written together (Unicode UTS 39, Highly Restrictive). */
const TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Hangul'],
  ['Latin', 'Han', 'Bopomofo'],
];
/** Letters of Cyrillic and Greek that look like letters of ASCII: a name of these alone looks like another one. */
const LOOKALIKES = /^[авеѕіјԁһкӏмнорсԛтухԝԍցոսʏɡɑοαιρυνκτχε0-9-]+$/u;

/** Whether a label mixes scripts that no language mixes, or consists of letters that look like those of ASCII. */
export function isMixedScript(host: string): boolean {
  if (!hasPunycode(host)) return false;
  return host.split('.').some((label) => {
    if (!label.startsWith('xn--')) return false;
    const name = domainToUnicode(label);
    // What has no Unicode form is no name that a person reads.
    if (name === '' || name.startsWith('xn--')) return true;
    const scripts = SCRIPT_PATTERNS.filter(({ pattern }) => pattern.test(name)).map(({ script }) => script);
    if (scripts.length > 1 && !TOGETHER.some((set) => scripts.every((script) => set.includes(script))))
      return true;
    return LOOKALIKES.test(name);
  });
}
