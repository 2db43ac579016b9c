import { describe, it } from 'vitest';
import { expectReads } from './generated-reads.js';

describe('20,000 generated statements of SQLite', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => seed + 2))(
    'that pass as SELECT change nothing and call nothing with effects (seed %i)',
    (seed) => expectReads(seed, 1_000),
  );
});
