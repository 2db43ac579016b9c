import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorItems } from '../../../src/contract/input/items.js';
import { DataTexts } from '../../../src/kernel/core/data-texts.js';
import type { EvaluatorResult, Verdict } from '../../../src/kernel/core/types.js';
import { listEvaluator } from '../../../src/kernel/evaluators/list/list.js';
import { regexEvaluator } from '../../../src/kernel/evaluators/regex/regex.js';
import { aDefinition, aLeaf, aProgram, aStep, idsOf } from '../../../test/kernel/core/support.js';
import { FULL_CALL } from '../../../test/support/check-call.js';
import type { JsonObject, JsonValue } from '../../exact-json/src/index.js';
import { MAX_NORMALIZED_LENGTH, normalizeText } from '../src/normalize-text.js';

const regex = (config: JsonObject, data: JsonValue) =>
  (regexEvaluator.compile(config).evaluate(data, FULL_CALL) as EvaluatorResult).matched;
const list = (config: JsonObject, data: JsonValue) =>
  listEvaluator.compile(config).evaluate(data, FULL_CALL) as EvaluatorResult;

describe('normalizeText', () => {
  it.each([
    ['zero-width space', '\u200b'],
    ['zero-width non-joiner', '\u200c'],
    ['zero-width joiner', '\u200d'],
    ['word joiner', '\u2060'],
    ['byte order mark', '\ufeff'],
    ['soft hyphen', '\u00ad'],
    ['combining grapheme joiner', '\u034f'],
    ['left-to-right mark', '\u200e'],
    ['right-to-left mark', '\u200f'],
    ['Arabic letter mark', '\u061c'],
    ['left-to-right embedding', '\u202a'],
    ['right-to-left override', '\u202e'],
    ['left-to-right isolate', '\u2066'],
    ['pop directional isolate', '\u2069'],
    ['Mongolian vowel separator', '\u180e'],
    ['Hangul filler', '\u3164'],
    ['half-width Hangul filler', '\uffa0'],
    ['variation selector', '\ufe0f'],
    ['invisible times', '\u2062'],
    ['language tag', '\u{e0001}'],
    ['tag letter', '\u{e0041}'],
    ['variation selector of another plane', '\u{e0100}'],
  ])('leaves out a %s', (_name, character) => {
    expect(normalizeText(`${character}a${character}${character}b${character}`)).toBe('ab');
    expect(normalizeText(character)).toBe('');
  });

  it.each([
    ['ｐａｓｓ', 'pass'],
    ['𝓹𝓪𝓼𝓼', 'pass'],
    ['ﬁle', 'file'],
    ['e\u0301', 'é'],
    ['e\u200b\u0301', 'é'],
    ['①②', '12'],
    ['ﾊﾟ', 'パ'],
    ['a\u00a0b', 'a b'],
    ['ſ', 's'],
    ['4\u2060111', '4111'],
    ['\ud800x\udc00', '\ud800x\udc00'],
    ['plain \t\n\0 text', 'plain \t\n\0 text'],
  ])('brings %j into the form %j', (text, normalized) => {
    expect(normalizeText(text)).toBe(normalized);
  });

  const unit = fc.constantFrom(
    ...['a', 'A', ' ', '"', '\\', '\n', 'é', 'e\u0301', '\u0301', '\u0316', '\u200b', '\u034f', '\u202e'],
    ...['ｐ', 'ﬁ', '한', '\u1112', '\u1161', '\ufdfa', '😀', '\ud800', '\udc00', '\u3164', '\u0344'],
  );
  const text = fc.string({ unit, maxLength: 20 });

  it('is NFKC of what is left, and changes nothing more when it is done again', () => {
    fc.assert(
      fc.property(text, (value) => {
        const normalized = normalizeText(value);
        expect(normalized).toBe(value.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC'));
        expect(normalizeText(normalized)).toBe(normalized);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes sequences of combining marks of any length', () => {
    // To put all of them in order at once would take hours.
    const marks = `x\u0316${'\u0301\u0316'.repeat((MAX_NORMALIZED_LENGTH - 2) / 2)}`;
    expect(normalizeText(marks)).toHaveLength(marks.length);
    expect(normalizeText(`x${'\u200b'.repeat(100)}${'\u0301'.repeat(40)}`)).toBe(`x${'\u0301'.repeat(40)}`);
  });

  it('takes ASCII of any length, and refuses other texts that are too long', () => {
    const ascii = 'a'.repeat(MAX_NORMALIZED_LENGTH + 1);
    expect(normalizeText(ascii)).toBe(ascii);
    expect(normalizeText('é'.repeat(MAX_NORMALIZED_LENGTH))).toHaveLength(MAX_NORMALIZED_LENGTH);
    expect(() => normalizeText('é'.repeat(MAX_NORMALIZED_LENGTH + 1))).toThrow(/too long/);
    expect(() => new DataTexts({ a: 'é'.repeat(MAX_NORMALIZED_LENGTH) }).normalized).toThrow(/too long/);
  });

  it('of an object is that of each text in it', () => {
    fc.assert(
      fc.property(fc.dictionary(text, fc.array(text), { noNullPrototype: true }), (data) => {
        const texts = new DataTexts(data);
        const { json, values, names, hidden } = texts.normalized;
        expect(json).toBe(normalizeText(texts.json));
        expect(values).toEqual(texts.values.map(normalizeText));
        expect(names).toEqual(texts.names.map(normalizeText));
        // Whatever is not among the hidden ones stands in the JSON text between quotes.
        for (const one of [...values, ...names]) {
          expect(hidden.includes(one) || json.includes(`"${one}"`)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('regex and list with normalize', () => {
  const hidden = 'pa\u200bss\u2060wo\u00adrd';

  it.each<JsonValue>([
    hidden,
    'ｐａｓｓｗｏｒｄ',
    { a: hidden },
    { [hidden]: 1 },
    [[{ a: `the\n${hidden}` }]],
  ])('find in %o what is only hidden', (data) => {
    expect(regex({ pattern: '(?:^|\\W)password$' }, data)).toBe(false);
    expect(regex({ pattern: '(?:^|\\W)password$', normalize: 'nfkc' }, data)).toBe(true);
    const contains = { values: ['password'], match_mode: 'contains' };
    expect(list(contains, data).matched).toBe(false);
    expect(list({ ...contains, normalize: 'nfkc' }, data).matched).toBe(true);
  });

  it('compare with normalised values, and show the items as they came', () => {
    const config = { values: ['ﬁle\u200b'], normalize: 'nfkc' };
    for (const item of ['file', 'ﬁle', 'f\u200bile', 'ＦＩＬＥ']) {
      expect(list(config, item)).toMatchObject({ matched: true, metadata: { matches: [item] } });
      expect(list(config, [item, 'x']).metadata).toMatchObject({ matches: [item] });
    }
    expect(list({ values: ['ﬁle'] }, 'file').matched).toBe(false);
    const allowed = { values: ['ls'], match_on: 'no_match', normalize: 'nfkc' };
    expect(list(allowed, { a: 'l\u200bs' }).matched).toBe(false);
    expect(list(allowed, { a: 'l\u200bs', b: 'rm' }).matched).toBe(true);
  });

  it('cannot be decided for texts that are too long, one by one or many at once', () => {
    const input = { q: 'é'.repeat(MAX_NORMALIZED_LENGTH + 1) };
    const leaves = Array.from({ length: 12 }, (_, index) =>
      aDefinition(aLeaf('regex', { pattern: `literal${index}`, normalize: 'nfkc' }, 'input')),
    );
    const program = aProgram(leaves);
    const before = program.evaluate(aStep(), 'pre', 'full') as Verdict;
    expect(before.non_matches).toHaveLength(12);
    const verdict = program.evaluate(aStep({ input }), 'pre', 'full') as Verdict;
    expect(verdict.errors).toHaveLength(12);
    expect(verdict.is_safe).toBe(false);
  });

  it('are searched for in one pass, apart from searches of texts as they are', () => {
    const definitions = Array.from({ length: 24 }, (_, index) => {
      const pattern = `needle${String(index).padStart(2, '0')}x`;
      const config = index % 2 === 0 ? { pattern } : { pattern, normalize: 'nfkc' };
      return aDefinition(aLeaf('regex', config, 'input'), 'observe');
    });
    const program = aProgram(definitions);
    const needles = [2, 3, 16, 17, 22, 23].map((index) => `nee\u200bdle${String(index).padStart(2, '0')}x`);
    for (const detail of ['verdict', 'full'] as const) {
      const broken = program.evaluate(aStep({ input: { q: needles.join('\n') } }), 'pre', detail) as Verdict;
      expect(idsOf(broken.matches)).toEqual([24, 18, 4]);
      const whole = needles.join('\n').replaceAll('\u200b', '');
      const plain = program.evaluate(aStep({ input: { q: whole } }), 'pre', detail) as Verdict;
      expect(idsOf(plain.matches)).toEqual([24, 23, 18, 17, 4, 3]);
    }
  });

  it.each<[string, JsonObject, [string | undefined, string][]]>([
    ['regex', { pattern: 'a', normalize: 'NFKC' }, [['normalize', 'literal_error']]],
    ['regex', { pattern: 'a', normalize: true }, [['normalize', 'literal_error']]],
    ['regex', { pattern: 'a', normalize: null }, []],
    ['list', { values: ['a'], normalize: 'nfd' }, [['normalize', 'literal_error']]],
    ['list', { values: ['a', '\u200b'], normalize: 'nfkc' }, [['values[1]', 'value_error']]],
    ['list', { values: ['a', '\u200b'] }, []],
    ['list', { values: ['\ufdfa'.repeat(60_000)], normalize: 'nfkc' }, [['values', 'value_error']]],
    ['list', { values: ['\ufdfa'.repeat(60_000)] }, []],
  ])('check their configuration: %s %o', (name, config, problems) => {
    const { configSchema } = name === 'regex' ? regexEvaluator : listEvaluator;
    const read = configSchema.safeParse(config, { reportInput: true });
    const found = read.success ? [] : errorItems(read.error).map(({ field, code }) => [field, code]);
    expect(found).toEqual(problems);
  });

  it('show the member in the schemas of their configurations', () => {
    for (const { configJsonSchema } of [regexEvaluator, listEvaluator]) {
      expect(configJsonSchema).toMatchObject({
        properties: { normalize: { description: expect.stringContaining('NFKC') } },
      });
    }
  });
});
