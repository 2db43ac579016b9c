import { expect } from 'vitest';
import { BAD_KEY, NO_KEY } from '../support/refusals.js';
import { READER_KEY, type Step, steps } from './every-rpc.support.js';

const TARGET = { target_type: 'log_stream', target_id: 'checkout' };

/** The part of the script that is about runtime tokens; `runtime-tokens.test.ts` evaluates with them. */
export const AUTH_STEPS: readonly Step[] = steps('AuthService.ExchangeRuntimeToken', [
  [
    'exchanges a regular key for a token of a target',
    TARGET,
    {
      reply: {
        token: expect.stringMatching(/^eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.[\w-]+\.[\w-]{43}$/),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        ...TARGET,
        scopes: ['runtime.use'],
      },
    },
    READER_KEY,
  ],
  [
    'refuses a target that is too long',
    { ...TARGET, target_id: 'x'.repeat(256) },
    'target_id string_too_long',
  ],
  ['requires a key', TARGET, NO_KEY, null],
  ['requires a valid key', TARGET, BAD_KEY, 'no-such-key'],
]);
