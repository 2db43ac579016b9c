import { describe, expect, it } from 'vitest';
import { checkCall, findingsIn, markedTexts } from '../../../../test/corpora/marked-spans.support.js';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import type { JsonObject, JsonValue } from '../../../exact-json/src/index.js';
import { KIND_NAMES, SHAPED_KINDS } from '../../src/pii/kinds/kinds.js';
import { piiEvaluator } from '../../src/pii/pii.js';

const issuesOf = (config: JsonObject): string[] =>
  (piiEvaluator.configSchema.safeParse(config).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
const kindsIn = (text: string, config: JsonObject = {}): string[] =>
  findingsIn(piiEvaluator, config)(text).map(({ kind }) => kind);
const scoreOf = (text: string, kind: string): number =>
  Math.max(
    0,
    ...findingsIn(piiEvaluator, { threshold: 0.01 })(text)
      .filter((one) => one.kind === kind)
      .map(({ score }) => score),
  );

describe('what is found', () => {
  it('has the place of the number in the text', () => {
    const text = 'Pay with 4111 1111 1111 1111, please.';
    const [found] = findingsIn(piiEvaluator, {})(text);
    expect(found).toMatchObject({ kind: 'credit_card', start: 9, end: 28 });
  });

  it('has the same place when digits are of other scripts', () => {
    const text = 'card ４１１１ １１１１ １１１１ １１１１!';
    expect(findingsIn(piiEvaluator, {})(text)).toMatchObject([{ kind: 'credit_card', start: 5, end: 24 }]);
    expect(kindsIn('بطاقة ٤١١١ ١١١١ ١١١١ ١١١١')).toEqual(['credit_card']);
  });

  it('is found in numbers and names of members, too', () => {
    const result = piiEvaluator
      .compile({})
      .evaluate({ 'ann@example.com': 4111111111111111 } as JsonValue, checkCall('input'));
    expect(result).toMatchObject({
      matched: true,
      metadata: {
        findings: [
          { kind: 'email', path: '/ann@example.com', in_name: true },
          { kind: 'credit_card', path: '/ann@example.com', in_name: false },
        ],
      },
    });
  });

  it('does not repeat the personal data', () => {
    const result = piiEvaluator.compile({}).evaluate('ann@example.com', checkCall('input'));
    expect(JSON.stringify(result)).not.toContain('ann@');
  });

  it.each(markedTexts('pii', 'dev').filter(({ kind }) => kind !== null))(
    '$kind in: $text',
    ({ text, kind, spans }) => {
      expect(findingsIn(piiEvaluator, {})(text)).toContainEqual(
        expect.objectContaining({ kind, ...spans[0] }),
      );
    },
  );
});

describe('words near a number', () => {
  it('raise the score', () => {
    expect(scoreOf('536226789', 'us_ssn')).toBe(0.1);
    expect(scoreOf('SSN 536226789', 'us_ssn')).toBe(0.7);
    expect(scoreOf('número de seguro social 536226789', 'us_ssn')).toBe(0.7);
    expect(scoreOf('536226789 (social security)', 'us_ssn')).toBe(0.7);
  });

  it('count as a whole only', () => {
    expect(scoreOf('sinister 130692544', 'ca_sin')).toBe(0.15);
    expect(scoreOf('sin 130692544', 'ca_sin')).toBe(0.7);
  });

  it('do not count from far away', () => {
    expect(scoreOf(`SSN ${'. '.repeat(40)}536226789`, 'us_ssn')).toBe(0.1);
  });

  it('also count in the name of the member and in the path of the selector', () => {
    const inMember = piiEvaluator.compile({}).evaluate({ socialSecurity: '536226789' }, checkCall('input'));
    expect(inMember).toMatchObject({ message: 'Found us_ssn' });
    const selected = piiEvaluator.compile({}).evaluate('536226789', checkCall('input.user.ssn'));
    expect(selected).toMatchObject({ message: 'Found us_ssn' });
    expect(piiEvaluator.compile({}).evaluate('536226789', checkCall('input.user.total'))).toMatchObject({
      matched: false,
    });
  });

  it('decide between kinds of one shape', () => {
    expect(kindsIn('BSN 123456782')).toEqual(['nl_bsn']);
    expect(kindsIn('NIF 123456789')).toEqual(['pt_nif']);
  });

  it('that speak of an order or a version lower it', () => {
    expect(scoreOf('4111111111111111', 'credit_card')).toBe(0.7);
    expect(scoreOf('order 4111111111111111', 'credit_card')).toBe(0.4);
  });
});

describe('what adjoins a number lowers the score', () => {
  it.each([
    ['a further group', '4111-1111-1111-1111-22', 0.55],
    ['a decimal point', '0.4111111111111111', 0.3],
    ['an address', 'https://shop.example/items/4111111111111111', 0.5],
    ['a sign of currency', '$4111111111111111', 0.45],
  ])('%s', (_, text, score) => {
    expect(scoreOf(text, 'credit_card')).toBe(score);
  });

  it('a letter makes it another code', () => {
    expect(scoreOf('x4111111111111111', 'credit_card')).toBe(0);
    expect(scoreOf('550e8400-e29b-41d4-a716-446655440000', 'phone')).toBe(0);
  });
});

describe('telephone numbers', () => {
  it('are found with the country code, whatever the regions', () => {
    expect(kindsIn('+49 30 901820', { regions: ['US'] })).toEqual(['phone']);
    expect(kindsIn('+44 (0)20 7946 0958')).toEqual(['phone']);
    expect(kindsIn('0049 30 901820')).toEqual(['phone']);
  });

  it('are found without it only of the regions', () => {
    expect(kindsIn('Tel. 030 901820', { regions: ['DE'], entities: ['phone'] })).toEqual(['phone']);
    expect(kindsIn('Tel. 030 901820', { regions: ['US'], entities: ['phone'] })).toEqual([]);
  });

  it('need a word or the usual signs', () => {
    expect(kindsIn('4155552671')).toEqual([]);
    expect(kindsIn('call 4155552671')).toEqual(['phone']);
    expect(kindsIn('(415) 555-2671')).toEqual(['phone']);
  });

  it('are no dates', () => {
    expect(kindsIn('04.05.2026 10:00')).toEqual([]);
    expect(kindsIn('2026-04-05 10:00')).toEqual([]);
  });
});

describe('mail addresses', () => {
  it.each([
    ['<ann@example.com>', 'ann@example.com'],
    ['mailto:ann.lee+news@example.co.uk?subject=x', 'ann.lee+news@example.co.uk'],
    ['to=ann@example.com&x=1', 'ann@example.com'],
    ['Kontakt: jürgen@müller-beispiel.de.', 'jürgen@müller-beispiel.de'],
    ['ann@xn--mller-kva.example', 'ann@xn--mller-kva.example'],
  ])('%s', (text, address) => {
    const [found] = findingsIn(piiEvaluator, {})(text);
    expect(text.slice(found?.start, found?.end)).toBe(address);
  });

  it.each([
    'ann@localhost',
    'a..b@example.com',
    '@example.com',
    'ann@',
    'icon@2x.png',
    'pkg@1.2.3',
    'ann@-x.com',
    `${'a'.repeat(65)}@example.com`,
  ])('not %s', (text) => {
    expect(kindsIn(text)).toEqual([]);
  });
});

describe('addresses of networks', () => {
  it.each([
    ['203.0.113.7', 0.6],
    ['2001:db8::8a2e:370:7334', 0.8],
    ['10.1.2.200', 0.3],
    ['127.0.0.1', 0.1],
    ['1.2.3.4', 0.1],
    ['Chrome/120.0.6099.109', 0],
    ['1.3.6.1.4.1.311', 0],
    ['256.1.1.1', 0],
    ['12:30:45', 0],
    ['client 10.1.2.200', 0.7],
  ])('%s has the score %d', (text, score) => {
    expect(scoreOf(text, 'ip_address')).toBe(score);
  });
});

describe('a configuration', () => {
  it('selects kinds', () => {
    const text = 'ann@example.com 4111 1111 1111 1111';
    expect(kindsIn(text, { entities: ['email'] })).toEqual(['email']);
    expect(kindsIn(text, { entities: ['credit_card'] })).toEqual(['credit_card']);
  });

  it('selects regions; kinds of no region stay', () => {
    expect(kindsIn('SSN 536-22-6789, CPF 111.444.777-35, a@b.example', { regions: ['BR'] })).toEqual([
      'br_cpf',
      'email',
    ]);
  });

  it('ignores texts exactly as they are written', () => {
    expect(kindsIn('Mail info@example.com', { ignore: ['info@example.com'] })).toEqual([]);
    expect(kindsIn('Mail Info@example.com', { ignore: ['info@example.com'] })).toEqual(['email']);
  });

  it('sets the threshold', () => {
    expect(kindsIn('10.1.2.200')).toEqual([]);
    expect(kindsIn('10.1.2.200', { threshold: 0.3 })).toEqual(['ip_address']);
  });

  it('names a kind that it does not know, and suggests one', () => {
    expect(issuesOf({ entities: ['email', 'credit_cards'] })).toEqual([
      expect.stringMatching(
        /^entities\.1: is no kind of personal data; did you mean credit_card\?; known: credit_card, us_ssn/,
      ),
    ]);
    expect(issuesOf({ entities: [7] })).toEqual(['entities.0: must be a string']);
    expect(issuesOf({ entities: [] })).toEqual(['entities: must have at least 1 item']);
  });

  it('names a region that it does not know', () => {
    expect(issuesOf({ regions: ['us'] })).toEqual([
      'regions.0: is no region of ISO 3166-1 alpha-2; did you mean US?',
    ]);
  });

  it('refuses a kind of a region that it leaves out', () => {
    expect(issuesOf({ entities: ['email', 'us_ssn'], regions: ['DE'] })).toEqual([
      'entities.1: is a kind of US, which is not among the regions; add US to regions, or leave it out',
    ]);
  });

  it.each([0, 1.5, '0.5', null])('refuses the threshold %j', (threshold) => {
    expect(issuesOf({ threshold })).toEqual(['threshold: must be a number above 0, and at most 1']);
  });
});

describe('kinds', () => {
  it('have names of their own, and a source', () => {
    expect(new Set(KIND_NAMES).size).toBe(KIND_NAMES.length);
    for (const { source, shapes } of SHAPED_KINDS) {
      expect(source).not.toBe('');
      for (const score of Object.values(shapes)) expect(score).toBeGreaterThan(0);
    }
  });
});

describe('the work', () => {
  const parts = {
    digits: '1',
    'single digits': '1 ',
    pairs: '11 ',
    'pairs with a word': 'tel 11 11 11 ',
    'valid numbers': 'ssn 536226789 ',
    'numbers of nothing': '536226780 ',
    'at signs': '@',
    'long local parts': 'a.b+',
    colons: 'a:',
    dots: '1.',
    pluses: '+1',
    'beginnings of IBANs': 'DE89 ',
    cards: '4111 1111 1111 1112 ',
    telephones: '0 11 22 33 44, ',
  };

  it.each(Object.entries(parts))('grows as the text does: %s', (_, part) => {
    const check = piiEvaluator.compile({ threshold: 1 });
    const stepsOf = (length: number): number => {
      let steps = 0;
      const call = { ...checkCall('input'), spend: (more: number) => (steps += more) };
      check.evaluate(part.repeat(length / part.length), call);
      return steps;
    };
    const [small = 0, large = 0] = [stepsOf(20_000), stepsOf(80_000)];
    expect(large / small).toBeLessThan(4.4);
    // 400 steps of some 13 ns for each unit, whatever the text says.
    expect(large / 80_000).toBeLessThan(400);
  });
});

describe('numbers with other signs between their digits', () => {
  it.each(['_', '\t', '\n', '\u00a0', '\u2011', '\u2013'])(
    'are found with %j, at their places',
    async (sign) => {
      const number = ['4111', '1111', '1111', '1111'].join(sign);
      const { matched, metadata } = await piiEvaluator
        .compile({})
        .evaluate(`card ${number} of Jane`, FULL_CALL);
      expect(matched).toBe(true);
      expect(metadata?.findings).toMatchObject([{ kind: 'credit_card', start: 5, end: 24 }]);
    },
  );
});
