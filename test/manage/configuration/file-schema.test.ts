import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { readDocuments } from '../../../packages/documents/src/index.js';
import { isObject, type JsonObject, type JsonValue } from '../../../packages/exact-json/src/index.js';
import { documentsJsonSchema } from '../../../scripts/openapi/documents-schema.js';
import { inPackage } from '../../../src/contract/runtime/package-root.js';
import { KINDS } from '../../../src/manage/configuration/configuration-object.js';
import { largeSet } from './documents.support.js';

const validate = new Ajv2020({ strict: false }).compile(documentsJsonSchema());
const valuesOf = (text: string): JsonValue[] => readDocuments(text).documents.map(({ value }) => value);

function demandValid(documents: readonly unknown[]): void {
  for (const document of documents) {
    expect({ document, valid: validate(document), errors: validate.errors }).toMatchObject({
      valid: true,
      errors: null,
    });
  }
}

it('docs/configuration.schema.json is the schema of documents; vitest run test/manage/configuration --update writes it', async () => {
  await expect(`${JSON.stringify(documentsJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(
    inPackage('docs/configuration.schema.json'),
  );
});

it('the schema accepts documents of every kind, and the examples of docs/controls-as-code.md', () => {
  const set = largeSet(60);
  const pack = {
    kind: 'Pack',
    name: 'secrets',
    policy: 'p',
    version: '1.0.0',
    installed: { a: 'secrets-a' },
  };
  expect(new Set([...set, pack].map(({ kind }) => kind))).toEqual(new Set(KINDS));
  demandValid([...set, pack]);
  const guide = readFileSync(inPackage('docs/controls-as-code.md'), 'utf8');
  const values = [...guide.matchAll(/```yaml\n(.*?)```/gs)].flatMap(([, text = '']) => valuesOf(text));
  const examples = values.flatMap((value) => {
    if (!isObject(value)) return [];
    return value.kind === 'Suite' ? (value.controls as JsonValue[]) : [value];
  });
  const documents = examples.filter((one) => isObject(one) && KINDS.some((kind) => kind === one.kind));
  expect(documents.length).toBeGreaterThan(1);
  demandValid(documents);
});

it('the schema accepts the controls of the packs as documents', () => {
  const packs = inPackage('packs');
  const files = readdirSync(packs, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?:^|\/)controls\/[^/]+\.yaml$/.test(name),
  );
  const controls = files.flatMap((name) => valuesOf(readFileSync(path.join(packs, name), 'utf8')));
  expect(controls.length).toBeGreaterThan(20);
  demandValid(controls.map((one) => ({ kind: 'Control', name: 'a', data: (one as JsonObject).data })));
});

const DATA =
  '{ execution: server, condition: { selector: { path: "*" }, evaluator: { name: secrets, config: {} } }, action: { decision: deny } }';

it.each([
  ['an unknown kind', 'kind: Contol\nname: a\n'],
  ['an unknown member', 'kind: Policy\nname: a\ncontrol: [b]\n'],
  ['a member of another kind', `kind: Control\nname: a\ncontrols: [b]\ndata: ${DATA}\n`],
  ['a control without a definition', 'kind: Limit\nname: a\n'],
  [
    'an unknown member of a definition',
    `kind: Control\nname: a\ndata: ${DATA.replace('execution', 'scop: {}, execution')}\n`,
  ],
  [
    'an unknown member of a selector',
    `kind: Control\nname: a\ndata: ${DATA.replace('path:', 'pth: a, path:')}\n`,
  ],
  ['a wrong type', 'kind: Policy\nname: a\ncontrols: b\n'],
  ['a document without a name', 'kind: Policy\ncontrols: [b]\n'],
])('the schema refuses %s', (_, text) => {
  expect(valuesOf(text).map((document) => validate(document))).toEqual([false]);
});
