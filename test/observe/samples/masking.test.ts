import { describe, expect, it } from 'vitest';
import { findSensitive } from '../../../packages/detectors/src/index.js';
import type { JsonValue } from '../../../packages/exact-json/src/index.js';
import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import { createMasking } from '../../../src/observe/samples/masking.js';

const WORD = 'hunter2-is-not-safe';
const CARD = '4111111111111111';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const printed = (value: JsonValue, times = 1): string =>
  times === 0 ? String(value) : printed(stringifyJson(value), times - 1);
const within = (text: string, levels: number): string =>
  levels === 0 ? text : within(JSON.stringify([text]), levels - 1);

function masked(input: JsonValue, rule: { paths?: string[]; patterns?: string[] } = {}, more: object = {}) {
  const masking = createMasking(
    { maskedPaths: rule.paths ?? [], maskedPatterns: rule.patterns ?? [] },
    findSensitive,
  );
  const step = { type: 'tool', name: 'send', input, output: null, context: null, ...more };
  const cut = masking.withoutPaths(step);
  const call = { step: cut.value, sessionId: 'chat 7', target: { type: 'repo', id: 'a/b' } };
  const { value, count } = masking.masked(call, step);
  return { value, count: cut.count + count, text: stringifyJson(value as unknown as JsonValue) };
}

/** One of the secrets, in every form that a step may have it in. */
const HOSTILE: Readonly<Record<string, JsonValue>> = {
  'a member': { password: WORD },
  'a number': { pin: 123_456_789 },
  'a list under a secret name': { tokens: [[{ a: WORD }]] },
  'a short name': { dsn: WORD },
  'a member named key': { key: WORD, more: { KEY: WORD, keys: [WORD] } },
  'a named sibling': [{ name: 'Authorization', value: WORD }],
  'a named sibling with capitals': [{ Key: 'password', Value: WORD }],
  'a pair': ['Authorization', WORD],
  'an option and its value': ['mysql', '--password', WORD],
  'an option with its value': ['mysql', `--password=${WORD}`],
  'a member named __proto__': JSON.parse(`{"__proto__":{"password":"${WORD}"}}`),
  'a card as a number': { n: Number(CARD) },
  'a card as an integer of any size': { n: BigInt(CARD) },
  'a name': { [CARD]: 1, [`password=${WORD}`]: 2 },
  'JSON in a name': { [`{"password":["${WORD}"]}`]: 1 },
  'JSON in a text': JSON.stringify({ password: { a: WORD } }),
  'JSON in a text in a text': printed({ password: [WORD] }, 3),
  'JSON deeper than what is searched': within(JSON.stringify({ password: [WORD] }), 12),
  'JSON that nests too deeply': `${'['.repeat(2_000)}{"password":["${WORD}"]}${']'.repeat(2_000)}`,
  'equal names, the last one null': `{"password":{"a":"${WORD}"},"password":null}`,
  'equal names, the last one empty': `{"password":["${WORD}"],"password":""}`,
  'equal names that are escaped': `{"\\u0070assword":["${WORD}"],"password":false}`,
  'equal names, the first one harmless': `{"note":"\\u0034${CARD.slice(1)}","note":"ok"}`,
  'equal names in a deeper object': `{"a":[{"password":["${WORD}"],"password":true}]}`,
  'a number with an exponent': '{"n":4.111111111111111e15}',
  'a number with a fraction': `{"n":${CARD}.0}`,
  'a number with a negative exponent': `{"n":${CARD}0e-1}`,
  'broken JSON': `{"password":["${WORD}"]`,
  'broken JSON with escapes': `{"\\u0070assword":"${WORD}"`,
  'broken JSON with an escaped card': `{"a":"\\u0034${CARD.slice(1)}"`,
  'JSON lines': `{"a":1}\n{"password":{"v":"${WORD}"}}`,
  'JSON in Markdown': `see \`\`\`json\n{"password":{"v":"${WORD}"}}\n\`\`\` end`,
  'escaped JSON in a line': `log ${printed({ password: [WORD] }, 2)}`,
  'a literal of Python': `{'password': ['${WORD}']}`,
  YAML: `password: ${WORD}`,
  'a list of YAML': `auth:\n  password:\n    - ${WORD}\n    - b`,
  'a block of YAML': `password: |\n  ${WORD}\nuser: ann`,
  TOML: `password = '${WORD}'`,
  'a quoted value of two lines': `password="first\n${WORD}"`,
  'an element': `<ns:password type="a">${WORD}</ns:password>`,
  'an attribute': `<login password="${WORD}"/>`,
  'a form': `user=ann&password=${WORD}&x=1`,
  'an address': `https://ann:${WORD}@host.example/`,
  'a header': `Cookie: a=${WORD}`,
  'a command': `mysql --password ${WORD} -h host`,
  'a command with a short option': `mysqldump -u root -p${WORD} -P 3306 shop`,
  'a statement': `CREATE USER ann IDENTIFIED BY '${WORD}'`,
  'a statement with a method': `ALTER USER ann IDENTIFIED WITH "x" BY 'it''s ${WORD}'`,
  'a statement of PostgreSQL': `CREATE ROLE ann LOGIN PASSWORD '${WORD}' VALID UNTIL 'infinity'`,
  'a sentence': `the password is ${WORD}`,
  'percent-encoded JSON': `q=%7B%22password%22%3A%5B%22${WORD}%22%5D%7D`,
  'a percent-encoded card': `n=%34${CARD.slice(1)}`,
  'HTML entities': `{&quot;password&quot;:&quot;${WORD}&quot;}`,
  'a numeric entity': `&#52;${CARD.slice(1)} &#x34;${CARD.slice(1)}`,
  'invisible characters in a card': '4111\u200b1111\u00ad1111\ufeff1111',
  'invisible characters in a name': `pass\u200bword=${WORD}`,
  'NUL in a name': `pass\0word=${WORD}`,
  'full-width digits': '４１１１１１１１１１１１１１１１',
  'other signs between digits': '4111_1111_1111_1111 4111/1111/1111/1111 4111.1111.1111.1111',
  'base64 of an assignment': base64(`password=${WORD}`),
  'base64 of a card': `x ${base64(`pw ${CARD}`)} y`,
  'base64url of JSON': Buffer.from(`{"password":["${WORD}?>"]}`).toString('base64url'),
  'base64 of base64': base64(base64(`card ${CARD}`)),
  'a data address': `data:text/plain;base64,${base64(`password: ${WORD}`)}`,
  hexadecimal: Buffer.from(`pw ${CARD}`).toString('hex'),
};
const FORMS = [WORD, CARD, CARD.replaceAll('1', '１'), base64(CARD), Buffer.from(CARD).toString('hex')];

