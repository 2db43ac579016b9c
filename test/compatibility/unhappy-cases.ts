import { AGENT_CASES } from './unhappy-agent-cases.js';
import { BODY_CASES, PATH_CASES } from './unhappy-body-and-path-cases.js';
import type { UnhappyCase } from './unhappy-case.js';
import { CONTROL_CASES } from './unhappy-control-cases.js';
import { RUNTIME_CASES } from './unhappy-runtime-cases.js';

/** Every way to be refused that clients can tell apart, route by route. */
export const UNHAPPY_CASES: readonly UnhappyCase[] = [
  ...BODY_CASES,
  ...PATH_CASES,
  ...AGENT_CASES,
  ...CONTROL_CASES,
  ...RUNTIME_CASES,
];
