import { it } from 'vitest';
import { compareImplementations, VARIANTS } from '../../packages/json-schema/test/differential.js';

const SCHEMAS = 5_000;

it.each(VARIANTS)(
  `${SCHEMAS} generated schemas of $name mean what they mean to another implementation`,
  {
    timeout: 3_600_000,
  },
  (variant) => {
    compareImplementations(SCHEMAS, variant);
  },
);
