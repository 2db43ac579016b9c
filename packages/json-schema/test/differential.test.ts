import { describe, it } from 'vitest';
import { compareImplementations, VARIANTS } from './differential.js';

describe('a compiled schema', () => {
  it.each(VARIANTS)('accepts what another implementation of $name accepts', (variant) => {
    compareImplementations(200, variant);
  });
});
