import { domainToUnicode } from 'node:url';
import { embeddedIpv4, isAddress } from '../../../../src/contract/input/host-address.js';

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
