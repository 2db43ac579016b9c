import { describe, expect, it } from 'vitest';
import { parseURL, serializeHost } from 'whatwg-url';
import { checkCall, findingsIn } from '../../../../test/corpora/marked-spans.support.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { hostOf, readUrl } from '../../src/url/read-url.js';
import { urlEvaluator } from '../../src/url/url.js';
import { FORBIDDABLE, SCORES } from '../../src/url/violations.js';

const kindsIn = (text: string, config: JsonObject): string[] =>
  findingsIn(urlEvaluator, config)(text).map(({ kind }) => kind);
const isAllowed = (url: string, allow_hosts: string[], more: JsonObject = {}): boolean =>
  !kindsIn(url, { allow_hosts, forbid: [], ...more }).includes('host_not_allowed');
const issuesOf = (config: JsonObject): string[] =>
  (urlEvaluator.configSchema.safeParse(config).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );

describe('a list of hosts', () => {
  it('has a name for that host alone, and *. for all names below a domain', () => {
    expect(isAllowed('https://example.com/', ['example.com'])).toBe(true);
    expect(isAllowed('https://www.example.com/', ['example.com'])).toBe(false);
    expect(isAllowed('https://www.example.com/', ['*.example.com'])).toBe(true);
    expect(isAllowed('https://a.b.example.com/', ['*.example.com'])).toBe(true);
    expect(isAllowed('https://example.com/', ['*.example.com'])).toBe(false);
    expect(isAllowed('https://notexample.com/', ['*.example.com', 'example.com'])).toBe(false);
  });

  it('takes no account of case, the dot of the root, and the form of international names', () => {
    expect(isAllowed('https://EXAMPLE.com./', ['Example.COM'])).toBe(true);
    expect(isAllowed('https://example.com/', ['example.com.'])).toBe(true);
    expect(isAllowed('https://xn--mnchen-3ya.de/', ['münchen.de'])).toBe(true);
    expect(isAllowed('https://MÜNCHEN.de/', ['xn--mnchen-3ya.de'])).toBe(true);
  });

  it('allows all ports, or the one that it names', () => {
    expect(isAllowed('https://example.com:8443/', ['example.com'])).toBe(true);
    expect(isAllowed('https://example.com:8443/', ['example.com:8443'])).toBe(true);
    expect(isAllowed('https://example.com/', ['example.com:443'])).toBe(true);
    expect(isAllowed('http://example.com/', ['example.com:443'])).toBe(false);
    expect(isAllowed('https://a.example.com:1/', ['*.example.com:443'])).toBe(false);
  });

  it('has addresses in the form that a client contacts', () => {
    expect(isAllowed('http://2130706433/', ['127.0.0.1'])).toBe(true);
    expect(isAllowed('http://[0:0::1]/', ['[::1]'])).toBe(true);
  });

  it('that is empty allows none', () => {
    expect(isAllowed('https://example.com/', [])).toBe(false);
  });

  it('denies what is also allowed', () => {
    const config = { allow_hosts: ['*.example.com'], deny_hosts: ['bad.example.com'] };
    expect(kindsIn('https://bad.example.com https://good.example.com', config)).toEqual(['host_denied']);
  });
});

