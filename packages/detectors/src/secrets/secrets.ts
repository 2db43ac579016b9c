import { z } from 'zod';
import { field, list, nullable, refuse, refuseTyped, text } from '../../../../src/contract/input/fields.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import { type CompiledDetector, createDetector, threshold } from '../detector/detector.js';
import type { TextFinding } from '../detector/finding.js';
import { genericRules } from './generic-rules.js';
import { SECRET_RULE_IDS, scoreOfKind } from './kinds.js';
import { hasChecksum, looksLikePlaceholder, PLACEHOLDER_SHARE } from './plausibility.js';
import { providerRules } from './provider-rules.js';
import type { RawFinding } from './rule.js';
import { createScan, type Scan } from './scan.js';
import { findServiceAccount, secretlintRules } from './secretlint-rules.js';

/** Most texts of `ignore`, and characters of each. */
const MAX_IGNORED = 1_000;
const MAX_IGNORED_LENGTH = 4_096;
/** Score of a token whose checksum is right. */
const CHECKED_SCORE = 0.98;
/** Bytes of a scan with rules of its own. */
const SCAN_BYTES = 200_000;

const ruleId = field<string>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    if (SECRET_RULE_IDS.includes(value)) return value;
    const message = `must be one of: ${SECRET_RULE_IDS.join(', ')}${didYouMean(value, SECRET_RULE_IDS)}`;
    return refuseTyped(sink, 'literal_error', message, value);
  },
  { type: 'string', enum: [...SECRET_RULE_IDS] },
);

const configSchema = z.object({
  rules: nullable(list(ruleId, { min: 1, max: SECRET_RULE_IDS.length })).meta({
    description: 'Rules that are searched by. Default: all.',
  }),
  ignore: nullable(list(text({ min: 1, max: MAX_IGNORED_LENGTH }), { max: MAX_IGNORED })).meta({
    description: 'Texts that are no findings, exactly as they are found.',
  }),
  threshold: threshold(0.5),
});

type SecretsConfig = z.infer<typeof configSchema>;

const ALL_RULES = [...secretlintRules, ...providerRules, ...genericRules];

let scanOfAll: Scan | undefined;

/** Kinds that other findings at the same place replace: they say less about what it is. */
const GENERIC_KINDS = new Set(['password_assignment', 'secret_assignment', 'authorization_header']);

/** Kinds whose content is read by their rules, and long enough to contain any word by chance. */
const CHECKED_KINDS = new Set(['private_key', 'gcp_service_account', 'onepassword_token', 'jwt']);

/** Finds credentials by the formats of their providers, through the rules of secretlint and some more. */
export const secretsEvaluator: Evaluator = createDetector<SecretsConfig>({
  name: 'secrets',
  version: '1.0.0',
  description: 'Searches all texts of the selected data for keys, tokens, passwords and private keys.',
  configSchema,
  compile: compileSecrets,
});

function compileSecrets({ rules, ignore = [], threshold: least }: SecretsConfig): CompiledDetector {
  const chosen = new Set(rules ?? SECRET_RULE_IDS);
  const isAll = chosen.size === SECRET_RULE_IDS.length;
  if (isAll) scanOfAll ??= createScan(ALL_RULES);
  const scan = (isAll ? scanOfAll : undefined) ?? createScan(ALL_RULES.filter(({ id }) => chosen.has(id)));
  const ignored = new Set(ignore);
  const ignoredBytes = ignore.reduce((sum, one) => sum + 2 * one.length + 64, 0);
  return {
    threshold: least,
    decodes: true,
    sizeBytes: (isAll ? 1_000 : SCAN_BYTES) + ignoredBytes,
    detect(given, found, spend) {
      const findings: TextFinding[] = [];
      const add = (raw: RawFinding): void => {
        const secret = given.slice(raw.start, raw.end);
        if (!ignored.has(secret)) findings.push(scored(raw, secret));
      };
      scan(given, add, spend);
      if (chosen.has('gcp')) findServiceAccount(given, add);
      for (const finding of withoutCovered(findings)) found(finding);
    },
  };
}

function scored({ kind, start, end, score }: RawFinding, secret: string): TextFinding {
  if (score !== undefined) return { kind, start, end, score };
  const base = hasChecksum(secret) ? CHECKED_SCORE : scoreOfKind(kind);
  const share = !CHECKED_KINDS.has(kind) && looksLikePlaceholder(secret) ? PLACEHOLDER_SHARE : 1;
  return { kind, start, end, score: Math.round(base * share * 100) / 100 };
}

/** The findings without overlaps: of two that overlap the one with the higher score remains, of generic ones the other. */
function withoutCovered(findings: readonly TextFinding[]): TextFinding[] {
  const order = [...findings].sort((left, right) => left.start - right.start || right.end - left.end);
  const kept: TextFinding[] = [];
  for (const one of order) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (rank(one) > rank(last)) kept[kept.length - 1] = one;
  }
  return kept;
}

/** Which of two overlapping findings remains. */
function rank({ kind, score }: TextFinding): number {
  return GENERIC_KINDS.has(kind) ? score - 1 : score;
}

/** Finds all kinds of secrets from this score on. */
export function secretsDetector(threshold: number): CompiledDetector {
  return compileSecrets(configSchema.parse({ threshold }));
}
