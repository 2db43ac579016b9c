/** Finds "bad" in texts, or answers what its configuration says. */
export default {
  name: 'spans',
  version: '1.0.0',
  configSchema: { type: 'object' },
  evaluate(data, { spans }) {
    if (typeof data !== 'string') return { matched: JSON.stringify(data).includes('bad') };
    const found = [...data.matchAll(/bad/g)].map(({ index }) => ({ start: index, end: index + 3 }));
    return { matched: found.length > 0, spans: spans === undefined ? found : spans };
  },
};
