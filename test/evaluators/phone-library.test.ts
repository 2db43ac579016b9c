import { expect, it } from 'vitest';
import { PHONE_REGIONS, phoneLibrary } from '../../src/evaluators/pii/phone-library.js';

it('has the regions that are written out for configurations', () => {
  expect(PHONE_REGIONS).toEqual(phoneLibrary().getCountries());
});

it('is loaded once', () => {
  expect(phoneLibrary()).toBe(phoneLibrary());
});
