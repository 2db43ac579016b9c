import { it } from 'vitest';
import { describeService } from '../../support/service-suite.js';
import { checkSetLaws } from './set-laws.js';

describeService('Applying a set after another', ({ call }) => {
  it('leaves exactly that set, and a second time changes nothing', () => checkSetLaws(call, 6), 120_000);
});
