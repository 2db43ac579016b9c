import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { LIMITS } from '../../gen/limits/limits.js';
import { FieldBehavior, field_behavior } from '../../gen/proto/google/api/field_behavior_pb.js';
import type { Feature } from '../../src/app/wiring/feature.js';
import { jsonSchemaOf } from '../../src/contract/input/fields.js';
import { optionOf } from '../../src/contract/warnings/proto-option.js';
import { evaluateBatchSchema, evaluateRequestSchema } from '../../src/decide/decisions/evaluate-request.js';
import { SERVICES } from '../support/protocol-clients.js';
import { testService } from '../support/service-suite.js';

const { IMPLICIT } = FeatureSet_FieldPresence;
const { REQUIRED } = FieldBehavior;

/** Every feature that the service is wired of, with the handlers of its RPCs. */
const wired = vi.hoisted(() => [] as Feature[]);

vi.mock('../../src/app/wiring/feature.js', async (original) => {
  const real = await original<typeof import('../../src/app/wiring/feature.js')>();
  const feature: typeof real.feature = (...given) => {
    const made = real.feature(...given);
    wired.push(made);
    return made;
  };
  return { ...real, feature };
});

/** Evaluations have no handlers. Messages of the stream are read without a schema. */
const EVALUATIONS: Readonly<Record<string, z.ZodType | null>> = {
  evaluate: evaluateRequestSchema,
  evaluateBatch: evaluateBatchSchema,
  evaluateStream: null,
};

/** What has limits in its schema that the proto does not state, or not so. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  Scope: 'part of a definition',
  'InspectExpressionRequest.selector_path': 'part of a definition',
  ConfigurationDocument: 'a definition, whose members depend on its kind',
  'ListAgentControlsRequest.page_token': 'a text in the proto, read as an integer',
  'EvaluateRequest.traceparent': 'its pattern is none of RE2',
  AccessEntity: 'has other limits in AuthZEN than in access requests',
  AccessAction: 'has other limits in AuthZEN than in access requests',
};

type Shown = Readonly<Record<string, unknown>>;
interface Limits {
  readonly [limit: string]: unknown;
}

const NAMES = {
  min: ['minLength', 'minItems', 'minimum'],
  max: ['maxLength', 'maxItems', 'maximum'],
  above: ['exclusiveMinimum'],
  pattern: ['pattern'],
} as const;
const ORDER = [...Object.keys(NAMES), 'items'];

/** The ends of a type, and of integers that JSON can represent, are no limits. */
const ENDS: Partial<Record<ScalarType, number>> = {
  [ScalarType.INT32]: 2 ** 31 - 1,
  [ScalarType.INT64]: Number.MAX_SAFE_INTEGER,
};

/** A schema without the alternative null, and without other forms that deployed clients may send. */
function only(schema: Shown): Shown {
  const forms = (schema.anyOf as Shown[] | undefined)?.filter(({ type }) => type !== 'null');
  return forms === undefined ? schema : only(forms[0] as Shown);
}

function shownLimits(schema: Shown, field: DescField): Limits {
  const shown = only(schema);
  const limits: Record<string, unknown> = {};
  for (const [limit, names] of Object.entries(NAMES)) {
    const value = names.map((name) => shown[name]).find((one) => one !== undefined);
    if (value !== undefined) limits[limit] = value;
  }
  const end = ENDS[field.scalar ?? ScalarType.STRING] ?? Number.POSITIVE_INFINITY;
  if ((limits.max as number) >= end) delete limits.max;
  if ((limits.min as number) <= -end || (limits.min === 0 && field.fieldKind === 'list')) delete limits.min;
  if (shown.items === undefined) return limits;
  const item = only(shown.items as Shown);
  // As many words as there are.
  if ((item.enum as unknown[] | undefined)?.length === limits.max) delete limits.max;
  const items = field.message === undefined ? shownLimits(item, field) : {};
  return Object.keys(items).length === 0 ? limits : { ...limits, items };
}

/** The limits of a field in the proto, as a schema shows them. */
function ruledLimits(message: DescMessage, field: DescField): Limits {
  const ofMessage: Readonly<Record<string, Limits>> = LIMITS[message.name as keyof typeof LIMITS] ?? {};
  const show = ({ items, pattern, ...others }: Limits): Limits => ({
    ...others,
    ...(pattern === undefined ? {} : { pattern: (pattern as RegExp).source }),
    ...(items === undefined ? {} : { items: show(items as Limits) }),
  });
  return show(ofMessage[field.name] ?? {});
}

it('every request has the limits of the proto in its schema, and no others', async () => {
  await testService();
  const differences: string[] = [];
  const read = new Set<string>();
  const compare = (message: DescMessage, schema: Shown) => {
    for (const [name, shown] of Object.entries((schema.properties ?? {}) as Record<string, Shown>)) {
      const field = message.fields.find((one) => one.name === name);
      const place = `${message.name}.${name}`;
      if (field === undefined) throw new Error(`there is no ${place}`);
      read.add(place);
      if (place in EXCEPTIONS) continue;
      const own = only(shown);
      const inner = field.fieldKind === 'list' ? only((own.items ?? {}) as Shown) : own;
      if (field.message !== undefined && !(field.message.name in EXCEPTIONS)) compare(field.message, inner);
      // Of times and durations a schema shows the form alone.
      if (field.fieldKind === 'message') continue;
      const ruled = ruledLimits(message, field);
      const [inSchema, inProto] = [shownLimits(shown, field), ruled].map((one) => JSON.stringify(one, ORDER));
      if (inSchema !== inProto) differences.push(`${place}: schema ${inSchema}, proto ${inProto}`);
      // Libraries that check messages by the rules would refuse the value of an absent member.
      const mayBeAbsent = field.presence === IMPLICIT && !optionOf(field, field_behavior).includes(REQUIRED);
      const demandsValue = Number(ruled.min ?? 0) > 0 || ruled.above !== undefined;
      if (field.fieldKind === 'scalar' && mayBeAbsent && demandsValue)
        differences.push(`${place} is not optional`);
    }
  };
  const handlers = new Map(
    wired.flatMap(({ methods }) => methods.map(({ method, handler }) => [method.desc, handler] as const)),
  );
  for (const desc of SERVICES.flatMap(({ methods }) => methods)) {
    const handler = handlers.get(desc);
    const known = EVALUATIONS[desc.localName];
    const input = handler === undefined ? known : 'item' in handler ? handler.item : handler.input;
    if (input === undefined) throw new Error(`${desc.name} has no input`);
    if (input !== null) compare(desc.input, jsonSchemaOf(input) as Shown);
  }
  const ruled = Object.entries(LIMITS).flatMap(([message, fields]) =>
    Object.keys(fields).map((name) => `${message}.${name}`),
  );
  expect({ differences, unread: ruled.filter((place) => !read.has(place)) }).toEqual({
    differences: [],
    unread: [],
  });
});
