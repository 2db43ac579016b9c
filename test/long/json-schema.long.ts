import { it } from 'vitest';
import { compareImplementations } from '../../packages/json-schema/test/differential.js';

const SCHEMAS = 5_000;

it(`${SCHEMAS} generated schemas mean what they mean to another implementation`, {
  timeout: 1_200_000,
}, () => {
  compareImplementations(SCHEMAS);
});
