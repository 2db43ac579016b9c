import { z } from 'zod';
import {
  anyJson,
  field,
  freeObject,
  jsonSchemaOf,
  list,
  oneOf,
  readWith,
  refuse,
  text,
} from '../../../../src/contract/input/fields.js';
import { agentName, slugName } from '../../../../src/contract/input/names.js';
import { integer } from '../../../../src/contract/input/numbers.js';
import { OUTCOME_WORDS } from '../../../../src/decide/decisions/evaluation-options.js';
import { DECISIONS, STAGES } from '../../../../src/kernel/core/types.js';
import { duration, LONGEST_US } from '../../../../src/kernel/evaluators/memory/duration.js';
import { isObject, type JsonObject, type JsonValue } from '../../../exact-json/src/index.js';

/** Most cases of a suite, those of its matrices included. */
export const MAX_CASES = 10_000;
const MAX_HISTORY = 1_000;
const MAX_NAMES = 1_000;
const MAX_ID = 255;
/** A text that stands for a value of the matrix of its case, such as <amount>, or for a part of one: <row.amount>. */
const PARAMETER = /^<([A-Za-z_][A-Za-z0-9_-]*)((?:\.[A-Za-z0-9_-]+)*)>$/;

/** The name and the path of a parameter; null for any other value. */
export function parameterOf(value: JsonValue): { readonly name: string; readonly path: string[] } | null {
  const [, name, rest = ''] = typeof value === 'string' ? (PARAMETER.exec(value) ?? []) : [];
  return name === undefined ? null : { name, path: rest.split('.').slice(1) };
}

/** The same value; editors also accept a parameter. */
const value = <T>(schema: z.ZodType<T>): z.ZodType<T> =>
  field((given, sink) => readWith(schema, given, sink) ?? z.NEVER, {
    anyOf: [jsonSchemaOf(schema), { type: 'string', pattern: PARAMETER.source }],
  });

const either = <A, B>(isFirst: (given: JsonValue) => boolean, first: z.ZodType<A>, second: z.ZodType<B>) =>
  field<A | B>((given, sink) => readWith<A | B>(isFirst(given) ? first : second, given, sink) ?? z.NEVER, {
    anyOf: [jsonSchemaOf(first), jsonSchemaOf(second)],
  });
const isText = (given: JsonValue): boolean => typeof given === 'string';
const name = () => text({ min: 1, max: MAX_ID });
const names = () => list(value(slugName()), { max: MAX_NAMES });

const TIME_RULE = 'must be a time with a zone, such as 2026-12-31T12:00:00Z';
const time = () => z.iso.datetime({ offset: true, error: TIME_RULE }).transform((given) => Date.parse(given));
const ago = () => duration(LONGEST_US).transform((us) => us / 1_000);

const stepMembers = z.strictObject({
  from: name()
    .meta({ description: 'Name of a step of the fixtures, which the other members change.' })
    .optional(),
  type: value(name()).optional(),
  name: value(text({ min: 1, max: 1_024 })).optional(),
  input: anyJson().optional(),
  output: anyJson().optional(),
  context: value(freeObject()).optional(),
});
/** A name of the fixtures, or a step. */
const step = () => either(isText, name(), stepMembers);

const agentMembers = z.strictObject({ name: value(agentName()), metadata: freeObject().optional() });
const agent = () => either(isText, agentName(), agentMembers);

const targetMembers = z.strictObject({
  type: name(),
  id: name(),
  controls: names()
    .meta({ description: 'Controls that are bound to it, if the judge is offline.' })
    .optional(),
});
const target = () => either(isText, name(), targetMembers);
const approval = () => oneOf(['approved', 'denied']);

const earlierMembers = z
  .strictObject({
    step: step(),
    stage: value(oneOf(STAGES))
      .meta({ description: 'Without it, the step is taken: pre, and post if it may run.' })
      .optional(),
    at: time().optional(),
    ago: value(ago()).meta({ description: 'How long before the time of the case, such as "5m".' }).optional(),
    repeat: value(integer({ min: 1, max: MAX_HISTORY })).optional(),
    session: value(name()).optional(),
    step_id: value(name()).optional(),
    error: value(text({ max: 4_096 })).optional(),
    approval: value(approval()).optional(),
  })
  .refine(({ at, ago }) => at === undefined || ago === undefined, {
    error: 'must not have both at and ago',
    path: ['ago'],
  });
const history = () => either(isText, name(), list(earlierMembers, { max: MAX_HISTORY }));

