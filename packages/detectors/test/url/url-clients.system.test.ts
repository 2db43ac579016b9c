import { spawnSync } from 'node:child_process';
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findingsIn } from '../../../../test/corpora/marked-spans.support.js';
import { urlEvaluator } from '../../src/url/url.js';
import { byCurl, byPython, byWget, type Contacts } from './url-clients.js';

/** Each text is tried by each client: what a client contacts beyond the list is a failure. */
const TEXTS = 20_000;
const SEED = 54;
const ALLOWED = [
  'good.example',
  '*.good.example',
  '*.bücher.example',
  '*.straße.example',
  '127.0.0.1',
  '[::1]',
];

const GOOD = 'nN.good.example';
const EVIL = 'nN.evil.example';
const SCHEMES = [
  'http:/',
  'http:',
  'http:///',
  'http:\\\\',
  'http:/\\',
  '//',
  '\\\\',
  'http:// ',
  'hTTp://',
  'xy://',
];
const UNITS = [...'@:\\/?#;,.[]{}"\'<>|^`!$&()*=-_~+% \t\n'];
const TEXTUAL = [
  '@@',
  '%40',
  '%2e',
  '%2f',
  '%5c',
  '%00',
  '%23',
  '%41',
  ':80',
  ':',
  ':0',
  ':99999',
  'user',
  'user:pw@',
  'x',
  'xn--',
  '..',
  'é',
  'ß',
  '。',
  '．',
  '｡',
  '／',
  '＠',
  '\u00ad',
  '\u200b',
  '\u200d',
  '\u00a0',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::1]',
  'nN.bücher.example',
  'nN.straße.example',
  'nN.Bücher.EXAMPLE',
  'NN.GOOD.EXAMPLE',
];
const part = fc.oneof(
  { weight: 3, arbitrary: fc.constant(EVIL) },
  { weight: 2, arbitrary: fc.constant(GOOD) },
  { weight: 7, arbitrary: fc.constantFrom(...UNITS) },
  { weight: 4, arbitrary: fc.constantFrom(...TEXTUAL) },
);
const url = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant('http://') },
      { weight: 1, arbitrary: fc.constantFrom(...SCHEMES) },
    ),
    fc.oneof({ weight: 4, arbitrary: fc.constant(GOOD) }, { weight: 1, arbitrary: fc.constant('') }),
    fc.array(part, { maxLength: 5 }),
    fc.constantFrom('', '/', '/p', `/@${EVIL}/`, `/\\${EVIL}`, `?@${EVIL}`, `#@${EVIL}/`),
  )
  .map(([scheme, first, parts, rest]) => scheme + first + parts.join('') + rest);
const texts = fc
  .sample(url, { numRuns: TEXTS, seed: SEED })
  .map((text, number) => text.replaceAll('nN', `n${number}`).replaceAll('NN', `N${number}`));

/**
 * Hosts below those of the list. What ends a sentence behind them makes no other name, and what has neither letters nor
 * digits is none: no domain can have it. A client that knows no URL without slashes takes the scheme for a host.
 */
const ALLOWED_HOST =
  /^(?:(?:.*\.)?(?:good|bücher|xn--bcher-kva)\.example|127\.0\.0\.1|\[?::1\]?|http|)[^a-z0-9\u0080-\u2fff\u3100-\ufeff]*$/is;
const findings = findingsIn(urlEvaluator, { allow_hosts: ALLOWED, forbid: [] });
const certain = texts.map((text) => findings(text).length === 0);

const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

describe(`a list of allowed hosts, with ${TEXTS} generated URLs`, () => {
  it.skipIf(!isInstalled('curl'))(
    'allows nothing that curl contacts beyond it',
    () => holds(byCurl),
    300_000,
  );
  it.skipIf(!isInstalled('wget'))(
    'allows nothing that wget contacts beyond it',
    () => holds(byWget),
    300_000,
  );
  it.skipIf(!isInstalled('/usr/bin/python3'))(
    'allows nothing that Python opens beyond it',
    () => holds(byPython),
    300_000,
  );
  it('allows nothing that WHATWG URL reads beyond it', () =>
    holds(async (all) => new Map(all.map((text, number) => [number, read(text)]))));
});

async function holds(contactsOf: Contacts): Promise<void> {
  const contacts = await contactsOf(texts);
  const isBeyond = (host: string) =>
    host !== '' && !ALLOWED_HOST.test(host) && !ALLOWED_HOST.test(domainToASCII(host));
  const beyond = [...contacts].filter(([number, hosts]) => certain[number] && hosts.some(isBeyond));
  expect(beyond.slice(0, 20).map(([number, hosts]) => [texts[number], hosts])).toEqual([]);
  // The clients were asked, and the list does allow something.
  expect(contacts.size).toBeGreaterThan(TEXTS / 10);
  expect([...contacts.keys()].filter((number) => certain[number]).length).toBeGreaterThan(TEXTS / 100);
  expect([...contacts].filter(([, hosts]) => hosts.some(isBeyond)).length).toBeGreaterThan(TEXTS / 100);
}

function read(text: string): string[] {
  try {
    return [new URL(text).hostname];
  } catch {
    return [];
  }
}
