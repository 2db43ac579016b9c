import { z } from 'zod';

export default {
  name: 'with-zod',
  version: '2.0.0',
  configSchema: z
    .object({ limit: z.int().min(1).default(5), words: z.array(z.string()).optional() })
    .refine(({ limit, words }) => (words?.length ?? 0) <= limit, 'more words than the limit'),
  evaluate: (_data, config) => ({ matched: true, confidence: 0.5, metadata: { config } }),
};