describe('the host is the one that a client contacts', () => {
  const allow_hosts = ['example.com'];

  it.each([
    'https://example.com@evil.test/',
    'https://example.com:x@evil.test/',
    'https://good.test,@evil.test/',
    'https://evil.test\\@example.com',
    'https:\\\\evil.test',
    'https:/evil.test',
    'https:evil.test',
    '//evil.test/x',
    '/\\evil.test/x',
    'https://evil.test#example.com',
    'https://evil.test?@example.com',
    'https://example.com.evil.test',
    'https://example.com%2eevil.test',
    'https://example。com。evil。test',
    'www.evil.test',
    '[x](https://evil.test)',
    '[https://example.com](https://evil.test)',
    'https://example.com,https://evil.test',
    "<a href='https://evil.test'>",
    'https://exa\nmple.com.evil.test',
    'ht\ntps://evil.test/x',
    'xhttps://evil.test',
  ])('%j is not allowed', (text) => {
    expect(kindsIn(text, { allow_hosts })).toContain('host_not_allowed');
  });

  it.each([
    'https://example.com',
    '(https://example.com)',
    'https://example.com, and more',
    'https://example.com.',
    'https://example.com).',
    'https://example.com/a@b',
    'https://example.com/?q=@evil.test',
    'std::vector<int> a; // comment.',
    'key: value',
    'http://',
    'https://…',
    'ann@evil.test',
  ])('%j is allowed', (text) => {
    expect(kindsIn(text, { allow_hosts })).toEqual([]);
  });

  it('a URL that no client can read is a violation where hosts are listed', () => {
    expect(kindsIn('http://[::1', { allow_hosts })).toEqual(['unreadable']);
    expect(kindsIn('http://[::1', {})).toEqual([]);
  });

  it.each([
    'http://example.com\\@evil.test/',
    'http://example.com\\evil.test/',
    'http:/example.com/',
    'http:example.com/',
    'http:///example.com/',
    'http:\\\\example.com/',
    '/\\example.com/x',
    'http://example.com,x.evil.test/',
    'http://example.com;x.evil.test/',
    'http://example.com"x.evil.test/',
    'http://{example.com,evil.test}/',
    'http://a@b@example.com/',
    'http://a;@example.com/',
    'http://example.com?@evil.test/',
    'http://example.com#@evil.test/',
    'http://example.com @evil.test/',
    'http://example.com:80:81/',
    'http://ex%61mple.com/',
    'http://exam\u00adple.com/',
    'http://example\uff0ecom/',
    'https://exa\nmple.com/x',
    'see http://example.com,x.evil.test/',
    'see http://example.com|x@evil.test/',
  ])('%j is not certain: clients do not read it alike', (text) => {
    expect(kindsIn(text, { allow_hosts, forbid: [] })).toContain('unreadable');
    const denied = findingsIn(urlEvaluator, { deny_hosts: ['bad.test'], forbid: [] })(text);
    // What has no scheme may be something else: 0.4 is below the default threshold.
    expect(denied.filter(({ kind }) => kind === 'unreadable').map(({ score }) => score)).toEqual(
      text.startsWith('/') ? [] : [0.6],
    );
    expect(kindsIn(text, { forbid: ['data_uri'] })).toEqual([]);
  });

  it.each([
    'http://0177.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://127.0.0.1e/',
  ])('%j is not certainly the address that it stands for', (text) => {
    expect(kindsIn(text, { allow_hosts: ['127.0.0.1'], forbid: [] })).not.toEqual([]);
  });

  it.each([
    'https://ann:p%40w@example.com:8443/a\\@b',
    'see https://example.com|next, and https://example.com).Next',
    '<a href="https://example.com">www.example.com</a>',
    '[a](https://example.com),[b](https://example.com)',
    'https://example.com,https://example.com/x',
    'https://example.com\\nNext line',
    'Docs at https://example.com or ann@evil.test',
    'https://example.com:/x',
  ])('%j is certain', (text) => {
    expect(kindsIn(text, { allow_hosts: ['example.com', 'www.example.com'], forbid: [] })).toEqual([]);
  });

  it('names of all scripts are certain as far as all standards read them alike', () => {
    const allowed = { allow_hosts: ['münchen.example', 'faß.example', '例え.example'], forbid: [] };
    expect(kindsIn('https://MÜNCHEN.example/ https://例え.example', allowed)).toEqual([]);
    expect(kindsIn('https://faß.example/', allowed)).toEqual(['unreadable']);
  });

  it('a host without scheme is one only when that is asked for, and scores lower', () => {
    expect(kindsIn('evil.test/path', { allow_hosts })).toEqual([]);
    const [found] = findingsIn(urlEvaluator, { allow_hosts, bare_hosts: true })('at evil.test/path.');
    expect(found).toEqual(
      expect.objectContaining({ kind: 'host_not_allowed', start: 3, end: 17, score: 0.8 }),
    );
    expect(kindsIn('localhost:8080', { bare_hosts: true })).toEqual(['private_address']);
  });
});

