import assert from 'node:assert/strict';
import test from 'node:test';
import wordLimit from './index.js';

test('matches texts with more words than allowed, and nothing else', () => {
  const check = (data) => wordLimit.evaluate(data, { max_words: 2 }).matched;
  assert.equal(check('one two three'), true);
  assert.equal(check(' one\ttwo\n'), false);
  assert.equal(check(''), false);
  assert.equal(check(null), false);
  assert.equal(check({ text: 'one two three' }), false);
});

test('says how many words there were', () => {
  const { message, metadata } = wordLimit.evaluate('one two three', { max_words: 2 });
  assert.equal(message, '3 words, 2 allowed');
  assert.deepEqual(metadata, { words: 3 });
});