const containing = z.strictObject({ contains: names() });
const containedText = z.strictObject({ contains: text({ min: 1 }) });
const expectation = z
  .strictObject({
    outcome: value(oneOf(OUTCOME_WORDS)).optional(),
    decision: value(oneOf([...DECISIONS, 'none']))
      .meta({ description: 'The strongest decision of the controls that match.' })
      .optional(),
    controls: value(either(Array.isArray, names(), containing))
      .meta({ description: 'The names of the controls that match: all of them, or some with contains.' })
      .optional(),
    steering: value(either(isText, text({ min: 1 }), containedText))
      .meta({ description: 'The steering message of a control that matches, or a part of it.' })
      .optional(),
    reason_contains: value(either(isText, text({ min: 1 }), list(text({ min: 1 }), { max: 20 }))).optional(),
    errors: names()
      .meta({ description: 'The names of the controls that cannot be evaluated. Without it, none may fail.' })
      .optional(),
    modified: value(
      z.strictObject({
        input: anyJson().optional(),
        output: anyJson().optional(),
        context: anyJson().optional(),
      }),
    )
      .meta({ description: 'Parts of the step that may run instead.' })
      .optional(),
  })
  .refine((given) => Object.keys(given).length > 0, {
    error: 'must expect something, such as outcome: deny',
  });

/** A case without its matrix. */
export const caseSchema = z.strictObject({
  name: text({ min: 1, max: 500 }),
  skip: text({ min: 1, max: 500 }).meta({ description: 'Why the case is not run.' }).optional(),
  agent: value(agent()).optional(),
  stage: value(oneOf(STAGES)).optional(),
  step: value(step()),
  session: value(name()).optional(),
  step_id: value(name()).optional(),
  error: value(text({ max: 4_096 })).optional(),
  history: value(history()).optional(),
  target: value(target()).optional(),
  accepts: value(list(oneOf(OUTCOME_WORDS), { max: OUTCOME_WORDS.length })).optional(),
  approval: value(approval())
    .meta({ description: 'What becomes of the approval that the step asks for; without it, it waits.' })
    .optional(),
  now: value(time()).optional(),
  expect: expectation,
});

/** Lists of values by name; a case has a case for each combination. */
export const matrixSchema = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, { error: 'must be a name of letters, digits, "_" and "-"' }),
  list(anyJson(), { min: 1, max: MAX_CASES }),
);

const shownCase = (): JsonObject => {
  const { properties, ...others } = jsonSchemaOf(caseSchema);
  const members = isObject(properties) ? properties : {};
  return { ...others, properties: { ...members, matrix: jsonSchemaOf(matrixSchema) } };
};

/** A suite whose cases are not read yet: their matrices come first. */
export const suiteSchema = z.strictObject({
  kind: oneOf(['Suite']),
  name: text({ min: 1, max: 200 }).optional(),
  controls: list(either(isText, text({ min: 1, max: 1_024 }), freeObject()), { min: 1, max: 10_000 })
    .meta({ description: 'Files and folders with controls, from the folder of the suite, or documents.' })
    .optional(),
  agent: agent()
    .meta({ description: 'Whose steps they are. Without it, all controls of the suite concern them.' })
    .optional(),
  now: time()
    .meta({ description: 'The time of the cases. Without it, it is the time when they are run.' })
    .optional(),
  fixtures: z
    .strictObject({
      steps: z.record(z.string(), stepMembers).optional(),
      histories: z.record(z.string(), list(earlierMembers, { max: MAX_HISTORY })).optional(),
      targets: z.record(z.string(), targetMembers).optional(),
    })
    .optional(),
  cases: list(
    field<JsonObject>(
      (given, sink) =>
        isObject(given) ? given : refuse(sink, 'model_attributes_type', 'must be an object', given),
      shownCase(),
    ),
    { min: 1, max: MAX_CASES },
  ),
});

export type SuiteDocument = z.output<typeof suiteSchema>;
export type CaseDocument = z.output<typeof caseSchema>;
export type StepMembers = z.output<typeof stepMembers>;
export type EarlierMembers = z.output<typeof earlierMembers>;
export type Expectation = z.output<typeof expectation>;

/** All names of members, for suggestions. */
export const MEMBER_NAMES: readonly string[] = [
  ...[suiteSchema, caseSchema, stepMembers, agentMembers, targetMembers].flatMap(({ shape }) =>
    Object.keys(shape),
  ),
  ...['steps', 'histories', 'targets', 'matrix', 'at', 'ago', 'repeat', 'contains'],
  ...['outcome', 'decision', 'steering', 'reason_contains', 'errors', 'modified'],
];

/** JSON Schema (2020-12) of a suite, for editors. */
export function suiteJsonSchema(): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tests of controls',
    ...jsonSchemaOf(suiteSchema),
  };
}
