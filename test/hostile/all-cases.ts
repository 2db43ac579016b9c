import type { HostileCase } from './hostile-case.js';
import { JSON_CASES } from './json-cases.js';
import { PATTERN_CASES } from './pattern-cases.js';
import { REQUEST_CASES } from './request-cases.js';

/** Every hostile pattern, schema, definition and payload. */
export const HOSTILE_CASES: readonly HostileCase[] = [...PATTERN_CASES, ...JSON_CASES, ...REQUEST_CASES];
