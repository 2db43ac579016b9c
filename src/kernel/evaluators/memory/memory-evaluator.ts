import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  canonicalJson,
  isObject,
  type JsonObject,
  type JsonValue,
} from '../../../../packages/exact-json/src/index.js';
import { nullable, oneOf, withDefault } from '../../../contract/input/fields.js';
import type {
  CompiledEvaluator,
  ConfigUse,
  ConfigWarning,
  DemandedTexts,
  Evaluator,
} from '../../core/evaluator.js';
import type { MemoryRule } from '../../core/memory.js';
import type { EvaluatorResult } from '../../core/types.js';
import { idleKeyParts, type KeyConfig, keyParts, NORMALIZATIONS } from './memory-key.js';

/** What the evaluators with memory need of the settings. */
export interface MemoryEvaluatorsOptions {
  /** Longest window, in milliseconds. */
  readonly maxWindowMs: number;
}

/** The members that all of them have. `defaultKey`: the key without one; null if it must be given. */
export function commonMembers(defaultKey: readonly string[] | null) {
  const key = keyParts();
  return {
    key: defaultKey === null ? key : withDefault(key, [...defaultKey]).meta({ default: [...defaultKey] }),
    normalize: nullable(oneOf(NORMALIZATIONS)).meta({
      description:
        'How session ids and texts at paths of the key are compared: with "nfkc" in the Unicode form NFKC without characters that are not ' +
        'seen, with "nfkc_case_fold" also without differences of case. Default: exactly.',
    }),
    on_missing: withDefault(oneOf(['deny', 'skip']), 'deny').meta({
      description:
        'What becomes of a step that lacks a part of the key, such as its session: with "deny" (default) the check is an ' +
        'error, which fails closed; with "skip" it does not match.',
    }),
    on_store_error: withDefault(oneOf(['deny', 'allow', 'local']), 'deny').meta({
      description:
        'While the store of memory does not answer: "deny" (default) makes the check an error, which fails closed, with ' +
        '"allow" it does not match, and with "local" each process decides by what it has seen itself.',
    }),
  };
}

/** A configuration with these members. */
export interface CommonConfig extends KeyConfig {
  readonly on_missing: 'deny' | 'skip';
  readonly on_store_error: 'deny' | 'allow' | 'local';
}

/** The members of a rule that follow from them. */
export function commonRule(config: CommonConfig): Pick<MemoryRule, 'onMissing' | 'onStoreError'> {
  return { onMissing: config.on_missing, onStoreError: config.on_store_error };
}

/** Characters of a fingerprint: 132 bits. */
const FINGERPRINT_LENGTH = 22;

/** See `MemoryRule.fingerprint`. */
export function fingerprintOf(...of: readonly JsonValue[]): string {
  const digest = createHash('sha256')
    .update(canonicalJson([...of]))
    .digest('base64url');
  return digest.slice(0, FINGERPRINT_LENGTH);
}

export interface MemoryEvaluatorOptions<Config> {
  readonly name: MemoryRule['kind'];
  readonly version: string;
  readonly description: string;
  /** With the members of `commonMembers`. Its issues have the codes of `contract/input`. */
  readonly configSchema: z.ZodType<Config>;
  ruleOf(config: Config): MemoryRule;
  /** Warnings besides those about the common members. Called with a configuration accepted by `configSchema`. */
  warningsFor?(config: JsonObject, use: ConfigUse): Iterable<ConfigWarning>;
  /** Whether a configuration accepted by `configSchema` matches before a step runs only. */
  matchesBeforeOnly?(config: JsonObject): boolean;
  /** Whether no step matches a configuration accepted by `configSchema`. */
  isNever?(config: JsonObject): boolean;
}

const WITHOUT_MEMORY: EvaluatorResult = {
  matched: false,
  confidence: 0,
  message: null,
  metadata: null,
  error: 'the check depends on earlier steps, and there is no memory of them here',
};

const BEFORE: readonly DemandedTexts[] = [{ member: 'stage', texts: ['pre'], ignoresCase: false }];

/** Estimated memory of a compiled configuration, in bytes, and for each character of it. */
const OWN_BYTES = 4_000;
const BYTES_PER_CHARACTER = 8;

/** An evaluator whose checks depend on earlier steps. */
export function createMemoryEvaluator<Config>(options: MemoryEvaluatorOptions<Config>): Evaluator {
  const { name, version, description, configSchema } = options;
  return {
    name,
    version,
    description,
    requiresApiKey: false,
    timeoutMs: 10_000,
    remembers: true,
    configSchema,
    configJsonSchema: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
    *warningsFor(config, use) {
      const { selectorPath } = use;
      if (selectorPath !== '*') {
        const message = `the selector has no effect: ${name} reads the whole step, so write the path *`;
        yield { code: 'no_effect', path: [], message };
      }
      const { key } = config;
      if (Array.isArray(key) && key.every((part) => typeof part === 'string')) {
        for (const { index, message } of idleKeyParts(key)) {
          yield { code: 'no_effect', path: ['key', index], message };
        }
        if (config.normalize != null && key.every((part) => part === 'agent' || part === 'namespace')) {
          const message = 'has no effect: the key has neither a session nor a path, whose texts it is about';
          yield { code: 'no_effect', path: ['normalize'], message };
        }
      }
      yield* options.warningsFor?.(config, use) ?? [];
    },
    demands: (config) => (options.matchesBeforeOnly?.(config) === true ? BEFORE : []),
    foregone: (config) => (options.isNever?.(config) === true ? { data: false, absent: false } : null),
    compile(config): CompiledEvaluator {
      const memory = options.ruleOf(configSchema.parse(config));
      const sizeBytes = OWN_BYTES + BYTES_PER_CHARACTER * canonicalJson(config).length;
      return { memory, sizeBytes, evaluate: () => WITHOUT_MEMORY };
    },
  };
}

/** A member of a configuration as an object; empty for anything else. */
export function objectMember(config: JsonObject, name: string): JsonObject {
  const value = config[name];
  return isObject(value) ? value : {};
}
