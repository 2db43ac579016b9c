import { inMs, integerIn, type Reader, secret } from './config-readers.js';
import { setting } from './setting.js';

const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** 32 bytes in base64, base64url or hexadecimal; in base64. */
export const ENCRYPTION_KEY: Reader<string> = {
  read(text) {
    if (HEX.test(text)) return Buffer.from(text, 'hex').toString('base64');
    const bytes = BASE64.test(text) ? Buffer.from(text, 'base64') : undefined;
    return bytes?.length === KEY_BYTES ? bytes.toString('base64') : undefined;
  },
  expected: '32 bytes in base64 or hexadecimal, such as the output of openssl rand -base64 32',
  example: 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
};

/** Approvals: how many there may be, and how their steps are kept. */
export const APPROVALS = {
  approvals: {
    key: setting('SERVICE_APPROVALS_KEY', null, secret(ENCRYPTION_KEY)).help(
      'Key with which steps that wait for an approval are stored encrypted (AES-256-GCM): 32 bytes in base64 or hexadecimal. Without it they are stored as they are, with a warning. A step that was stored with another key cannot be shown or narrowed any more.',
    ),
    retentionMs: setting(
      'SERVICE_APPROVALS_RETENTION_SECONDS',
      604_800,
      inMs(integerIn(0, 315_360_000)),
    ).help('How long the step of an approval is kept after its end. The approval itself stays.'),
    max: setting('SERVICE_APPROVALS_MAX', 10_000, integerIn(1, 1_000_000)).help(
      'Most approvals of a namespace that are open at a time. Beyond it, steps that need another one are denied.',
    ),
    maxTotal: setting('SERVICE_APPROVALS_MAX_TOTAL', 100_000, integerIn(1, 1_000_000)).help(
      'The same of all namespaces together.',
    ),
    maxPerAgent: setting('SERVICE_APPROVALS_MAX_PER_AGENT', 100, integerIn(1, 1_000_000)).help(
      'Most open approvals of one agent.',
    ),
    fatigueLimit: setting('SERVICE_APPROVALS_FATIGUE_LIMIT', 60, integerIn(1, 1_000_000)).help(
      'How often one agent may ask the approvers of a control within the time of SERVICE_APPROVALS_FATIGUE_SECONDS, and all agents together four times as often. Beyond it, further steps are denied without asking them.',
    ),
    fatigueMs: setting('SERVICE_APPROVALS_FATIGUE_SECONDS', 3_600, inMs(integerIn(1, 604_800))).help(
      'The time in which the requests to the approvers of a control are counted.',
    ),
  },
};
