import { describe, it } from 'vitest';
import { compareImplementations } from './json-schema-differential.js';

describe('a compiled schema', () => {
  it('accepts what another implementation of draft 7 accepts', { timeout: 120_000 }, () => {
    compareImplementations(200);
  });
});
