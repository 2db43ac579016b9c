/** Matches texts with more words than the configuration allows. */
export default {
  name: 'word-limit',
  version: '1.0.0',
  description: 'Matches texts with more words than allowed.',
  timeoutMs: 1_000,
  configSchema: {
    type: 'object',
    properties: { max_words: { type: 'integer', minimum: 0 } },
    required: ['max_words'],
  },
  evaluate(data, { max_words }) {
    const text = typeof data === 'string' ? data : '';
    const words = text.split(/\s+/).filter((word) => word !== '').length;
    return {
      matched: words > max_words,
      message: `${words} words, ${max_words} allowed`,
      metadata: { words },
    };
  },
};
