export default {
  name: 'in-a-folder',
  version: '1.0.0',
  configSchema: { type: 'object' },
  evaluate: () => ({ matched: true }),
};
