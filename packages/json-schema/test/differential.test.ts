import { describe, it } from 'vitest';
import { compareImplementations } from './differential.js';

describe('a compiled schema', () => {
  it('accepts what another implementation of draft 7 accepts', () => {
    compareImplementations(200);
  });
});