describe('masking of samples', () => {
  it.each(Object.entries(HOSTILE))('keeps nothing of a secret in %s', (_name, input) => {
    const { text, count, value } = masked({ before: 'an ordinary word', given: input, after: 17 });
    expect(FORMS.filter((form) => text.includes(form))).toEqual([]);
    // It is found in what is kept in no other form either.
    expect(text).not.toContain(stringifyJson(input));
    expect(count).toBeGreaterThan(0);
    expect(value.step.input).toMatchObject({ before: 'an ordinary word', after: 17 });
  });

  it('keeps what is not secret as it is', () => {
    const ordinary: JsonValue = {
      text: 'Please refund 12.50 EUR for order 7, 100 % sure; path a/b/c.txt, \\d+ and &amp; <b>bold</b>',
      list: [1, 2.5, -3e10, true, null, 'send', ['a', {}]],
      json: '{ "a" : [1, 2.50], "b": "c" }',
      command:
        'git commit -m "fix: the parser" --no-verify src/observe/samples/masking.ts; mysql -u root -p -P 3306 shop',
      id: '3f2b8c1e-9a4d-4b7e-8c21-5d6e7f8a9b0c',
      words: 'internationalization-of-the-documentation',
      code: 'if (a > b) { return items.map((item) => item.name); }',
    };
    expect(masked(ordinary)).toMatchObject({ count: 0, value: { step: { input: ordinary } } });
  });

  it('masks in all places what it masks in one, also in the session and target', () => {
    const secret = 'blue-horse-7';
    const step = {
      password: secret,
      note: `it is ${secret}`,
      [secret]: JSON.stringify([base64(`a ${secret}`)]),
    };
    const masking = createMasking({ maskedPaths: [], maskedPatterns: [] }, findSensitive);
    const call = {
      step: { type: 'tool', name: secret, input: step, output: `got ${secret}`, context: { a: [secret] } },
      sessionId: `chat ${secret}`,
      target: { type: secret, id: secret },
    };
    const text = stringifyJson(masking.masked(call).value as unknown as JsonValue);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(base64(`a ${secret}`).slice(3, 12));
  });

  it('masks what the paths of a rule name, in items of lists and in other places', () => {
    const people = [{ name: 'Ann Lee of Berlin' }, { name: 'Bob Roe of Paris', age: 7 }];
    const { text, value } = masked(
      { people, note: 'for Ann Lee of Berlin', deep: { secretly: { n: 12_345_678 } }, n: 12_345_678 },
      { paths: ['input.people.name', 'input.deep.secretly'] },
      { output: { seen: JSON.stringify(['Bob Roe of Paris']) } },
    );
    expect(text).not.toMatch(/Ann Lee|Bob Roe|12345678/);
    expect(value.step.input).toMatchObject({ people: [{ name: '***' }, { name: '***', age: 7 }] });
    expect(masked('all', { paths: ['*'] }, { output: 1, context: { a: 1 } }).value.step).toMatchObject({
      input: '***',
      output: '***',
      context: {},
    });
  });

  it('masks in all places whatever the case and the blanks there', () => {
    const name = 'Jane (Straße) Roe+1';
    const notes = [
      'JANE (STRASSE) ROE+1 called',
      'jane (straße) roe+1',
      'Jane\n(Straße)  Roe+1',
      'Jane Straße Roe',
    ];
    const { value } = masked({ customer: name, notes }, { paths: ['input.customer'] });
    expect(value.step.input).toEqual({
      customer: '***',
      // Case folding that changes the length is not tried.
      notes: ['JANE (STRASSE) ROE+1 called', '***', '***', 'Jane Straße Roe'],
    });
    const shouted = masked(
      { customer: 'Jane Roe', notes: 'JANE ROE and jane roe' },
      { paths: ['input.customer'] },
    );
    expect(shouted.value.step.input).toEqual({ customer: '***', notes: '*** and ***' });
  });

  it('masks what the patterns of a rule match, also across members of JSON in a text', () => {
    const { text } = masked(
      { a: 'see ACC-778812', b: base64('see ACC-778812 now'), json: '{"kind": "x", "of": 5}' },
      { patterns: ['ACC-[0-9]{6}', '"kind": "x", "of": 5'] },
    );
    expect(text).not.toMatch(/778812|kind/);
    expect(text).not.toContain(base64('see ACC-778812 now').slice(0, 16));
  });

  it('masks again to the same', () => {
    for (const [name, input] of Object.entries(HOSTILE)) {
      const once = masked({ given: input }).value.step.input;
      expect([name, masked(once).value.step.input]).toEqual([name, once]);
    }
  });
});
