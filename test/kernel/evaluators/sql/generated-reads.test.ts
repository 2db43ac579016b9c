import { describe, it } from 'vitest';
import { expectReads } from './generated-reads.js';

describe('generated statements of SQLite', () => {
  it('that pass as SELECT change nothing and call nothing with effects', () => expectReads(1, 250));
});
