import { ENCRYPTION_KEY } from './approval-settings.js';
import { secret } from './config-readers.js';
import { setting } from './setting.js';

/** Samples of steps: how they are kept. What is kept is said by rules, which are stored. */
export const SAMPLES = {
  samples: {
    key: setting('SERVICE_SAMPLE_KEY', null, secret(ENCRYPTION_KEY)).help(
      'Key with which samples of steps are stored encrypted (AES-256-GCM): 32 bytes in base64 or hexadecimal. Without it they are stored as they are after masking, with a warning. A sample that was stored with another key cannot be read any more.',
    ),
  },
};