describe('what is forbidden', () => {
  it.each([
    ['userinfo', 'https://ann:pw@example.com/'],
    ['ip_address', 'https://93.184.216.34/'],
    ['ip_address', 'https://[2001:db8::1]/'],
    ['private_address', 'http://169.254.169.254/latest/meta-data'],
    ['private_address', 'http://[fe80::1]/'],
    ['private_address', 'http://db.internal/'],
    ['private_address', 'http://[::ffff:10.0.0.1]/'],
    ['private_address', 'redis://127.0.0.1:6379'],
    ['obfuscated_address', 'http://2130706433/'],
    ['obfuscated_address', 'http://0177.0.0.1/'],
    ['obfuscated_address', 'http://0x7f.1/'],
    ['obfuscated_address', 'http://%31%32%37.0.0.1/'],
    ['obfuscated_address', 'http://１２７.0.0.1/'],
    ['obfuscated_address', 'http://[::ffff:7f00:1]/'],
    ['obfuscated_address', 'http://[2002:7f00:1::]/'],
    ['encoded_host', 'http://ex%61mple.com/'],
    ['encoded_host', 'http://ⓔxample.com/'],
    ['punycode', 'https://xn--mnchen-3ya.de/'],
    ['punycode', 'https://münchen.de/'],
    ['mixed_script', 'https://pаypal.com/'],
    ['mixed_script', 'https://аррӏе.com/'],
    ['redirect', 'https://example.com/?to=https://evil.test'],
    ['redirect', 'https://example.com/?to=https%3A%2F%2Fevil.test'],
    ['redirect', 'https://example.com/?to=https%25253A%25252F%25252Fevil.test'],
    ['redirect', 'https://example.com/#//evil.test/x'],
    ['credentials_in_query', 'https://example.com/?api_key=k'],
    ['credentials_in_query', 'https://example.com/#access_token=t'],
    ['data_uri', 'data:text/html,x'],
    ['markdown_image', '![x](https://evil.test/a.png)'],
    ['markdown_image', '<img src="https://evil.test/a.png">'],
  ] as const)('%s: %s', (kind, text) => {
    expect(kindsIn(text, { forbid: [kind] })).toEqual([kind]);
    expect(kindsIn(text, { forbid: FORBIDDABLE.filter((other) => other !== kind) })).not.toContain(kind);
  });

  it.each([
    ['mixed_script', 'https://münchen.de https://日本語.jp https://пример.рф https://東京タワー.jp'],
    ['punycode', 'https://example.com'],
    ['redirect', 'https://example.com/?to=/home https://example.com/?to=https%3A%2F%2Fexample.com%2F'],
    ['redirect', 'https://a.test, https://b.test'],
    ['private_address', 'https://93.184.216.34/ https://[2606:2800::1]/ https://local.example.com/'],
    ['obfuscated_address', 'https://93.184.216.34/ https://93.184.216.34:8080/x'],
    ['encoded_host', 'https://münchen.de/%61'],
    ['credentials_in_query', 'https://example.com/?page=2&token='],
    ['markdown_image', '[x](https://evil.test/a.png) ![y](/b.png)'],
    ['userinfo', 'https://example.com/@ann'],
  ] as const)('%s is not in %s', (kind, text) => {
    expect(kindsIn(text, { forbid: [kind] })).toEqual([]);
  });

  it('by default is what hides a host', () => {
    expect(kindsIn('https://a@example.com http://10.0.0.1 https://example.com/?token=t', {})).toEqual([
      'userinfo',
      'private_address',
    ]);
    expect(kindsIn('https://a@example.com http://10.0.0.1', { forbid: [] })).toEqual([]);
  });

  it('leaves redirects to allowed hosts alone', () => {
    const config = { allow_hosts: ['example.com', 'www.example.com'], forbid: ['redirect'] };
    expect(kindsIn('https://example.com/?to=https%3A%2F%2Fwww.example.com', config)).toEqual([]);
    expect(kindsIn('https://example.com/?to=https%3A%2F%2Fexample.org', config)).toEqual(['redirect']);
  });
});

it('schemes are limited to those that are listed', () => {
  const config = { schemes: ['https'], forbid: [] };
  expect(kindsIn('https://example.com HTTPS://example.com', config)).toEqual([]);
  for (const text of [
    'http://example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ldap://x.y',
  ]) {
    expect([text, kindsIn(text, config)]).toEqual([text, ['scheme_not_allowed']]);
  }
});

it('findings have the place of the URL, without the punctuation of the sentence', () => {
  const text = 'See (https://evil.test/a_(b)), or not.';
  const [found] = findingsIn(urlEvaluator, { allow_hosts: [] })(text);
  expect(text.slice(found?.start, found?.end)).toBe('https://evil.test/a_(b)');
});

