import { z } from 'zod';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import {
  anyJson,
  field,
  freeObject,
  jsonSchemaOf,
  list,
  oneOf,
  readWith,
  refuse,
  report,
  text,
  withDefault,
} from '../../contract/input/fields.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { STAGES, type Stage } from '../../kernel/core/types.js';
import { installedEvaluators } from '../../kernel/evaluators/missing-evaluators.js';
import { type ControlDefinition, leavesOf } from '../controls/definition/definition.js';
import { createDefinitionSchema } from '../controls/definition-schema.js';
import type { PackHead } from './pack.js';

/** Kinds of documents in the files of a pack. */
export const KINDS = ['Pack', 'Control', 'Cases'] as const;

/** A control of a file, without its cases. */
export interface ControlDocument {
  readonly name: string;
  readonly title: string;
  readonly reason: string;
  readonly references: readonly string[];
  readonly data: ControlDefinition;
}

/** What the steps of cases have unless they say otherwise. */
export interface CaseDefaults {
  readonly type: string;
  readonly name: string;
  readonly stage: Stage;
  /** Where the text of a case goes: `input`, `output` or `context`, and names of members below, with dots. */
  readonly member: string;
}

/** A case as it is written: the text of the member, or parts of a step. */
export interface WrittenCase {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly step_name?: string | undefined;
  readonly stage?: Stage | undefined;
  readonly text?: string | undefined;
  readonly input?: JsonValue | undefined;
  readonly output?: JsonValue | undefined;
  readonly context?: JsonObject | undefined;
}

/** Cases of a control. */
export interface CasesDocument {
  readonly control: string;
  readonly defaults: CaseDefaults;
  readonly matching: readonly WrittenCase[];
  readonly other: readonly WrittenCase[];
}

/** Most cases of either kind in one document. */
const MAX_CASES = 1_000;
const KEY = /^[a-z0-9][a-z0-9-]*$/;
/** As https://semver.org/#spec-item-2 has it. */
const SEMVER =
  /^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const MEMBER = /^(?:input|output|context)(?:\.[A-Za-z0-9_-]+)*$/;

/** The name of a pack, or the key of a control in it. */
export const packKey = () => text({ min: 1, max: 64, pattern: KEY });
const sentence = (max: number) => text({ trim: true, min: 1, max });
const DEFAULTS: CaseDefaults = { type: 'tool', name: 'tool', stage: 'pre', member: 'input.text' };

/** Reads a document of the kind Pack. */
export const packSchema: z.ZodType<PackHead> = z
  .strictObject({
    kind: oneOf(['Pack']),
    name: packKey().meta({ description: 'Unique name: that of its folder.' }),
    version: text({ max: 64, pattern: SEMVER }).meta({ description: 'By Semantic Versioning 2.0.0.' }),
    title: sentence(120),
    description: sentence(1_000),
    tags: withDefault(list(sentence(64), { max: 50 }), []),
  })
  .transform(({ kind: _, ...head }) => head);

/** Reads a document of the kind Control, with the evaluators of the service. `shown` is the JSON Schema of its data. */
export function controlDocumentSchema(
  registry: EvaluatorRegistry,
  shown: JsonObject = {},
): z.ZodType<ControlDocument> {
  return z
    .strictObject({
      kind: oneOf(['Control']),
      name: packKey().meta({ description: 'Unique key in the pack.' }),
      title: sentence(120),
      reason: sentence(4_000).meta({ description: 'What it protects from, and what not.' }),
      references: withDefault(list(sentence(200), { max: 50 }), []),
      data: observing(createDefinitionSchema(installedEvaluators(registry)), shown),
    })
    .transform(({ kind: _, ...control }) => control);
}

/** A definition of a control that only observes: a user decides about more after looking at what it finds. */
function observing(
  definition: z.ZodType<ControlDefinition>,
  shown: JsonObject,
): z.ZodType<ControlDefinition> {
  return field((value, sink) => {
    const read = readWith(definition, value, sink);
    if (read === undefined) return z.NEVER;
    if (read.action.decision !== 'observe') {
      const rule = 'must be observe: controls of packs begin by observing';
      report(sink, 'value_error', rule, read.action.decision, ['action', 'decision']);
    }
    for (const { leaf } of leavesOf(read.condition, '')) {
      if (!leaf.evaluator.name.includes(':')) continue;
      const rule = `must not name an evaluator of one agent: ${leaf.evaluator.name}`;
      report(sink, 'value_error', rule, leaf.evaluator.name, ['condition']);
    }
    return read;
  }, shown);
}

const caseMembers: z.ZodType<WrittenCase> = z.strictObject({
  name: sentence(200).optional(),
  type: sentence(255).optional(),
  step_name: sentence(1_024).optional(),
  stage: oneOf(STAGES).optional(),
  text: text().optional(),
  input: anyJson().optional(),
  output: anyJson().optional(),
  context: freeObject().optional(),
});

const writtenCase: z.ZodType<WrittenCase> = field(
  (value, sink) => {
    if (typeof value === 'string') return { text: value };
    if (isObject(value)) return readWith(caseMembers, value, sink) ?? z.NEVER;
    return refuse(sink, 'value_error', 'must be a text or an object; a number or a word needs quotes', value);
  },
  { anyOf: [{ type: 'string' }, jsonSchemaOf(caseMembers)] },
);

/** Reads a document of the kind Cases. */
export const casesSchema: z.ZodType<CasesDocument> = z
  .strictObject({
    kind: oneOf(['Cases']),
    control: packKey().meta({ description: 'Key of the control.' }),
    defaults: z
      .strictObject({
        type: withDefault(sentence(255), DEFAULTS.type),
        name: withDefault(sentence(1_024), DEFAULTS.name),
        stage: withDefault(oneOf(STAGES), DEFAULTS.stage),
        member: withDefault(text({ max: 200, pattern: MEMBER }), DEFAULTS.member),
      })
      .optional(),
    matching: list(writtenCase, { max: MAX_CASES }),
    other: list(writtenCase, { max: MAX_CASES }),
  })
  .transform(({ kind: _, defaults = DEFAULTS, ...cases }) => ({ ...cases, defaults }));
