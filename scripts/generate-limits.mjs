/**
 * Writes the rules of buf.validate in our proto files to `gen/limits/limits.ts`, in the form that the input schemas read:
 * the limits of requests stand in the proto alone. The generated messages are without these rules (`buf.gen.yaml`), so
 * that no client depends on them. Fails if a comment says "A to B" with other numbers than the rule of its field.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getOption, hasOption } from '@bufbuild/protobuf';
import { PACKAGE_ROOT } from './compose-schema.mjs';
import { readProto } from './proto-source.mjs';

const PACKAGE = 'enforcement.v1.';
const DAY_S = 86_400;
const HEAD = `// Made by scripts/generate-limits.mjs of the rules in the proto files: run "npm run generate:code".

/** The limits of fields, by message. Lengths count UTF-16 code units, durations milliseconds; \`above\` is exclusive. */
export const LIMITS = {
`;

/** Durations in milliseconds, other numbers as they are. */
const numberOf = (value) => (value?.seconds === undefined ? value : Number(value.seconds) * 1_000);

/** @type {Record<string, (rules: any) => Record<string, unknown>>} */
const READERS = {
  string: ({ minLen, maxLen, pattern }) => ({
    min: minLen || undefined,
    max: maxLen || undefined,
    pattern: pattern === '' ? undefined : new RegExp(pattern),
  }),
  repeated: ({ minItems, maxItems, items }) => ({
    min: minItems || undefined,
    max: maxItems || undefined,
    items: items && limitsOf(items),
  }),
  timestamp: ({ within }) => ({ maxDays: within && Number(within.seconds) / DAY_S }),
};

const readNumber = ({ greaterThan, lessThan }) => ({
  [greaterThan?.case === 'gt' ? 'above' : 'min']: numberOf(greaterThan?.value),
  max: numberOf(lessThan?.value),
});

function limitsOf({ type: { case: kind, value } }) {
  const members = Object.entries((READERS[kind] ?? readNumber)(value));
  return Object.fromEntries(members.filter(([, one]) => one !== undefined));
}

/** As TypeScript: JSON has no patterns. */
function written(value) {
  if (typeof value !== 'object' || value instanceof RegExp) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${written(one)}`)
    .join(', ')} }`;
}

/**
 * Demands that a comment such as "1 to 1,000 characters" has the numbers of the rule. It may demand more than the least of
 * the rule of some requests. A rule without an end has that of its type, and durations are in seconds.
 */
function demandSame(name, limits) {
  const [, ...found] = /\b(\d[\d,]*) to (\d[\d,]*)\b(?!\^)/.exec(comments[name] ?? '') ?? [];
  const [least, most] = found.map((one) => Number(one.replaceAll(',', '')));
  const isSaid = ({ min = 0, max = most }) =>
    Number(min) <= least && [most, most * 1_000].includes(Number(max));
  if (most === undefined || isSaid(limits) || (limits.items !== undefined && isSaid(limits.items))) return;
  throw new Error(`the comment of ${name} says ${least} to ${most}, but its rule ${written(limits)}`);
}

const { registry, comments } = readProto();
const rule = registry.getExtension('buf.validate.field');
const messages = [...registry].filter(
  ({ kind, typeName }) => kind === 'message' && typeName.startsWith(PACKAGE),
);
const parts = messages.flatMap(({ typeName, fields }) => {
  const limited = fields.filter((field) => hasOption(field, rule));
  if (limited.length === 0) return [];
  const lines = limited.map((field) => {
    const limits = limitsOf(getOption(field, rule));
    demandSame(`${typeName}.${field.name}`, limits);
    return `    ${field.name}: ${written(limits)},\n`;
  });
  return `  ${typeName.slice(PACKAGE.length)}: {\n${lines.join('')}  },\n`;
});

const file = join(PACKAGE_ROOT, 'gen', 'limits', 'limits.ts');
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, `${HEAD}${parts.join('')}} as const;\n`);