describe('a configuration', () => {
  it('names what it does not know, and suggests a word', () => {
    expect(issuesOf({ forbid: ['private_adress'] })).toEqual([
      expect.stringMatching(
        /^forbid\.0: is no form of a URL; did you mean private_address\?; known: userinfo, /,
      ),
    ]);
  });

  it.each([
    [
      'https://example.com/x',
      'is no host; did you mean example.com?; give a host without scheme, user and path',
    ],
    ['example.com/x', 'is no host; did you mean example.com?; give a host without scheme, user and path'],
    [
      'a.*.example.com',
      'may have one * at its start only, as in *.example.com; did you mean a..example.com?',
    ],
    ['', 'must be a host, without spaces around it'],
    [' example.com', 'must be a host, without spaces around it'],
    ['*.10.0.0.1', 'is an address, which has no names below it'],
    ['exa mple.com', 'is no host: no client can read it in a URL'],
    ['example.com:99999', expect.stringMatching(/^is no host; give a name/)],
    ['::1', expect.stringMatching(/^is no host; give a name/)],
    [7, 'must be a string'],
  ])('refuses the host %j', (host, message) => {
    const [issue] =
      urlEvaluator.configSchema.safeParse({ allow_hosts: ['example.com', host] }).error?.issues ?? [];
    expect(issue).toMatchObject({ path: ['allow_hosts', 1], message });
  });

  it.each(['HTTPS', 'https:', 'x'])('refuses the scheme %s', (scheme) => {
    expect(issuesOf({ schemes: [scheme] })).toHaveLength(1);
  });
});

it('every kind has a score above 0', () => {
  for (const score of Object.values(SCORES)) expect(score).toBeGreaterThan(0);
});

describe('against the parser whatwg-url', () => {
  it('reads the host of generated URLs that the standard says', () => {
    const next = random(5);
    const pick = (from: readonly string[]): string => from[next(from.length)] ?? '';
    const schemes = ['http:', 'https:', 'HTTPS:', 'ws:', 'ftp:', 'https'];
    const slashes = ['//', '/', '', '\\\\', '///', '/\\', '//\t'];
    const users = ['', '', '', 'a@', 'a:b@', 'example.com@', '@', 'a%40@', 'x@y@', 'a:@'];
    const hosts = [
      'example.com',
      'EXAMPLE.com.',
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.1',
      '[::1]',
      '[::ffff:1.2.3.4]',
      '[1::',
      '1.2.3.256',
      'ex%61mple.com',
      'exa%00mple',
      'münchen.de',
      'xn--mnchen-3ya.de',
      'xn--a',
      'exa mple.com',
      'example。com',
      '１.2.3.4',
      'a..b',
      '-a.com',
      'a_b.com',
      'localhost',
      'ⓔ.com',
      'faß.de',
      'a^b',
      'a|b',
      'a<b',
      '%',
      '',
      '.',
      'a.b.c.d.e',
      '1e3',
      '0x',
      '09.1.1.1',
      'a\u00adb.com',
      '\u200d.com',
    ];
    const tails = [
      '',
      '/',
      '/a/b',
      '?q=1',
      '#f',
      '\\x',
      ':80/',
      ':443',
      ':8080/x',
      ':99999/',
      ':a/',
      '/?u=https://evil.test',
      '/@b',
      '?@b',
      '#@b',
    ];
    let hostsRead = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const written = pick(schemes) + pick(slashes) + pick(users) + pick(hosts) + pick(tails);
      // The standard reads the whole; what running text cuts off is left out here.
      const authority = /^[a-z]*:[/\\]*([^/\\?#]*)/i.exec(written)?.[1] ?? '';
      if (/[)(,;'*|}]/.test(authority)) continue;
      const standard = parseURL(written);
      // Later versions of Node.js take labels of Punycode that decode to nothing, which the standard refuses.
      if (authority.includes('xn--') && (standard === null) === URL.canParse(written)) continue;
      const read = readUrl(written, 'absolute');
      const hostname = standard?.host === null ? '' : hostOf(serializeHost(standard?.host ?? ''));
      const expected = standard === null ? null : hostname;
      expect([written, read === null ? null : read.host]).toEqual([written, expected]);
      if (expected !== null && expected !== '') hostsRead += 1;
    }
    expect(hostsRead).toBeGreaterThan(4000);
  });
});

describe('the work', () => {
  const parts = [
    'https:',
    'https://',
    '//a.b',
    'https://a@',
    'www.a.b ',
    'a.com/',
    'https://a.b/?u=',
    'http://1 ',
    '![a](https://a.b)',
    ':',
    '\\',
    'a+',
    '%2525',
  ];

  it.each(parts)('grows as the text does: %s', (part) => {
    const check = urlEvaluator.compile({ allow_hosts: [], forbid: [...FORBIDDABLE], bare_hosts: true });
    const stepsOf = (length: number): number => {
      let steps = 0;
      check.evaluate(part.repeat(length / part.length), {
        ...checkCall('input'),
        spend: (more: number) => (steps += more),
      });
      return steps;
    };
    expect(stepsOf(80_000) / stepsOf(20_000)).toBeLessThan(4.4);
    expect(stepsOf(80_000) / 80_000).toBeLessThan(100);
  });
});

/** Whole numbers from 0 to below a bound, the same in each run. */
function random(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}
