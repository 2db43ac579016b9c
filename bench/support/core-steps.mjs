/** The rules and steps of `bench:core`, as data that every engine gets in its own form. */

/**
 * Denies a step when its text has a match of `pattern`.
 * @typedef {{ kind: 'regex', index: number, pattern: string }} RegexRule
 */
/**
 * Denies a step when its text contains one of `values` as a whole word, in any case.
 * @typedef {{ kind: 'list', index: number, values: string[] }} ListRule
 */
/** @typedef {RegexRule | ListRule} Rule */
/**
 * @typedef {{
 *   type: string, name: string, input: { to: string, text: string }, output: null, context: null
 * }} Step
 */

/**
 * Item `index` of items that take turns.
 * @template T
 * @param {readonly T[]} items
 * @param {number} index
 */
export function turnOf(items, index) {
  return /** @type {T} */ (items[index % items.length]);
}

const STEP_BYTES = 600;
const SYLLABLES = 'ba co di fu ga he ji ko lu ma ne pi qua ro su ta ve wi xo zy'.split(' ');

/**
 * Half regex, half list.
 * @param {number} count
 * @returns {Rule[]}
 */
export function rulesOf(count) {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0
      ? { kind: 'regex', index, pattern: `\\bsecret-${index}-\\d{6}\\b` }
      : { kind: 'list', index, values: [`blocked-${index}`, `denied-${index}`] },
  );
}

/**
 * Regex rules of several shapes, each with a literal of its own.
 * @param {number} count
 * @returns {RegexRule[]}
 */
export function regexRulesOf(count) {
  /** @type {((word: string) => string)[]} */
  const shapes = [
    (word) => `\\b${word}-\\d{6}\\b`,
    (word) => `(?i)${word}\\s*[:=]\\s*\\S{8,}`,
    (word) => `(?:^|\\W)${word}(?:_key|_token)\\b`,
    (word) => `${word}\\.(?:exe|dll|sh)$`,
  ];
  return Array.from({ length: count }, (_, index) => ({
    kind: 'regex',
    index,
    pattern: turnOf(shapes, index)(ruleWord(index)),
  }));
}

/**
 * The literal of rule `index` of `regexRulesOf`.
 * @param {number} index
 */
const ruleWord = (index) => `kw${index.toString(36).padStart(3, '0')}${turnOf(SYLLABLES, index)}`;

/**
 * A text that makes `rule` match, and no other rule of its set.
 * @param {Rule} rule
 */
export const hitOf = (rule) =>
  rule.kind === 'regex' ? `secret-${rule.index}-123456` : (rule.values.at(-1) ?? '');

/**
 * A source of unseen words, the same in every run.
 * @param {number} seed
 */
export function createWriter(seed) {
  let state = seed;
  /** @param {number} limit */
  const below = (limit) => {
    // A linear congruential generator with the constants of Numerical Recipes; its high bits are good enough here.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const word = () =>
    Array.from({ length: 1 + below(4) }, () => turnOf(SYLLABLES, below(SYLLABLES.length))).join('');
  return {
    below,
    word,
    /**
     * A text of `length` characters with `phrases` at its end.
     * @param {number} length
     * @param {string[]} phrases
     */
    text(length, ...phrases) {
      const end = phrases.map((phrase) => ` ${phrase} `).join('');
      let text = '';
      while (text.length < length) text += `${word()} `;
      // Buffers make flat strings, as parsers do; a string made of pieces is searched more slowly the first time.
      return Buffer.from(text.slice(0, length - end.length) + end).toString('latin1');
    },
  };
}

/**
 * A step of the core; `name` is what it calls.
 * @param {string} text
 * @returns {Step}
 */
export const stepOf = (text, name = 'send_mail') => ({
  type: 'tool',
  name,
  input: { to: 'someone@example.org', text },
  output: null,
  context: null,
});

/**
 * Steps of 600 bytes as JSON. With a rule each of them has a text that makes it match.
 * @param {number} count
 * @param {Rule} [rule]
 */
export function stepsOf(count, rule) {
  const writer = createWriter(count);
  const length = STEP_BYTES - JSON.stringify(stepOf('')).length;
  const phrases = rule === undefined ? [] : [hitOf(rule)];
  return Array.from({ length: count }, () => stepOf(writer.text(length, ...phrases)));
}
