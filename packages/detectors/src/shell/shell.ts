import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import { createDetector } from '../detector/detector.js';
import { shellConfig } from './config.js';
import { shellWarnings } from './config-warnings.js';
import { WHOLE_TEXT } from './findings.js';
import { rulesOf } from './rules.js';
import { ShellText } from './shell-text.js';

/** Estimated memory of one listed name, and of a configuration without any, in bytes. */
const BYTES_PER_NAME = 200;
const BASE_BYTES = 2_000;

/** Finds programs and calls that must not run in the commands of a shell, which it reads with `packages/shell-reader`. */
export const shellEvaluator: Evaluator = createDetector({
  name: 'shell',
  version: '1.0.0',
  description: 'Finds programs, calls and constructs that must not run in commands of a shell.',
  configSchema: shellConfig,
  warningsFor: shellWarnings,
  compile(config) {
    const rules = rulesOf(config);
    const { deny_programs = [], allow_programs = [], deny = [] } = config;
    const parts = deny.map((call) => 1 + (call.flags?.length ?? 0) * 4 + (call.arguments?.length ?? 0));
    const names = deny_programs.length + allow_programs.length + parts.reduce((sum, count) => sum + count, 0);
    return {
      detect: (text, found, spend) =>
        new ShellText(text, { rules, found, spend, place: WHOLE_TEXT, depth: 0, certainty: 1 }).read(),
      threshold: config.threshold,
      hasOwnEscapes: true,
      sizeBytes: BASE_BYTES + names * BYTES_PER_NAME,
    };
  },
});
