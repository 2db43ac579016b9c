import { expect, it } from 'vitest';
import { createFailureLog } from '../../../src/decide/decisions/failure-log.js';

it('logs a control that fails at every step once a minute', () => {
  let time = 0;
  const logged: object[] = [];
  const tell = createFailureLog({ warn: (facts) => logged.push(facts) }, () => time);
  const failure = { controlId: 7, controlName: 'no-cards', problem: 'there is no evaluator named x' };
  tell(failure);
  tell(failure);
  tell({ ...failure, controlId: 8 });
  expect(logged).toEqual([failure, { ...failure, controlId: 8 }]);
  time = 59_999;
  tell(failure);
  expect(logged).toHaveLength(2);
  time = 60_000;
  tell(failure);
  expect(logged).toHaveLength(3);
});
